"""State is bounded: flat while keys come and go, and none at all when time has passed the last window."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import reduce
from itertools import count
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as SF

from headrace import (
    AfterCount,
    AtWatermark,
    Bounded,
    Cumulative,
    Custom,
    Every,
    F,
    Final,
    Global,
    Hopping,
    Kafka,
    Pipeline,
    Session,
    Sliding,
    Topic,
    Tumbling,
    record,
)
from headrace.testing import Harness
from tests.pipeline.shop import at

TRACK = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"
MINUTES = 30
STEADY = [f"steady-{number}" for number in range(12)]
VARIABLES = {"header": ("value.value",), "cells": ("user_map_key.value", "user_map_value.value")}
NEVER_LATE = ("global", "chained")
"""One waits for ever, the other one gets nothing that is late."""


@record
class Visit:
    id: str
    page: str
    value: int
    at: datetime
    closes: datetime


def every_kind() -> Pipeline:
    """A step of each kind of window, of each way to give panes, and deduplication before another step."""
    stream = Topic("visits", Visit, key="page", time="at").stream(watermark=Bounded("5 seconds"))
    pages = stream.key_by("page")
    steady = stream.where(F.col("page").startswith("steady")).key_by("page")
    once = stream.dedup("dedup", by="id", within="1 minute")
    early = AtWatermark(early=Every("20 seconds"), late=AfterCount(3))
    windows = {
        "tumbling": pages.window("tumbling", Tumbling("1 minute")),
        "tumbling-late": pages.window("tumbling-late", Tumbling("1 minute"), lateness="1 minute"),
        "final": pages.window("final", Tumbling("30 seconds"), trigger=Final(), lateness="30 seconds"),
        "hopping": pages.window("hopping", Hopping("2 minutes", every="30 seconds")),
        "hopping-early": pages.window(
            "hopping-early", Hopping("2 minutes", every="1 minute"), trigger=early, lateness="30 seconds"
        ),
        "cumulative": pages.window("cumulative", Cumulative("5 minutes", step="1 minute")),
        "retracting": pages.window(
            "retracting", Tumbling("1 minute"), trigger=early, lateness="1 minute", accumulate="retracting"
        ),
        "session": pages.window("session", Session("40 seconds"), lateness="30 seconds"),
        "sliding": pages.window("sliding", Sliding("1 minute"), lateness="30 seconds"),
        "custom": pages.window("custom", Custom("at", "closes"), lateness="30 seconds"),
        "global": steady.window("global", Global(), trigger=AfterCount(10)),
        "unkeyed": stream.window("unkeyed", Tumbling("1 minute"), lateness="1 minute"),
        "chained": once.key_by("page").window("chained", Tumbling("1 minute"), lateness="30 seconds"),
    }
    return Pipeline(
        "bounded",
        **{
            name.replace("-", "_"): window.agg(n=F.count("*"), total=F.sum("value")).to(Kafka(name))
            for name, window in windows.items()
        },
    )


def visits(minute: int, numbers: Iterator[int]) -> Iterator[dict[str, Any]]:
    """Return a minute's rows: of the steady keys, each at its times, and of some that are seen only now."""
    passing = [f"passing-{minute}-{number}" for number in range(12)]
    for page in [*STEADY, *passing]:
        for tick in range(4):
            seconds = 60 * minute + 15 * tick + second_of(page)
            number = next(numbers)
            yield visit(number, page, seconds)
            if tick == 2:
                # A duplicate.
                yield visit(number, page, seconds)
    # Too late for all, and of a page that nobody has seen.
    yield visit(next(numbers), f"late-{minute}", 60 * minute - 1200)


def visit(number: int, page: str, seconds: int) -> dict[str, Any]:
    return {
        "id": f"{number:08d}",
        "page": page,
        "value": number % 7,
        "at": at(seconds),
        "closes": at(seconds + 45),
    }


def second_of(page: str) -> int:
    return sum(page.encode()) % 15


@contextmanager
def rows_tracked(spark: SparkSession) -> Iterator[None]:
    """Have Spark count its state's rows, which pipelines go without."""
    before = spark.conf.get(TRACK, "false")
    spark.conf.set(TRACK, "true")
    try:
        yield
    finally:
        spark.conf.set(TRACK, before)


@pytest.mark.slow
def test_state_is_flat_while_keys_come_and_go_and_gone_when_time_has_passed(
    spark: SparkSession, record_property: Callable[[str, object], None]
) -> None:
    numbers = count()
    totals: list[int] = []
    ends: list[int] = []
    with rows_tracked(spark), Harness(every_kind(), spark, groups=4) as harness:
        for minute in range(MINUTES):
            harness.feed("visits", *visits(minute, numbers))
            harness.epoch(watermark=at(60 * minute + 55), clock=at(60 * minute + 60))
            totals.append(rows_of(harness))
            ends.append(last_epoch(harness))
        steps = set(harness.manifest.steps)
        middle, last = ends[10:20:2], ends[20:30:2]
        by_step = state(spark, harness, [*middle, *last])
        assert set(by_step) == steps
        told = "\n".join(f"{step}: {sizes}" for step, sizes in by_step.items())
        record_property("state", told)
        for sizes in by_step.values():
            for part in ("rows", "bytes"):
                before, after = (max(sizes[epoch][part] for epoch in third) for third in (middle, last))
                assert after <= 1.1 * before, f"{part} grow\n{told}"
        assert max(totals[20:]) <= 1.1 * max(totals[10:20]), totals
        assert all(counts["late"] for step, counts in harness.ledger().items() if step not in NEVER_LATE)

        # The last windows that began end five minutes later, and wait for a minute.
        assert harness.epoch(watermark=at(60 * MINUTES + 6 * 60), clock=at(60 * MINUTES + 61))["cumulative"]
        left = state(spark, harness, [last_epoch(harness)])
        assert set(left) == {"global"}, left
        assert rows_of(harness) == left["global"][last_epoch(harness)]["rows"]

        # Only the end of time ends it.
        harness.drain()
        assert rows_of(harness) == 0
        assert not state(spark, harness, [last_epoch(harness)])


def last_epoch(harness: Harness) -> int:
    return int(harness.query.lastProgress().batchId())


def rows_of(harness: Harness) -> int:
    """Return the rows in all state stores, as Spark counts them."""
    return sum(each.numRowsTotal() for each in harness.query.lastProgress().stateOperators())


def state(
    spark: SparkSession, harness: Harness, epochs: Iterable[int]
) -> dict[str, dict[int, dict[str, int]]]:
    """Return the rows and bytes of each step that had state after these epochs, out of the checkpoint."""
    frames = [
        variable(spark, harness.checkpoint, operator, epoch, name, *fields)
        for epoch in epochs
        for operator in range(2)
        for name, fields in VARIABLES.items()
    ]
    sizes = reduce(DataFrame.unionAll, frames).groupBy("program", "epoch")
    names = {step.program: name for name, step in harness.manifest.steps.items()}
    found: dict[str, dict[int, dict[str, int]]] = defaultdict(dict)
    counted = sizes.agg(SF.count("*").alias("rows"), SF.sum("bytes").alias("bytes")).orderBy("epoch")
    for row in counted.collect():
        found[names[row["program"]]][row["epoch"]] = {"rows": row["rows"], "bytes": row["bytes"]}
    return dict(found)


def variable(
    spark: SparkSession, checkpoint: str, operator: int, epoch: int, name: str, *fields: str
) -> DataFrame:
    read = spark.read.format("statestore").options(
        path=checkpoint, operatorId=operator, batchId=epoch, stateVarName=name
    )
    bytes_ = reduce(Column.__add__, (SF.length(field) for field in fields))
    return read.load().select("key.program", SF.lit(epoch).alias("epoch"), bytes_.alias("bytes"))
