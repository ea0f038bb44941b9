"""The servers of one machine together: up, down, status, logs."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from headrace.errors import SetupError
from headrace.local import folders, setup
from headrace.local.kafka import Kafka
from headrace.local.postgres import Postgres
from headrace.local.services import Service, Status

KINDS: dict[str, type[Service]] = {Kafka.name: Kafka, Postgres.name: Postgres}


class Stack:
    """Servers that share a folder, in which their data is kept between runs.

    ::

        stack = Stack()                      # .headrace/local in the working directory, see folders.state
        stack.up()                           # {"kafka": "127.0.0.1:9092"}
        stack.up(["postgres"])               # {"postgres": "postgresql://headrace@127.0.0.1:5432/headrace"}
        stack.down()

        with Stack.temporary() as stack:     # another one, on other ports, gone afterwards
            stack.up(["kafka"])

    A stack that runs is left running when the program ends; in a ``with`` it is taken down at the end.
    """

    def __init__(self, folder: Path | None = None, *, anywhere: bool = False) -> None:
        self.folder = (folder or folders.state() / "local").absolute()
        self._services = {name: kind(self.folder / name, anywhere=anywhere) for name, kind in KINDS.items()}

    @classmethod
    @contextlib.contextmanager
    def temporary(cls) -> Iterator[Self]:
        """Give a stack on free ports whose data goes away with it."""
        folder = Path(tempfile.mkdtemp(prefix="headrace-stack-"))
        stack = cls(folder, anywhere=True)
        try:
            with stack:
                yield stack
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    def up(self, names: Sequence[str] = (), *, port: int | None = None) -> dict[str, str]:
        """Start what does not run, of the usual servers or those named; return addresses that answer."""
        usual = [name for name, service in self._services.items() if service.by_default]
        chosen = self._chosen(names or usual)
        setup.fetch(*dict.fromkeys(jars for service in chosen for jars in service.jars()))
        with self._alone():
            return {service.name: service.start(port=port) for service in chosen}

    def down(self, names: Iterable[str] = ()) -> list[str]:
        """Stop what runs, the data stays; return the names of what ran."""
        chosen = self._chosen(names)
        if not self.folder.is_dir():
            return []
        with self._alone():
            return [service.name for service in reversed(chosen) if service.stop()]

    def status(self, names: Iterable[str] = ()) -> dict[str, Status]:
        """Tell how the servers are."""
        return {service.name: service.status() for service in self._chosen(names)}

    def log(self, name: str) -> Path:
        """Return the file that a server writes its log to."""
        (service,) = self._chosen([name])
        return service.log

    def _chosen(self, names: Iterable[str]) -> list[Service]:
        chosen = [*names] or [*self._services]
        for name in chosen:
            if name not in self._services:
                raise SetupError(
                    f"There is no local server {name!r}.", cure=f"choose from: {', '.join(self._services)}"
                )
        return [self._services[name] for name in chosen]

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep two commands from starting or stopping the same servers at once."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SetupError(
                f"The folder of the local stack cannot be made: {error}.",
                cure="set HEADRACE_HOME to a folder that you may write to",
            ) from None
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
