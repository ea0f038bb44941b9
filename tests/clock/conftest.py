"""Pipelines around a clock, made by a test and stopped after it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.clock.running import SECOND, Clocked


@pytest.fixture
def clocked(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[..., Clocked]]:
    """Makes pipelines; what still runs at the end is stopped."""
    made: list[Clocked] = []

    def make(
        sources: Mapping[str, dict[str, Any]] | Sequence[str] = ("payments",),
        *,
        lag: float = 5,
        idle: float = 30,
        groups: Sequence[int] = (7,),
        **other: Any,
    ) -> Clocked:
        if not isinstance(sources, Mapping):
            policy = {"kind": "bounded", "lag": int(lag * SECOND), "idle": int(idle * 1000)}
            sources = dict.fromkeys(sources, policy)
        other.setdefault("programs", [{"id": 1, "sources": list(sources), "groups": list(groups)}])
        made.append(Clocked(spark, tmp_path, dict(sources), **other))
        return made[-1]

    yield make
    for one in made:
        one.stop()
        one.java.clock.Clock.close(one.id)
        one.java.source.FedSource.forget(one.id)
        shutil.rmtree(one.folder, ignore_errors=True)
