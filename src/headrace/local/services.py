"""What a server of the local stack is: started, ready, stopped, its address and its log."""

import json
import signal
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from headrace.errors import SetupError
from headrace.local.owner import Owner
from headrace.local.ports import LOOPBACK, choose, is_free
from headrace.local.process import Process, until


@dataclass(frozen=True)
class Status:
    """How a server is: its state is ``running``, ``stopped`` or ``never started``."""

    name: str
    state: str
    address: str | None
    pid: int | None
    folder: Path
    log: Path
    connect: str | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "state": self.state,
            "address": self.address,
            "pid": self.pid,
            "folder": str(self.folder),
            "log": str(self.log),
            "connect": self.connect,
        }


class Service(ABC):
    """One server with a folder of its own, in which its data, its ports, its pid and its log are kept.

    A kind of server gives its jars, its ports, its command and what ready means; the life cycle is here.
    """

    name: ClassVar[str]
    ports: ClassVar[dict[str, int]]
    """Names of its ports and the number that each prefers; ``address`` is the first."""
    by_default: ClassVar[bool] = True
    """Whether it is started when no server is named."""
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    ready_within: ClassVar[float] = 60
    stopped_within: ClassVar[float] = 20

    def __init__(self, folder: Path, *, anywhere: bool = False) -> None:
        self.folder = folder
        self.log = folder / f"{self.name}.log"
        self._pid_file = folder / "process.json"
        self._ports_file = folder / "ports.json"
        self._anywhere = anywhere

    @abstractmethod
    def jars(self) -> tuple[str, ...]:
        """Return the sets of jars that it runs on."""

    @abstractmethod
    def prepare(self, ports: dict[str, int]) -> None:
        """Write the configuration, and what the first start needs."""

    @abstractmethod
    def command(self) -> list[str]:
        """Return the command that serves."""

    @abstractmethod
    def is_ready(self, ports: dict[str, int]) -> bool:
        """Ask the server, as a client would, whether it serves."""

    def variables(self) -> dict[str, str]:
        """Return the environment of the server's process: nothing of the user's that could change it."""
        return {"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}

    def connect(self) -> str | None:
        """Return the command that a person connects by, where that takes more than the address."""
        return None

    @property
    def owner(self) -> Owner | None:
        """Who the server runs as, if not ourselves."""
        return None

    @property
    def address(self) -> str:
        """Where clients connect to, as it was at the last start."""
        return f"{LOOPBACK}:{next(iter(self._known_ports().values()))}"

    def start(self, *, port: int | None = None) -> str:
        """Start the server unless it runs; return its address once it is ready.

        Ports are those of the last start where they are free, else others. With ``port`` it is that one or an
        error.
        """
        running = Process.read(self._pid_file)
        if running is not None and port in {None, self._known_ports().get(next(iter(self.ports)))}:
            self._wait(running, self._known_ports())
            return self.address
        if running is not None:
            raise SetupError(
                f"{self.name} already runs at {self.address}.",
                cure=f"use that address, or stop it by `headrace down {self.name}` first",
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        chosen = self._choose_ports(port)
        self.prepare(chosen)
        self._ports_file.write_text(json.dumps(chosen), "utf-8")
        self.log.write_bytes(b"")
        process = Process.start(
            self.command(),
            log=self.log,
            folder=self.folder,
            variables=self.variables(),
            owner=self.owner,
        )
        process.write(self._pid_file)
        try:
            self._wait(process, chosen)
        except BaseException:
            # Half started is not started; also when Ctrl-C ends the waiting.
            process.stop(within=1, by=self.stop_signal)
            self._pid_file.unlink(missing_ok=True)
            raise
        return self.address

    def stop(self) -> bool:
        """Stop the server, its data stays; return whether it ran."""
        process = Process.read(self._pid_file)
        if process is not None:
            process.stop(within=self.stopped_within, by=self.stop_signal)
        self._pid_file.unlink(missing_ok=True)
        return process is not None

    def status(self) -> Status:
        """Tell how the server is."""
        process = Process.read(self._pid_file)
        known = self._known_ports()
        state = "running" if process else "stopped" if known else "never started"
        if process is None:
            return Status(self.name, state, None, None, self.folder, self.log)
        return Status(self.name, state, self.address, process.pid, self.folder, self.log, self.connect())

    def last_words(self, lines: int = 8) -> str:
        """Return the end of the log, for an error message."""
        try:
            text = self.log.read_text("utf-8", "replace")
        except OSError:
            return ""
        return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])

    def _wait(self, process: Process, ports: dict[str, int]) -> None:
        ready = False

        def settled() -> bool:
            nonlocal ready
            if not process.is_running():
                return True
            ready = self.is_ready(ports)
            return ready

        if until(settled, within=self.ready_within) and ready:
            return
        how = "did not get ready" if process.is_running() else "ended while starting"
        raise SetupError(
            f"{self.name} {how}; its last words were:\n{self.last_words()}",
            cure=f"read {self.log}; `headrace up {self.name}` tries again",
        )

    def _known_ports(self) -> dict[str, int]:
        try:
            known: dict[str, int] = json.loads(self._ports_file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return known

    def _choose_ports(self, fixed: int | None) -> dict[str, int]:
        known = self._known_ports()
        chosen: dict[str, int] = {}
        for position, (name, usual) in enumerate(self.ports.items()):
            if position == 0 and fixed is not None:
                if not is_free(fixed):
                    raise SetupError(
                        f"Port {fixed}, asked for {self.name}, is in use by another program.",
                        cure="choose another port, or none: headrace then finds a free one and remembers it",
                    )
                chosen[name] = fixed
                continue
            preferred = [known.get(name), None if self._anywhere else usual]
            chosen[name] = choose(*preferred, besides=tuple(chosen.values()))
        return chosen
