"""The pinned jars: read from the lock list, fetched in parallel, kept once per user."""

import platform
import threading
import tomllib
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from headrace.errors import SetupError
from headrace.local import folders, mirror
from headrace.local.download import Remote, Stopped, download, is_complete

SETS = (
    "spark",
    "kafka",
    "postgres-linux-x86_64",
    "postgres-linux-arm64",
    "postgres-darwin-x86_64",
    "postgres-darwin-arm64",
    "compiler",
    "test",
)
_PARALLEL = 8
_PROCESSORS = {"aarch64": "arm64", "amd64": "x86_64"}
"""What some systems call a processor, and what a set does."""


@dataclass(frozen=True)
class Artefact:
    """One jar: its Maven coordinate, its exact size and its SHA-256."""

    group: str
    name: str
    version: str
    size: int
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}.jar"

    @property
    def remote(self) -> Remote:
        folder = f"{self.group.replace('.', '/')}/{self.name}/{self.version}"
        return Remote(f"{folder}/{self.file_name}", self.size, self.sha256)

    @property
    def path(self) -> Path:
        """Where the jar lies once it was fetched."""
        return folder() / self.file_name

    @property
    def is_here(self) -> bool:
        return is_complete(self.path, self.remote)


@dataclass(frozen=True)
class Arrived:
    """How far a fetch has come, over all of its files."""

    files: int
    of_files: int
    bytes: int
    of_bytes: int


def folder() -> Path:
    """Return where fetched jars lie."""
    return folders.cache() / "jars"


@cache
def lock() -> dict[str, tuple[Artefact, ...]]:
    """Return the lock list: every set with its jars, in the order of their class path."""
    listed = tomllib.loads(files("headrace.local").joinpath("artefacts.toml").read_text("utf-8"))
    return {name: tuple(_artefact(**entry) for entry in entries) for name, entries in listed.items()}


def _artefact(jar: str, size: int, sha256: str) -> Artefact:
    group, name, version = jar.split(":")
    return Artefact(group, name, version, size, sha256)


def for_platform(family: str) -> str:
    """Return the set of a family, such as ``postgres``, that is for this system and processor."""
    system, processor = platform.system().lower(), platform.machine().lower()
    name = f"{family}-{system}-{_PROCESSORS.get(processor, processor)}"
    if name in lock():
        return name
    have = ", ".join(each.removeprefix(f"{family}-") for each in lock() if each.startswith(f"{family}-"))
    raise SetupError(
        f"There is no local {family} for {system} on {processor}; there is one for: {have}.",
        cure=f"install {family} by the system's means, and give its address to headrace",
    )


def missing(*sets: str) -> list[Artefact]:
    """Return what a fetch of these sets would have to download."""
    return [artefact for name in sets for artefact in lock()[name] if not artefact.is_here]


def jars(*sets: str) -> list[Path]:
    """Return the jars of these sets, fetching without a word what is missing."""
    fetch(*sets)
    return [artefact.path for name in sets for artefact in lock()[name]]


def fetch(*sets: str, report: Callable[[Arrived], None] = lambda _: None) -> int:
    """Fetch what is missing of these sets, verified; return the number of jars that were fetched.

    Needs no network when all of them are there.
    """
    wanted = missing(*sets)
    if not wanted:
        return 0
    source = mirror.find()
    _make_folder()
    stop = threading.Event()
    counter = _Counter(wanted, report)

    def one(artefact: Artefact) -> None:
        download(artefact.remote, source, artefact.path, report=counter.of(artefact), stop=stop)

    with ThreadPoolExecutor(_PARALLEL, thread_name_prefix="headrace-fetch") as pool:
        running = [pool.submit(one, artefact) for artefact in wanted]
        try:
            wait(running, return_when=FIRST_EXCEPTION)
        finally:
            # One failed, or Ctrl-C: the others need not go on. What has arrived stays for the next time.
            stop.set()
            pool.shutdown(cancel_futures=True)
    _raise_first(future.exception() for future in running if future.done() and not future.cancelled())
    return len(wanted)


def _raise_first(errors: Iterable[BaseException | None]) -> None:
    for error in errors:
        if error is not None and not isinstance(error, Stopped):
            raise error


def _make_folder() -> None:
    try:
        folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(
            f"The folder for fetched jars cannot be made: {error}.",
            cure="set HEADRACE_CACHE to a folder that you may write to",
        ) from None


class _Counter:
    """Adds up what the parallel downloads report."""

    def __init__(self, wanted: list[Artefact], report: Callable[[Arrived], None]) -> None:
        self._sizes = {artefact: artefact.size for artefact in wanted}
        self._arrived = dict.fromkeys(wanted, 0)
        self._report = report
        self._lock = threading.Lock()

    def of(self, artefact: Artefact) -> Callable[[int], None]:
        def arrived(size: int) -> None:
            with self._lock:
                self._arrived[artefact] = size
                complete = sum(self._arrived[a] >= size for a, size in self._sizes.items())
                self._report(
                    Arrived(
                        complete, len(self._sizes), sum(self._arrived.values()), sum(self._sizes.values())
                    )
                )

        return arrived
