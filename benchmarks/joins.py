"""Joins of two streams by card and time: the same questions to ours and to Spark's own stream-stream join."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import functions as F

from benchmarks import native
from benchmarks.events import LAG, PARTITIONS, SPAN, WINDOW, Event, made
from headrace import Bounded, Kafka, Pipeline, Topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# No row's match ends exactly at a watermark: whether it can still come then is answered differently.
UPPER = timedelta(minutes=2, microseconds=500)
SEEDS = (1, 2)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Question:
    """One question, and how many rows the answer has."""

    name: str
    how: str
    rows: int
    target: float | None

    def ours(self, left: str, right: str) -> Pipeline:
        """Return a pipeline whose results are only counted."""
        shown, clicked = (
            Topic(topic, Event, key="card", time="at").stream(watermark=Bounded(LAG))
            for topic in (left, right)
        )
        joined = shown.join(
            "clicks",
            clicked,
            on="card",
            within=(timedelta(0), UPPER),
            how=self.how,  # type: ignore[arg-type]
            suffix="_right",
        )
        return Pipeline(f"bench-{left}-{self.how}", late=joined.late_left.to(Kafka(f"{left}.late")))

    def native(self, spark: SparkSession, bootstrap: str, left: str, right: str, rows: int) -> DataFrame:
        """Return Spark's own join of the same rows, under the same watermarks."""
        shown, clicked = (
            native.events(spark, bootstrap, topic, rows, name=name).withWatermark("at", _seconds(LAG))
            for name, topic in (("left", left), ("right", right))
        )
        clicked = clicked.select(*(F.col(name).alias(f"{name}_right") for name in ("card", "amount", "at")))
        near = F.col("at_right").between(F.col("at"), F.col("at") + F.expr(f"INTERVAL {_seconds(UPPER)}"))
        on = (F.col("card") == F.col("card_right")) & near
        how = {"inner": "inner", "left": "left_outer"}[self.how]
        return shown.join(clicked, on, how).drop("card_right")


def questions(count: int) -> list[Question]:
    """Return the questions about two topics of so many events each."""
    pairs, alone = answers(count)
    return [
        Question("interval join", "inner", pairs, 4.0),
        Question("interval join, left outer", "left", pairs + alone, 4.0),
    ]


def answers(count: int) -> tuple[int, int]:
    """Return how many pairs there are, and how many left rows the last watermark says to have no match."""
    closing = int((SPAN + 2 * WINDOW + LAG) / _MILLISECOND)
    cards, times = zip(*(_with_closing(*made(count, seed=seed)[::2], closing) for seed in SEEDS), strict=True)
    span = 1 << 32
    right = np.sort(cards[1].astype(np.int64) * span + times[1])
    wanted = cards[0].astype(np.int64) * span + times[0]
    first = np.searchsorted(right, wanted, side="left")
    last = np.searchsorted(right, wanted + int(UPPER / _MILLISECOND), side="right")
    met = last - first
    over = times[0] + UPPER / _MILLISECOND < closing - LAG / _MILLISECOND
    return int(met.sum()), int(((met == 0) & over).sum())


def _with_closing(cards: Any, millis: Any, closing: int) -> tuple[Any, Any]:
    """Return the events with the last ones of each partition, which close all before them."""
    partitions = np.arange(PARTITIONS)
    return np.concatenate([cards, partitions]), np.concatenate([millis, np.full(PARTITIONS, closing)])


def _seconds(duration: timedelta) -> str:
    return f"{duration // timedelta(microseconds=1)} microseconds"
