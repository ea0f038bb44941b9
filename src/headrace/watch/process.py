"""A process that is watched: its lines of JSON read while it runs, its errors kept for when it fails."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_LAST_LINES = 15


class Watched:
    """A child process in a group of its own, which tells its progress as lines of JSON.

    Ctrl-C in a terminal does not reach it: who started it decides when it stops.
    """

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], *, folder: Path, log: Path
    ) -> None:
        self.name, self.log = name, log
        self._lines: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        with log.open("ab") as errors:
            self._from = errors.tell()
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **environment},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, name=f"{name}-lines", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
        for text in self._process.stdout:
            with contextlib.suppress(ValueError):  # a warning of some library is no line of ours
                told = json.loads(text)
                if isinstance(told, dict):
                    self._lines.put(told)

    @property
    def pid(self) -> int:
        """The process; its number is that of its group as well."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative when a signal killed it."""
        return self._process.poll()

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield what was told since the last call; everything, once the process has ended."""
        if self.exit_code is not None:
            self._reader.join(5)
        with contextlib.suppress(queue.Empty):
            while True:
                yield self._lines.get_nowait()

    def stop(self) -> None:
        """Ask it to finish what it does and end."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End it and all that it has started, now; nothing of it is left to write anywhere."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def last_words(self) -> str:
        """Return the end of what it wrote to its error output."""
        with self.log.open("rb") as file:
            file.seek(self._from)
            text = file.read().decode(errors="replace")
        return "\n".join(text.strip().splitlines()[-_LAST_LINES:])
