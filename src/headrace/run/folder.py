"""Small files of a checkpoint, on any file system that Hadoop can reach."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from headrace.errors import CheckpointError, RunError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Folder(Protocol):
    """A folder whose files are read and written whole."""

    def read(self, name: str) -> str | None:
        """Return a file's text, or None when there is no such file."""

    def write(self, name: str, text: str) -> None:
        """Write a file whole: a reader sees the old text or the new one."""

    def names(self, name: str = "") -> list[str]:
        """Return the names inside a sub-folder; none when it does not exist."""

    def remove(self) -> None:
        """Delete the folder with all that is in it."""


class LocalFolder:
    """A folder on this machine. Needs no JVM, so that errors about it are fast."""

    def __init__(self, path: str) -> None:
        """Name the folder; it need not exist."""
        self.path = Path(path)

    def read(self, name: str) -> str | None:
        """Return a file's text, or None when there is no such file."""
        try:
            return (self.path / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise self._refused("read", problem) from problem
        except UnicodeDecodeError:
            # Damaged like any other text that is not what was written; its reader says so.
            return ""

    def write(self, name: str, text: str) -> None:
        """Write a file whole and durably: a reader sees the old text or the new one."""
        target = self.path / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            Path(temporary).replace(target)
        except OSError as problem:
            raise self._refused("written", problem) from problem

    def names(self, name: str = "") -> list[str]:
        """Return the names inside a sub-folder; none when it does not exist."""
        place = self.path / name
        return sorted(inner.name for inner in place.iterdir()) if place.is_dir() else []

    def remove(self) -> None:
        """Delete the folder with all that is in it."""
        try:
            if self.path.exists():
                shutil.rmtree(self.path)
        except OSError as problem:
            raise self._refused("removed", problem) from problem

    def _refused(self, what: str, problem: OSError) -> CheckpointError:
        return CheckpointError(
            f"the checkpoint in {self.path} cannot be {what}: {problem.strerror}",
            cure="give another folder (setting checkpoint), or the right to use this one",
        )


class HadoopFolder:
    """A folder behind a URI (hdfs, s3a, …), reached through the running session."""

    def __init__(self, uri: str, spark: SparkSession) -> None:
        """Name the folder; it need not exist."""
        jvm = spark._jvm
        if jvm is None:
            raise RuntimeError("the Spark session has no JVM")
        self._files = _asked(lambda: jvm.headrace.storage.Files(uri, spark._jsparkSession))

    def read(self, name: str) -> str | None:
        """Return a file's text, or None when there is no such file."""
        return cast("str | None", _asked(lambda: self._files.read(name)))

    def write(self, name: str, text: str) -> None:
        """Write a file whole: a reader sees the old text or the new one."""
        _asked(lambda: self._files.write(name, text))

    def names(self, name: str = "") -> list[str]:
        """Return the names inside a sub-folder; none when it does not exist."""
        return cast("list[str]", _asked(lambda: list(self._files.names(name))))

    def remove(self) -> None:
        """Delete the folder with all that is in it."""
        _asked(self._files.remove)


def _asked(call: Callable[[], Any]) -> Any:
    from headrace.run.failure import GONE, asked

    try:
        return asked(call)
    except RunError as failure:
        if failure.message == GONE:
            raise
        raise CheckpointError(
            f"the checkpoint's file system: {failure.message}",
            cure=failure.cure or "check the setting checkpoint, and the options of its file system",
        ) from failure


def is_local(uri: str) -> bool:
    """Tell whether a checkpoint lies on this machine's own file system."""
    return re.match(r"^[a-z][a-z0-9+.-]*:", uri) is None or uri.startswith("file:")


def open_folder(uri: str, spark: SparkSession | None = None) -> Folder:
    """Open a checkpoint's folder; one that is not local needs a session."""
    if is_local(uri):
        return LocalFolder(re.sub(r"^file:(//)?", "", uri))
    if spark is None:
        raise RuntimeError(f"{uri} needs a Spark session")
    return HadoopFolder(uri, spark)
