"""Finding the pipeline in a user's Python file."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
import traceback
from pathlib import Path
from types import ModuleType

from headrace.declare.pipeline import Pipeline
from headrace.errors import HeadraceError, PlanError

# The files that were loaded, and their folders: what is imported from below them is the user's own.
_files: set[Path] = set()
_folders: set[Path] = set()
# ... unless it was installed there: an environment, or headrace itself, may lie in a project's folder.
_INSTALLED = (
    *(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    Path(__file__).parents[1],
)


def load(reference: str) -> Pipeline:
    """Import `FILE` or `FILE:NAME` and return its pipeline. Starts no JVM."""
    path, _, wanted = reference.partition(":")
    file = Path(path)
    if not file.is_file():
        raise PlanError(f"there is no file {path}", cure="name the Python file that holds the pipeline")
    module = _module(file)
    found = {name: value for name, value in vars(module).items() if isinstance(value, Pipeline)}
    if wanted:
        if wanted not in found:
            known = ", ".join(found) or "none"
            raise PlanError(f"{path} has no pipeline {wanted!r} (it has: {known})")
        return found[wanted]
    distinct = {id(value): name for name, value in found.items()}
    if not distinct:
        raise PlanError(
            f"{path} has no pipeline",
            cure='end it with pipeline = Pipeline("name", results=stream.to(Kafka("results")))',
        )
    if len(distinct) > 1:
        names = ", ".join(sorted(distinct.values()))
        raise PlanError(
            f"{path} has several pipelines: {names}", cure=f"say which: {path}:{min(distinct.values())}"
        )
    return next(iter(found.values()))


def send_by_value() -> None:
    """Have the functions of pipeline files, and of modules beside them, sent whole to Spark's workers.

    A worker cannot import them: it has neither the file's folder nor the name that the file is loaded by.
    Called where the session starts, since it loads pyspark.
    """
    from pyspark.cloudpickle import register_pickle_by_value

    for name, module in list(sys.modules.items()):
        # A module that goes by two names is registered by its own.
        if _is_users(module) and getattr(module, "__name__", None) == name:
            register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _is_users(module: ModuleType | None) -> bool:
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    path = Path(file).absolute()
    if path in _files:
        return True
    below = any(path.is_relative_to(folder) for folder in _folders)
    return below and not any(path.is_relative_to(place) for place in _INSTALLED)


def _module(file: Path) -> ModuleType:
    name = f"headrace_pipeline_{file.stem}"
    # As the import system names it in tracebacks.
    path = Path(os.path.abspath(file))  # noqa: PTH100 - links stay as they were given
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise PlanError(f"{file} is not a Python file", cure="name a file that ends in .py")
    module = importlib.util.module_from_spec(specification)
    # Neighbours of the file can be imported, as they can when it is run.
    folder = str(file.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    _files.add(path)
    _folders.update((path.parent, Path(folder)))
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except HeadraceError:
        raise
    except SystemExit as left:
        raise PlanError(
            f"{file.name} ends the process while it is imported: sys.exit({left.code!r})",
            where=_place(file, path, left),
            cure='keep what is not the declaration below `if __name__ == "__main__":`',
        ) from left
    except Exception as failure:
        raise PlanError(
            f"{file.name} cannot be imported: {type(failure).__name__}: {_said(failure)}",
            where=_place(file, path, failure),
        ) from failure
    if "pyspark" in sys.modules:
        send_by_value()
    return module


def _said(failure: Exception) -> str:
    return failure.msg if isinstance(failure, SyntaxError) else str(failure)


def _place(file: Path, path: Path, failure: BaseException) -> str:
    """Return the innermost line of the user's that failed."""
    if isinstance(failure, SyntaxError) and failure.filename:
        shown = file if Path(failure.filename) == path else failure.filename
        return f"{shown}:{failure.lineno}"
    frames = traceback.extract_tb(failure.__traceback__)
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == str(path)), None)
    return f"{file}:{line}" if line else str(file)
