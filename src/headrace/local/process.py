"""A server as a process of its own: started apart from the terminal, known again, stopped."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from headrace.local.owner import Owner

# Children of this very process must be reaped by it; the object is kept for that and for nothing else.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Process:
    """A process that we started: its id, and when that was, since ids are given again."""

    pid: int
    started: str

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        *,
        log: Path,
        folder: Path,
        variables: Mapping[str, str],
        owner: Owner | None = None,
    ) -> "Process":
        """Start a command in a session of its own: Ctrl-C in the terminal does not reach it.

        It runs as ``owner`` if one is given, which only root can do.
        """
        with log.open("ab") as output:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=dict(variables),
                start_new_session=True,
                user=owner.uid if owner else None,
                group=owner.gid if owner else None,
                extra_groups=[] if owner else None,
            )
        _children[child.pid] = child
        return cls(child.pid, _start_of(child.pid) or "")

    @classmethod
    def read(cls, file: Path) -> Self | None:
        """Return the process that a pid file names, if it still runs and is the one that wrote it."""
        try:
            process = cls(**json.loads(file.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return process if process.is_running() else None

    def write(self, file: Path) -> None:
        """Write the pid file."""
        fresh = file.with_name(file.name + ".new")
        fresh.write_text(json.dumps(asdict(self)), "utf-8")
        os.replace(fresh, file)

    def is_running(self) -> bool:
        """Tell whether this very process runs, and not another one that was given its id."""
        if (child := _children.get(self.pid)) is not None and child.poll() is not None:
            return False
        return bool(self.started) and _start_of(self.pid) == self.started

    def stop(self, *, within: float, by: signal.Signals = signal.SIGTERM) -> bool:
        """Ask the process to end, and kill it when it has not in time; return whether it ended by itself."""
        self._signal(by)
        if until(lambda: not self.is_running(), within=within):
            return True
        self._signal(signal.SIGKILL)
        until(lambda: not self.is_running(), within=10)
        return False

    def _signal(self, number: signal.Signals) -> None:
        if self.is_running():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def until(condition: Callable[[], bool], *, within: float, every: float = 0.05) -> bool:
    """Wait until the condition holds; return False when it did not within so many seconds."""
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(every)
    return True


def _start_of(pid: int) -> str | None:
    """Return when a running process was started, None when there is none (a zombie is none)."""
    try:
        # The command's name, in brackets, may hold anything; the fields are counted after it.
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("utf-8").strip()
    except FileNotFoundError:
        return None if Path("/proc/self/stat").exists() else _start_by_ps(pid)
    except ProcessLookupError:
        return None
    if fields[0] in {"Z", "X"} and not _has_threads(pid):
        return None
    return f"{boot} {fields[19]}"


def _has_threads(pid: int) -> bool:
    """Tell whether other threads than the first still run: until they end, files and ports stay open."""
    try:
        return len([*Path(f"/proc/{pid}/task").iterdir()]) > 1
    except OSError:
        return False


def _start_by_ps(pid: int) -> str | None:
    """Return the same on systems without /proc."""
    shown = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split(maxsplit=1)
    return None if len(shown) < 2 or shown[0].startswith("Z") else shown[1].strip()  # noqa: PLR2004
