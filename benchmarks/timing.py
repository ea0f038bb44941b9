"""How long a query took, in Spark's own words: the same instrument for ours and the native one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Run:
    """One bounded run over a topic."""

    rows: int
    seconds: float
    processor: float
    epochs: int
    results: int

    @property
    def rate(self) -> float:
        """Events per second."""
        return self.rows / self.seconds

    @property
    def processor_rate(self) -> float:
        """Events per second of processor time of Spark's JVM, start and compiling included.

        What else the machine does changes it little: on a busy machine it is the figure to compare.
        """
        return self.rows / self.processor


def epochs(java_query: Any) -> list[dict[str, Any]]:
    """Return Spark's progress of every epoch that did something."""
    told = [json.loads(each.json()) for each in java_query.recentProgress()]
    return [each for each in told if "addBatch" in each["durationMs"]]


def processor_seconds(spark: SparkSession) -> float:
    """Return the processor time that Spark's JVM has taken so far."""
    jvm: Any = spark._jvm
    return float(jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get().toMillis()) / 1000


def measured(done: Sequence[dict[str, Any]], results: int, processor: float) -> Run:
    """Measure from the beginning of the first epoch to the end of the last; a start is not counted."""
    if not done:
        raise RuntimeError("the query ended without an epoch")
    last = done[-1]
    seconds = (_at(last) - _at(done[0])).total_seconds() + last["durationMs"]["triggerExecution"] / 1000
    # The clock is a source of ours; its ticks are no events.
    rows = sum(
        source["numInputRows"]
        for each in done
        for source in each["sources"]
        if "headrace clock" not in source["description"]
    )
    return Run(rows, seconds, processor, len(done), results)


def _at(epoch: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(epoch["timestamp"])


@dataclass(frozen=True)
class Spread:
    """Milliseconds that one thing took, many times."""

    p50: float
    p95: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Sum up."""
        ordered = sorted(values)
        return cls(median(ordered), ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], len(ordered))


def parts(durations: Sequence[dict[str, int]]) -> dict[str, float]:
    """Return the median of each part of an epoch, the longest first."""
    names = {name for each in durations for name in each}
    medians = {name: median(each.get(name, 0) for each in durations) for name in names}
    return dict(sorted(medians.items(), key=lambda each: -each[1]))
