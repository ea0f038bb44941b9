"""A table holds time up until it is read to its end, and not after, however long it is silent."""

from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession

from headrace import Bounded, F, Kafka, Pipeline, Topic, Tumbling
from headrace.testing import Harness
from tests.tables.on_spark import Item

START = datetime(2026, 1, 1, tzinfo=UTC)


def both() -> Pipeline:
    """Windows over rows of a stream and changes of a table."""
    table = Topic("table", Item, key="k", time="at").table()
    changes = table.changes().select("k")
    rows = Topic("rows", Item, time="at").stream(watermark=Bounded("0 seconds")).select("k")
    windows = rows.union(changes).key_by("k").window("w", Tumbling("10 seconds")).agg(n=F.count("*"))
    return Pipeline("clocks", panes=windows.to(Kafka("panes")))


def item(key: str, seconds: float) -> dict[str, Any]:
    return {"k": key, "g": None, "v": 1, "at": START + timedelta(seconds=seconds)}


def fired(harness: Harness) -> list[tuple[str, int]]:
    panes = harness.run()["panes"]
    return sorted((row["k"], int((row["window"]["start"] - START).total_seconds())) for row in panes)


def test_a_table_holds_time_until_it_is_read_and_never_after(spark: SparkSession) -> None:
    with Harness(both(), spark, by_hand=False) as harness:
        harness.wall_clock(START)
        harness.rows_per_epoch("table", 2)
        harness.feed("table", *(item("t", second) for second in range(6)))
        harness.feed("rows", item("a", 1), item("a", 25))
        # One epoch at a time: the stream is read at once, the table in three epochs.
        found = [harness.epoch()["panes"] for _ in range(3)]
        assert not any(found[:2]), "the table is still being read"
        panes = [row for rows in found for row in rows] + harness.run()["panes"]
        assert {row["k"] for row in panes} == {"a", "t"}
        assert sum(row["n"] for row in panes if row["k"] == "t") == 3, "its changes are netted per epoch"

        harness.feed("rows", item("a", 45))
        assert fired(harness) == [("a", 20)], "a silent table holds nothing up"
        harness.restart()
        harness.feed("rows", item("a", 65))
        assert fired(harness) == [("a", 40)]
