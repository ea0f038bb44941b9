"""Finding the pipeline in a user's Python file."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path

from headrace.declare.pipeline import Pipeline
from headrace.errors import HeadraceError, PlanError


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


def _module(file: Path) -> object:
    name = f"headrace_pipeline_{file.stem}"
    specification = importlib.util.spec_from_file_location(name, file)
    if specification is None or specification.loader is None:
        raise PlanError(f"{file} is not a Python file", cure="name a file that ends in .py")
    module = importlib.util.module_from_spec(specification)
    # Neighbours of the file can be imported, as they can when it is run.
    folder = str(file.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except HeadraceError:
        raise
    except Exception as failure:
        frame = next(
            (
                each
                for each in reversed(traceback.extract_tb(failure.__traceback__))
                if each.filename == str(file)
            ),
            None,
        )
        raise PlanError(
            f"{file.name} cannot be imported: {type(failure).__name__}: {failure}",
            where=f"{file}:{frame.lineno}" if frame else str(file),
        ) from failure
    return module
