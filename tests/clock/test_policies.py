"""Watermarks that follow from something else than a lag: order, marked rows, the wall clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace import (
    Adaptive,
    AtWatermark,
    Every,
    F,
    Kafka,
    Perfect,
    Pipeline,
    ProcessingTime,
    Punctuated,
    Topic,
    Tumbling,
    Watermark,
    record,
)
from headrace.declare.trigger import Trigger
from headrace.testing import Harness
from tests.clock.running import END, SECOND, Clocked

Make = Callable[..., Clocked]
Start = Callable[..., Harness]


@record
class Reading:
    """What a sensor sends: some rows say how far it is."""

    sensor: str
    at: datetime
    complete: bool | None = None
    up_to: datetime | None = None


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(1_767_225_600 + seconds, UTC)


def reading(seconds: int, *, complete: bool | None = None, up_to: int | None = None) -> dict[str, Any]:
    said = None if up_to is None else at(up_to).isoformat()
    return {"sensor": "a", "at": at(seconds).isoformat(), "complete": complete, "up_to": said}


@pytest.fixture
def start(spark: SparkSession) -> Iterator[Start]:
    made: list[Harness] = []

    def make(
        watermark: Watermark, partitions: int = 1, *, trigger: Trigger | None = None, chained: bool = False
    ) -> Harness:
        readings = Topic("readings", Reading, time="at").stream(watermark=watermark)
        tens = readings.key_by("sensor").window("counts", Tumbling("10 seconds"), trigger=trigger)
        counts = tens.agg(n=F.count("*"))
        late = counts.late
        if chained:
            counts = counts.key_by("n").window("alike", Tumbling("20 seconds")).agg(windows=F.count("*"))
        pipeline = Pipeline("sensors", counts=counts.to(Kafka("counts")), late=late.to(Kafka("late")))
        one = Harness(pipeline, spark, by_hand=False)
        made.append(one)
        return one.partitions("readings", partitions)

    yield make
    for one in made:
        one.stop()


def watermark(one: Harness) -> float | None:
    found = json.loads(one._clock.status())["sources"]["readings"]["watermark"]
    return None if found is None else found / SECOND - at(0).timestamp()


def test_perfect_is_the_least_of_all_partitions_and_has_no_lag(start: Start) -> None:
    one = start(Perfect(), partitions=2)
    one.feed("readings", reading(5), reading(12), partition=0)
    assert one.run()["counts"] == []
    # However long the other one is silent.
    one.wall_clock(at(100_000)).run()
    one.wall_clock(at(200_000)).run()
    assert watermark(one) is None
    one.feed("readings", reading(11), partition=1)
    assert [row["n"] for row in one.run()["counts"]] == [1]
    assert watermark(one) == 11


def test_only_marked_rows_move_a_punctuated_watermark(start: Start) -> None:
    one = start(Punctuated("complete"), partitions=2)
    one.feed("readings", reading(5), reading(95), reading(25, complete=False), partition=0)
    one.feed("readings", reading(30, complete=True), partition=1)
    assert one.run()["counts"] == []
    assert watermark(one) is None
    one.feed("readings", reading(20, complete=True), partition=0)
    new = one.run()
    assert watermark(one) == 20
    assert [row["n"] for row in new["counts"]] == [1]
    # The windows go by the rows' own times.
    one.feed("readings", reading(3), reading(21), partition=0)
    assert [row["at"] for row in one.run()["late"]] == [at(3)]


def test_a_time_in_a_marked_row_is_the_watermark_itself(start: Start) -> None:
    one = start(Punctuated("up_to"))
    one.feed("readings", reading(5), reading(50, up_to=15), reading(60))
    assert [row["n"] for row in one.run()["counts"]] == [1]
    assert watermark(one) == 15
    # Further ahead of its own row than can be true.
    one.feed("readings", reading(61, up_to=100_000))
    one.run()
    assert watermark(one) == 15


def test_a_partition_without_a_mark_for_its_timeout_is_idle_whatever_else_it_gets(start: Start) -> None:
    one = start(Punctuated("complete", idle="30 seconds"), partitions=2)
    one.wall_clock(at(0))
    one.feed("readings", reading(1, complete=True), partition=0)
    one.feed("readings", reading(25, complete=True), partition=1)
    one.run()
    one.wall_clock(at(29)).feed("readings", reading(2), partition=0)
    one.feed("readings", reading(26, complete=True), partition=1)
    one.run()
    assert watermark(one) == 1
    one.wall_clock(at(31)).feed("readings", reading(3), partition=0)
    # An epoch of its own: the clock comes after what it has read.
    one.run()
    assert watermark(one) == 26
    one.feed("readings", reading(30, complete=True), partition=0)
    one.run()
    assert watermark(one) == 26


def test_marked_rows_survive_a_restart(start: Start) -> None:
    one = start(Punctuated("complete"))
    one.feed("readings", reading(5), reading(15, complete=True))
    one.run()
    one.restart()
    one.feed("readings", reading(3), reading(16))
    assert len(one.run()["late"]) == 1
    assert watermark(one) == 15


def test_a_declared_adaptive_watermark_learns_from_rows_that_are_read(start: Start) -> None:
    one = start(Adaptive(completeness=0.9, at_most="1 minute"))
    one.feed("readings", *(reading(60 + second - 7 * (second % 5 == 0)) for second in range(200)))
    one.run()
    told = json.loads(one._clock.status())["sources"]["readings"]
    assert told["rows"] == 200
    # Every fifth row is six seconds below the one before it.
    assert told["lag"] / SECOND == pytest.approx(6, rel=0.01)
    assert watermark(one) == pytest.approx(60 + 199 - told["lag"] / SECOND)
    one.restart().run()
    assert json.loads(one._clock.status())["sources"]["readings"]["lag"] == told["lag"]


def test_rows_are_learned_from_once_however_many_operators_come_after(start: Start) -> None:
    one = start(Adaptive(completeness=0.9, at_most="1 minute"), chained=True)
    one.rows_per_epoch("readings", 30)
    one.feed("readings", *(reading(60 + second) for second in range(100)))
    assert one.run()["counts"]
    assert json.loads(one._clock.status())["sources"]["readings"]["rows"] == 100


def test_windows_close_and_fire_early_by_a_wall_clock_that_is_moved_by_hand(start: Start) -> None:
    early = AtWatermark(early=Every("3 seconds"))
    one = start(ProcessingTime(lag="4 seconds", every="5 seconds"), trigger=early)
    one.wall_clock(at(0)).run()
    assert watermark(one) == -5
    assert one.feed("readings", reading(1)).run()["counts"] == []
    before = one._collected.epochs()
    # Neither a moment of the one nor of the other is passed, and nothing starts an epoch.
    one.wall_clock(at(1)).run()
    assert one._collected.epochs() == before
    assert [row["pane"] for row in one.wall_clock(at(3)).run()["counts"]] == ["early"]
    assert watermark(one) == -5
    assert one.wall_clock(at(11)).run()["counts"] == []
    assert watermark(one) == 5
    before = one._collected.epochs()
    assert [row["pane"] for row in one.wall_clock(at(14)).run()["counts"]] == ["on_time"]
    assert watermark(one) == 10
    assert one._collected.epochs() == before + 1
    one.restart().feed("readings", reading(2))
    assert [row["at"] for row in one.run()["late"]] == [at(2)]
    assert watermark(one) == 10


WALL = {"kind": "processing-time", "lag": 2 * SECOND, "every": 5 * SECOND}


def test_the_wall_clock_moves_w_in_steps_and_starts_no_epoch_between_them(clocked: Make) -> None:
    one = clocked({"payments": WALL}, wall=1_000_000)
    one.start(processingTime="0 seconds")
    one.until(lambda: one.watermark() == 995 * SECOND)
    one.until(lambda: len(one.epochs) == 1)
    for millis in range(1_000_000, 1_020_000, 50):
        one.clock.wallClock(millis)
        expected = (millis - 2_000) // 5_000 * 5
        one.until(lambda expected=expected: one.watermark() == expected * SECOND)  # type: ignore[misc]
    one.until(lambda: len(one.epochs) == 5)
    assert [t.time // SECOND for e in one.epochs for t in e.ticks] == [995, 1_000, 1_005, 1_010, 1_015]


def test_a_bounded_run_by_the_wall_clock_ends(clocked: Make) -> None:
    # Steps so short that each epoch takes several of them.
    one = clocked({"payments": {"kind": "processing-time", "lag": 0, "every": 1_000}})
    one.rows_per_epoch("payments", 1)
    one.feed("payments", 0, 10, 20, 30)
    epochs = one.run()
    assert sum(len(e.rows) for e in epochs) == 3
    assert len(epochs) <= 5
    one.drain = True
    assert one.run()[-1].watermarks == {1: END}


def test_a_bounded_run_of_early_panes_ends(clocked: Make) -> None:
    programs = [{"id": 1, "sources": ["payments"], "groups": [7], "moments": [1_000]}]
    one = clocked(programs=programs)
    one.rows_per_epoch("payments", 1)
    one.feed("payments", 0, 10, 20, 30)
    assert len(one.run()) <= 5


def test_a_replay_repeats_what_the_wall_clock_was(clocked: Make) -> None:
    one = clocked({"payments": WALL}, wall=1_000_000)
    one.rows_per_epoch("payments", 1)
    one.feed("payments", 0, 10, 20)
    crashed = one.crash(1)[-1]
    one.wall = 9_000_000
    replayed, *later = one.run()
    assert (replayed.number, replayed.seen, replayed.rows) == (1, crashed.seen, crashed.rows)
    assert replayed.watermarks == {1: 995 * SECOND}
    assert later[-1].watermarks == {1: 8_995 * SECOND}
