"""Event time, as it is kept per partition: lagging, idle, never heard from."""

from functools import reduce
from pathlib import Path

from pyspark.sql import SparkSession

from headrace import Kafka, Pipeline
from headrace.testing import Harness
from tests.pipeline.shop import at, batch, panes, per_shop, pipeline, sale, sales


def test_a_partition_that_lags_ten_minutes_behind_loses_nothing(spark: SparkSession) -> None:
    ahead = [sale(number, 600 + number, shop="ahead") for number in range(60)]
    behind = [sale(100 + number, number, shop="behind") for number in range(60)]
    with Harness(pipeline(sales()), spark, by_hand=False) as harness:
        harness.wall_clock("2026-01-01T01:00:00Z").partitions("sales", 2).rows_per_epoch("sales", 25)
        # What was written first is read first: the second partition waits, full, for many epochs.
        harness.feed("sales", *ahead, partition=0).feed("sales", *behind, partition=1)
        harness.run()
        assert not harness.rows("late")
        assert {shop for shop, _ in panes(harness.rows("panes"))} <= {"behind"}
        harness.feed("sales", *(sale(900 + n, 700, shop="end") for n in range(2)), partition=0)
        harness.feed("sales", *(sale(910 + n, 700, shop="end") for n in range(2)), partition=1)
        harness.run()
        harness.feed("sales", sale(999, 1, shop="late"), partition=0).run()
        assert [row["id"] for row in harness.rows("late")] == ["999"]
        assert panes(harness.rows("panes")) == batch([*ahead, *behind])


def test_an_idle_partition_holds_nothing_up_longer_than_its_timeout(spark: SparkSession) -> None:
    with Harness(pipeline(sales(idle="30 seconds")), spark, by_hand=False) as harness:
        harness.wall_clock("2026-01-01T01:00:00Z").partitions("sales", 2)
        harness.feed("sales", sale(1, 1), sale(2, 100), partition=0)
        assert not harness.run()["panes"]
        harness.wall_clock("2026-01-01T01:00:29Z")
        assert not harness.run()["panes"]
        harness.feed("sales", sale(3, 101), partition=0)
        harness.run()
        harness.wall_clock("2026-01-01T01:00:31Z")
        harness.run()
        assert panes(harness.rows("panes")) == {("a", 0): (1, 1)}


def test_unread_rows_are_never_idle_however_long_it_takes(spark: SparkSession) -> None:
    with Harness(pipeline(sales(idle="1 second")), spark, by_hand=False) as harness:
        harness.wall_clock("2026-01-01T01:00:00Z").partitions("sales", 2).rows_per_epoch("sales", 1)
        harness.feed("sales", *(sale(n, 100 + n) for n in range(5)), partition=0)
        harness.feed("sales", *(sale(10 + n, n, shop="b") for n in range(5)), partition=1)
        harness.run()
        harness.wall_clock("2026-01-01T09:00:00Z")
        harness.run()
        assert not harness.rows("late")


def test_windows_fire_without_rows_after_a_restart(spark: SparkSession) -> None:
    """Dying between a commit and the next offset, with nothing new after it, still fires the windows."""
    with Harness(pipeline(sales(lag="0 seconds")), spark, by_hand=False) as harness:
        harness.wall_clock("2026-01-01T01:00:00Z").rows_per_epoch("sales", 2)
        harness.feed("sales", sale(1, 1), sale(2, 15))
        harness.run()
        harness.restart()
        harness.run()
        assert panes(harness.rows("panes")) == {("a", 0): (1, 1)}


def test_time_by_hand_reaches_groups_that_are_silent(spark: SparkSession) -> None:
    with Harness(pipeline(sales()), spark) as harness:
        harness.feed("sales", *(sale(n, 1, shop=f"s{n}") for n in range(40)))
        assert not harness.run()["panes"]
        harness.advance("sales", at(9.999))
        assert not harness.run()["panes"]
        harness.advance("sales", at(10))
        assert len(harness.run()["panes"]) == 40
        harness.feed("sales", sale(99, 9.9), sale(98, 10))
        harness.advance("sales", at(20))
        out = harness.run()
        assert [row["id"] for row in out["late"]] == ["99"]
        assert [row["last"] for row in out["panes"]] == ["98"]


def test_draining_returns_what_was_not_looked_at_before_it_too(spark: SparkSession) -> None:
    stream = sales()
    both = Pipeline("both", all=stream.to(Kafka("all")), panes=per_shop(stream).to(Kafka("panes")))
    with Harness(both, spark) as harness:
        harness.feed("sales", sale(1, 1))
        out = harness.drain()
        assert [row["id"] for row in out["all"]] == ["1"]
        assert len(out["panes"]) == 1


def test_a_topic_that_joins_an_old_window_goes_on_and_its_old_rows_are_late(
    spark: SparkSession, tmp_path: Path
) -> None:
    def from_(*topics: str) -> Pipeline:
        streams = [sales(topic=topic) for topic in topics]
        stream = reduce(lambda one, other: one.union(other), streams)
        windows = per_shop(stream)
        return Pipeline("joined", panes=windows.to(Kafka("panes")), late=windows.late.to(Kafka("late")))

    first = [sale(number, number) for number in range(30)]
    with Harness(from_("a"), spark, by_hand=False, checkpoint=str(tmp_path), feed="joined") as harness:
        harness.feed("a", *first).run()
        assert panes(harness.rows("panes")).keys() == {("a", 0), ("a", 10)}
    with Harness(from_("a", "b"), spark, by_hand=False, checkpoint=str(tmp_path), feed="joined") as harness:
        harness.feed("b", sale(100, 5), sale(101, 25)).run()
        harness.restart()
        harness.feed("b", sale(102, 6), sale(103, 50)).feed("a", sale(104, 45)).run()
        assert [row["id"] for row in harness.rows("late")] == ["100", "102"]
        assert panes(harness.rows("panes")) == {("a", 20): (11, 11)}
