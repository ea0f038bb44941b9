"""A table is read to its end before the first event meets it, in whatever order its records are."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace import Bounded, Kafka, Pipeline, Topic
from headrace.testing import Harness
from tests.asof.on_spark import Event, Item

START = datetime(2026, 1, 1, tzinfo=UTC)
# The first is far ahead of the events: by time alone the table would seem to be read.
TABLE = [("a", 90), ("b", 0), ("c", 1), ("a", 2), ("b", 3), ("a", 8)]


def pipeline() -> Pipeline:
    table = Topic("table", Item, key="k", time="at").table()
    events = Topic("events", Event, time="at").stream(watermark=Bounded("0 seconds"))
    then = events.join("then", table, on="k", how="left", suffix="_of_table")
    now = events.join("now", table, on="k", as_of=None, how="left", suffix="_of_table")
    return Pipeline("bootstrap", then=then.to(Kafka("then")), now=now.to(Kafka("now")))


def row(key: str, second: int, value: int) -> dict[str, Any]:
    return {"k": key, "v": value, "at": START + timedelta(seconds=second)}


def met(rows: list[dict[str, Any]]) -> list[tuple[int, int | None]]:
    return sorted((row["v"], row["v_of_table"]) for row in rows)


def test_events_wait_until_the_table_is_read(spark: SparkSession) -> None:
    with Harness(pipeline(), spark, by_hand=False) as harness:
        harness.wall_clock(START)
        harness.rows_per_epoch("table", 2)
        harness.feed("table", *(row(key, second, place) for place, (key, second) in enumerate(TABLE)))
        harness.feed(
            "events", row("a", 5, 1), row("b", 6, 2), row("z", 7, 3), row("a", 9, 4), row("c", 30, 5)
        )
        first = harness.epoch()
        assert not any(first.values()), "the table is still being read"
        out = harness.run()
        assert met(out["now"]) == [(1, 5), (2, 4), (3, None), (4, 5), (5, 2)]
        assert met(out["then"]) == [(1, 3), (2, 4), (3, None), (4, 5)]

        harness.restart()
        harness.feed("table", *(row("c", 40 + second, 40 + second) for second in range(3)))
        harness.feed("events", row("c", 41, 6), row("c", 50, 7))
        out = harness.run()
        assert met(out["now"]) == [(6, 42), (7, 42)]
        assert met(out["then"]) == [(5, 2), (6, 41)]


@pytest.mark.parametrize("rows", [[], [row("b", 0, 1)]])
def test_a_table_with_little_in_it_keeps_nobody_waiting(spark: SparkSession, rows: list[Any]) -> None:
    with Harness(pipeline(), spark, by_hand=False) as harness:
        harness.wall_clock(START)
        harness.feed("table", *rows)
        harness.feed("events", row("a", 5, 1), row("a", 9, 2))
        out = harness.run()
        assert met(out["now"]) == [(1, None), (2, None)]
        assert met(out["then"]) == [(1, None)]
        harness.feed("events", row("b", 20, 3))
        assert met(harness.run()["then"]) == [(2, None)]
