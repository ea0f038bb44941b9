"""Every error that headrace raises on purpose, in one tree.

::

    HeadraceError                exit code 1
    ├── DeclarationError         2   a pipeline file says something that cannot be meant
    ├── PlanError                2   the declaration cannot be made into a Spark query
    ├── SettingsError            2   headrace.toml, an environment variable or an argument is wrong
    ├── CheckpointError          3   the checkpoint does not belong to this pipeline, or is finished
    ├── SetupError               4   Java, a download, a checksum, a port, a server of the local stack
    ├── RunError                 5   the query stopped with an error
    └── DeliveryError            6   a sink refused what had to be delivered

Every message says what happened, where (the user's own file and line) and how to cure it.
The exit code is the one with which ``headrace`` leaves the shell.
"""

import sys
from pathlib import Path
from typing import ClassVar

__all__ = [
    "CheckpointError",
    "DeclarationError",
    "DeliveryError",
    "HeadraceError",
    "PlanError",
    "RunError",
    "SettingsError",
    "SetupError",
    "caller",
]


class HeadraceError(Exception):
    """The root: what happened, where, and the cure."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, where: str | None = None, cure: str | None = None) -> None:
        super().__init__(message, where, cure)
        self.message = message
        self.where = where
        self.cure = cure

    def __str__(self) -> str:
        lines = [self.message]
        if self.where is not None:
            lines.append(f"  at {self.where}")
        if self.cure is not None:
            lines.append(f"  cure: {self.cure}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        # The default would call cls(*args) with positional arguments that __init__ does not take.
        return _rebuild, (type(self), self.message, self.where, self.cure)


def _rebuild(kind: type[HeadraceError], message: str, where: str | None, cure: str | None) -> HeadraceError:
    return kind(message, where=where, cure=cure)


class DeclarationError(HeadraceError):
    """A pipeline file says something that cannot be meant."""

    exit_code = 2


class PlanError(HeadraceError):
    """The declaration cannot be made into a Spark query."""

    exit_code = 2


class SettingsError(HeadraceError):
    """A setting in headrace.toml, the environment or the arguments is wrong."""

    exit_code = 2


class CheckpointError(HeadraceError):
    """The checkpoint does not belong to this pipeline, or is finished."""

    exit_code = 3


class SetupError(HeadraceError):
    """This machine is not ready: Java, a download, a checksum, a port, a local server."""

    exit_code = 4


class RunError(HeadraceError):
    """The query stopped with an error."""

    exit_code = 5


class DeliveryError(HeadraceError):
    """A sink refused what had to be delivered."""

    exit_code = 6


_PACKAGE = str(Path(__file__).parent) + "/"
# The wheel carries the examples inside the package; they are the user's side all the same.
_EXAMPLES = _PACKAGE + "examples/"


def caller() -> str:
    """Return ``file:line`` of the innermost frame outside the headrace package.

    The file is given relative to the working directory where it lies below it.
    """
    frame = sys._getframe(1)
    while True:
        path = frame.f_code.co_filename
        ours = path.startswith(_PACKAGE) and not path.startswith(_EXAMPLES)
        # Generated code (dataclasses, the import system) has no file that a user could open.
        generated = path == "<string>" or path.startswith("<frozen ")
        if not ours and not generated:
            break
        if frame.f_back is None:
            break
        frame = frame.f_back
    return f"{_shortest(frame.f_code.co_filename)}:{frame.f_lineno}"


def _shortest(path: str) -> str:
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path
