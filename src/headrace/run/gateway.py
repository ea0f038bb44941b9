"""The JVM that Spark runs in, started: options out of sight, chatter filtered, last words kept."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from headrace.errors import SetupError

# What every start prints and nobody can do anything about.
_CHATTER = re.compile(
    r"WARNING: Using incubator modules: |Using Spark's default log4j profile: "
    r'|Setting default log level to "|To adjust logging level use sc\.setLogLevel'
)
# What says no more than that it has ended.
_EMPTY = re.compile(
    r"Error: (?:Could not create the Java|A fatal exception)|\s+at |Error occurred during init"
)
_LAST = 200
CURE = "check spark.master and the options in [spark.options]"


class Stderr:
    """What the JVM writes to stderr: handed on line by line, its last lines remembered."""

    def __init__(self) -> None:
        self.last: deque[str] = deque(maxlen=_LAST)
        self._held: list[str] | None = []
        self._lock = threading.Lock()

    def follow(self, stream: IO[str]) -> None:
        """Read until the JVM ends."""
        with stream:
            for line in stream:
                self.take(line)

    def take(self, line: str) -> None:
        """Take a line: while the start is under way, it waits for how that ends."""
        with self._lock:
            if _CHATTER.match(line):
                return
            self.last.append(line.rstrip("\n"))
            if self._held is not None:
                self._held.append(line)
                return
        _show(line)

    def release(self, *, show: bool) -> None:
        """Show what has been held back, or drop it where an error tells it better; hold nothing more."""
        with self._lock:
            held, self._held = self._held or [], None
        if show:
            for line in held:
                _show(line)

    def reason(self) -> str | None:
        """Return the line that says why the JVM ended, if one does."""
        lines = [line for line in self.last if line.strip() and not _EMPTY.match(line)]
        for line in lines:
            found = re.match(r"Exception in thread \S+ (.*)|(?:Error|error): (.*)", line)
            if found:
                return re.sub(r"^(?:[\w$]+\.)+[\w$]+: ", "", found[1] or found[2])
        return lines[-1].strip() if lines else None


def _show(line: str) -> None:
    with contextlib.suppress(ValueError, OSError):
        sys.stderr.write(line)
        sys.stderr.flush()


def launch(options: Mapping[str, str]) -> Stderr:
    """Start the JVM with these options of Spark and give it to pyspark; the session comes later.

    The options may hold secrets. pyspark would put each of them on the command line, which every user of
    the machine can read; they go by a file that only this user can read, and that is gone afterwards.
    """
    from pyspark import SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    stderr = Stderr()
    writing: int | None
    reading, writing = os.pipe()
    stream = os.fdopen(reading, encoding="utf-8", errors="replace")
    follower = threading.Thread(target=stderr.follow, args=(stream,), name="headrace-jvm-stderr", daemon=True)
    follower.start()
    try:
        with _properties(options) as file, _submit_arguments(file):
            gateway = launch_gateway(popen_kwargs={"stderr": writing})  # type: ignore[no-untyped-call]
    except PySparkRuntimeError as failure:
        os.close(writing)
        writing = None
        # The JVM has ended, so its words come to an end too.
        follower.join(5)
        stderr.release(show=False)
        said = stderr.reason()
        raise SetupError(
            f"Spark's JVM did not start: {said}" if said else "Spark's JVM did not start", cure=CURE
        ) from failure
    finally:
        if writing is not None:
            os.close(writing)
    SparkContext._ensure_initialized(gateway=gateway)
    return stderr


@contextlib.contextmanager
def _properties(options: Mapping[str, str]) -> Iterator[Path]:
    # Made by mkstemp: 0600.
    handle, name = tempfile.mkstemp(prefix="headrace-", suffix=".properties")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.writelines(f"{_escaped(key)}={_escaped(value)}\n" for key, value in options.items())
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _escaped(text: str) -> str:
    """Return a text as java.util.Properties reads it back."""
    named = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
    return "".join(named.get(each) or (f"\\{each}" if each in " =:#!" else each) for each in text)


@contextlib.contextmanager
def _submit_arguments(file: Path) -> Iterator[None]:
    before = os.environ.get("PYSPARK_SUBMIT_ARGS")
    ours = f"--load-spark-defaults --properties-file {shlex.quote(str(file))}"
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{ours} {before or 'pyspark-shell'}"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYSPARK_SUBMIT_ARGS"]
        else:
            os.environ["PYSPARK_SUBMIT_ARGS"] = before
