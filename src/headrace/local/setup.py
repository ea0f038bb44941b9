"""This machine made ready: Java found, jars fetched with a progress bar, the kernel compiled."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from headrace.local import artefacts, java, kernel
from headrace.local.java import Java


@dataclass(frozen=True)
class Ready:
    """What set-up found and did."""

    java: Java
    fetched: int
    jars: Path
    kernel: Path
    compiled: bool


def prepare(*sets: str, development: bool = False) -> Ready:
    """Make ready for pipelines and the local servers; says on stderr what takes time, else nothing.

    ``sets`` are the sets of jars to have, ``spark`` and ``kafka`` unless told otherwise; ``development`` adds
    what the tests of headrace itself need, which may then run without a network.
    """
    found = java.find()
    here = kernel.checkout()
    wanted = [*(sets or ("spark", "kafka"))]
    if here is not None and (development or (found.javac is None and not kernel.is_current(here))):
        wanted.append("compiler")
    if development:
        wanted += ["test", artefacts.for_platform("postgres")]
    fetched = fetch(*wanted)
    compiled = False
    if here is not None and not kernel.is_current(here):
        started = time.monotonic()
        _say(f"Compiling the kernel with {'javac' if found.javac else 'ecj'}, Java {found.version} ...")
        compiled = kernel.build(here)
        _say(f"Compiled the kernel in {time.monotonic() - started:.1f} s.")
    return Ready(found, fetched, artefacts.folder(), kernel.jar(), compiled)


def fetch(*sets: str) -> int:
    """Fetch what is missing of these sets of jars, with a progress bar; return how many that were."""
    wanted = artefacts.missing(*sets)
    if not wanted:
        return 0
    megabytes = sum(artefact.size for artefact in wanted) / 1e6
    if not sys.stderr.isatty():
        _say(f"Fetching {len(wanted)} jars, {megabytes:.0f} MB ...")
        return artefacts.fetch(*sets)
    return _fetch_with_bar(sets)


def _fetch_with_bar(sets: tuple[str, ...]) -> int:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = [
        TextColumn("Fetching jars"),
        BarColumn(),
        TextColumn("{task.fields[files]}"),
        DownloadColumn(),
        TransferSpeedColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("jars", total=None, files="")
        return artefacts.fetch(
            *sets,
            report=lambda arrived: progress.update(
                task,
                total=arrived.of_bytes,
                completed=arrived.bytes,
                files=f"{arrived.files}/{arrived.of_files}",
            ),
        )


def _say(message: str) -> None:
    sys.stderr.write(message + "\n")
    sys.stderr.flush()
