"""The clock source in a running query: each hole of it that was found stays closed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame

from tests.clock.running import DEADLINE, END, NONE, SECOND, Clocked

Make = Callable[..., Clocked]


def test_the_offset_holds_only_w_and_the_tick(clocked: Make) -> None:
    one = clocked()
    one.feed("payments", 0, 100, 90)
    one.run()
    for epoch in one.logged("offsets"):
        clock = one.offsets(epoch)["headrace_clock"]
        assert set(clock) == {"watermarks", "programs", "tick"}
        assert set(clock["watermarks"]) == {"payments"}
    assert one.offsets(0)["headrace_clock"]["watermarks"]["payments"] == NONE
    assert one.offsets(1)["headrace_clock"]["watermarks"]["payments"] == 95 * SECOND
    assert one.logged("offsets") == [0, 1]


def test_ticks_are_rows_one_per_program_and_group(clocked: Make) -> None:
    one = clocked(
        ("payments", "cards"),
        programs=[
            {"id": 1, "sources": ["payments"], "groups": [3, 5]},
            {"id": 2, "sources": ["payments", "cards"], "groups": [8]},
        ],
    )
    one.feed("payments", 0, 100)
    one.feed("cards", 0, 60)
    last = one.run()[-1]
    assert [(t.program, t.grp, t.time) for t in last.ticks] == [
        (1, 3, 95 * SECOND),
        (1, 5, 95 * SECOND),
        (2, 8, 55 * SECOND),
    ]
    assert {t.offset for t in last.ticks} == {one.offsets(last.number)["headrace_clock"]["tick"]}
    assert last.watermarks == {1: 95 * SECOND, 2: 55 * SECOND}


def test_no_epoch_starts_while_w_stands_still(clocked: Make) -> None:
    one = clocked(wall=1_000)
    one.partitions("payments", 2)
    one.feed("payments", 0, 100)
    one.start(processingTime="0 seconds")
    one.until(lambda: one.status()["sources"]["payments"]["partitions"].get("0", {}).get("processed") == 1)
    # Maxima, positions and silence change, W does not: partition 1 was never heard from.
    one.clock.wallClock(20_000)
    one.feed("payments", 0, 200)
    one.until(lambda: len(one.epochs) == 2)
    # Many more polls: the wall clock moves with each look, and stays below the timeout.
    for millis in range(20_001, 20_200):
        one.clock.wallClock(millis)
        time.sleep(0.002)
    assert [e.watermarks for e in one.epochs] == [{1: NONE}, {1: NONE}]


def test_an_epoch_without_a_tick_still_knows_its_watermarks(clocked: Make) -> None:
    one = clocked()
    one.feed("payments", 0, 100)
    one.run()
    # Older events leave W where it is: the clock's offset does not change in this epoch.
    one.feed("payments", 0, 50)
    epochs = one.run()
    assert len(epochs) == 1
    assert epochs[0].ticks == []
    assert epochs[0].watermarks == {1: 95 * SECOND}


def test_dying_between_a_commit_and_the_next_offset_still_fires(clocked: Make) -> None:
    one = clocked()
    one.feed("payments", 0, 100)
    one.run()
    one.die_after_commit_of(0)
    assert one.logged("offsets") == one.logged("commits") == [0]
    # No new data: what is left of the rows' times is in the clock's own state.
    epochs = one.run()
    assert [t.time for e in epochs for t in e.ticks] == [95 * SECOND]


def test_state_of_an_epoch_that_was_not_committed_is_not_taken_up(clocked: Make) -> None:
    one = clocked()
    one.rows_per_epoch("payments", 1)
    one.feed("payments", 0, 100, 200, 300)
    one.run()
    one.die_after_commit_of(0)
    one.rows_per_epoch("payments", 0)
    state = one.checkpoint / "headrace" / "clock" / "1.json"
    state.write_text('{"maxima":{"payments":{"0":900000000}}}')
    first = one.run()[0]
    assert first.watermarks == {1: 95 * SECOND}


def test_a_replayed_epoch_runs_under_its_logged_watermarks(clocked: Make) -> None:
    one = clocked()
    one.rows_per_epoch("payments", 1)
    one.feed("payments", 0, 100, 200)
    (first, crashed) = one.crash(1)
    one.rows_per_epoch("payments", 0)
    one.feed("payments", 0, 900)
    replayed, *later = one.run()
    assert first.watermarks == {1: NONE}
    assert (replayed.number, replayed.seen) == (1, crashed.seen)
    assert (replayed.rows, replayed.ticks) == (crashed.rows, crashed.ticks)
    assert replayed.watermarks == {1: 95 * SECOND}
    assert [e.watermarks[1] for e in later] == [195 * SECOND, 895 * SECOND]


def test_a_replayed_epoch_without_a_tick_runs_under_its_logged_watermarks(clocked: Make) -> None:
    one = clocked()
    one.feed("payments", 0, 100)
    one.run()
    one.feed("payments", 0, 50)
    (crashed,) = one.crash(2)
    one.feed("payments", 0, 300)
    replayed, *later = one.run()
    assert crashed.ticks == replayed.ticks == []
    assert replayed.rows == crashed.rows
    assert replayed.watermarks == crashed.watermarks == {1: 95 * SECOND}
    assert later[-1].watermarks == {1: 295 * SECOND}


def test_unread_backlog_is_never_idle(clocked: Make) -> None:
    one = clocked(wall=0)
    one.partitions("payments", 2)
    one.feed("payments", 0, 100, 1_000)
    one.feed("payments", 1, *range(400, 420))
    one.rows_per_epoch("payments", 3)
    one.start(processingTime="0 seconds")
    # Every look at the source is an hour after the one before.
    hours = iter(range(1, 100_000))

    def finished() -> bool:
        one.clock.wallClock(next(hours) * 3_600_000)
        return one.watermark() == 995 * SECOND

    one.until(finished)
    late = [
        (partition, at) for epoch in one.epochs for _, partition, at in epoch.rows if at < epoch.watermarks[1]
    ]
    assert late == []


def test_a_partition_ten_minutes_behind_loses_nothing(clocked: Make) -> None:
    one = clocked()
    one.partitions("payments", 2)
    one.rows_per_epoch("payments", 10)
    for minute in range(5):
        one.feed("payments", 0, *(600 + minute * 60 + second for second in range(0, 60, 6)))
        one.feed("payments", 1, *(minute * 60 + second for second in range(0, 60, 6)))
    epochs = one.run()
    rows = [(at, epoch.watermarks[1]) for epoch in epochs for _, _, at in epoch.rows]
    assert len(rows) == 100
    assert all(at >= watermark for at, watermark in rows)
    assert epochs[-1].watermarks == {1: (4 * 60 + 54 - 5) * SECOND}


def test_an_idle_partition_holds_nothing_up_longer_than_its_timeout(clocked: Make) -> None:
    one = clocked(wall=1_000)
    one.partitions("payments", 2)
    one.feed("payments", 0, 100)
    one.feed("payments", 1, 50)
    one.start(processingTime="0 seconds")
    one.until(lambda: one.watermark() == 45 * SECOND)
    one.clock.wallClock(30_999)
    one.feed("payments", 0, 200)
    one.until(lambda: len(one.epochs) == 3)
    assert one.watermark() == 45 * SECOND
    one.clock.wallClock(31_100)
    one.until(lambda: one.watermark() == 195 * SECOND)
    assert one.status()["sources"]["payments"]["partitions"]["1"]["standing"] == "idle"


def test_downtime_does_not_age_a_partition(clocked: Make) -> None:
    one = clocked(wall=1_000)
    one.partitions("payments", 2)
    one.feed("payments", 0, 100)
    one.feed("payments", 1, 50)
    one.run()
    one.wall = 10 * 3_600_000
    one.feed("payments", 0, 200)
    assert one.run()[-1].watermarks == {1: 45 * SECOND}


def test_a_partition_added_while_running_joins_as_never_heard(clocked: Make) -> None:
    one = clocked(wall=1_000)
    one.feed("payments", 0, 100)
    one.start(processingTime="0 seconds")
    one.until(lambda: one.watermark() == 95 * SECOND)
    one.partitions("payments", 2)
    one.until(lambda: "1" in one.status()["sources"]["payments"]["partitions"])
    assert one.status()["sources"]["payments"]["partitions"]["1"]["standing"] == "unheard"
    one.feed("payments", 0, 200)
    one.until(lambda: one.status()["sources"]["payments"]["partitions"]["0"]["processed"] == 2)
    assert one.watermark() == 95 * SECOND
    one.feed("payments", 1, 150)
    one.until(lambda: one.watermark() == 145 * SECOND)


def test_a_bounded_run_ends_after_the_last_tick(clocked: Make) -> None:
    one = clocked()
    one.rows_per_epoch("payments", 2)
    one.feed("payments", 0, 10, 20, 30, 40, 50)
    epochs = one.run()
    assert [len(e.rows) for e in epochs] == [2, 2, 1, 0]
    assert [e.watermarks[1] for e in epochs] == [NONE, 15 * SECOND, 35 * SECOND, 45 * SECOND]
    assert [t.time for t in epochs[-1].ticks] == [45 * SECOND]
    # Nothing new: no epoch, and it ends at once.
    assert one.run() == []


def test_a_bounded_run_over_nothing_ends(clocked: Make) -> None:
    assert [e.watermarks for e in clocked().run()] == [{1: NONE}]


@pytest.mark.parametrize("rows", [0, 5])
def test_draining_moves_w_to_the_end_after_the_last_rows_and_ends(clocked: Make, rows: int) -> None:
    one = clocked(drain=True)
    one.partitions("payments", 3)
    one.rows_per_epoch("payments", 2)
    one.feed("payments", 0, *range(10, 10 + rows))
    epochs = one.run()
    assert sum(len(e.rows) for e in epochs) == rows
    assert [e.watermarks[1] for e in epochs if e.rows and e.watermarks[1] == END] == []
    assert [t.time for t in epochs[-1].ticks] == [END]
    assert epochs[-1].watermarks == {1: END}
    assert one.java.clock.Clock.drained(one.checkpoint.as_uri())
    assert one.run() == []


def test_draining_what_was_caught_up_before_closes_it(clocked: Make) -> None:
    one = clocked()
    one.feed("payments", 0, 100)
    one.run()
    assert not one.java.clock.Clock.drained(one.checkpoint.as_uri())
    one.drain = True
    assert [e.watermarks for e in one.run()] == [{1: END}]


@pytest.mark.parametrize("drain", [False, True])
@pytest.mark.parametrize("names", ["ab", "abcdef"])
def test_the_clock_may_be_asked_before_its_sources(clocked: Make, names: str, *, drain: bool) -> None:
    one = clocked(names, clock_first=True)
    for name in names:
        one.feed(name, 0, 100)
    one.run()
    one.die_after_commit_of(0)
    one.drain = drain
    assert one.run()[-1].watermarks == {1: END if drain else 95 * SECOND}


def test_a_source_that_joins_an_old_program_does_not_move_its_w_back(clocked: Make) -> None:
    one = clocked()
    one.feed("payments", 0, 100)
    one.run()
    one.sources["cards"] = one.sources["payments"]
    one.programs[0]["sources"] = ["payments", "cards"]
    one.programs.append({"id": 2, "sources": ["payments", "cards"], "groups": [9]})
    one.feed("cards", 0, 40)
    # The old program has closed what is before 95 s; the new one has closed nothing, and waits for both.
    assert [(e.rows, e.watermarks) for e in one.run()] == [
        ([(1, 0, 40 * SECOND)], {1: 95 * SECOND, 2: NONE}),
        ([], {1: 95 * SECOND, 2: 35 * SECOND}),
    ]
    one.feed("cards", 0, 120)
    assert one.run()[-1].watermarks == {1: 95 * SECOND, 2: 95 * SECOND}


def test_state_is_written_only_when_it_changed(clocked: Make) -> None:
    one = clocked()
    one.feed("payments", 0, 100)
    one.run()
    one.feed("payments", 0, 50)
    one.run()
    one.feed("payments", 0, 300)
    one.run()
    assert one.logged("commits") == [0, 1, 2, 3, 4]
    assert {epoch: state["maxima"]["payments"]["0"] for epoch, state in one.states().items()} == {
        0: 100 * SECOND,
        3: 300 * SECOND,
    }


def test_w_moved_by_hand_is_the_only_w(clocked: Make) -> None:
    one = clocked({"payments": {"kind": "manual"}})
    one.feed("payments", 0, 100)
    one.start(processingTime="0 seconds")
    one.until(lambda: len(one.epochs) == 1)
    one.clock.advance("payments", 42 * SECOND)
    one.until(lambda: len(one.epochs) == 2)
    assert [t.time for t in one.epochs[1].ticks] == [42 * SECOND]
    one.clock.advance("payments", 41 * SECOND)
    assert one.watermark() == 42 * SECOND


def test_w_that_follows_from_events_is_not_moved_by_hand(clocked: Make) -> None:
    one = clocked()
    one.run()
    with pytest.raises(Exception, match="follows from its events"):
        one.clock.advance("payments", 42)


def test_a_clock_without_programs_keeps_nothing(clocked: Make) -> None:
    one = clocked(programs=[])
    one.feed("payments", 0, 100)
    one.run()
    assert one.logged("commits")
    assert one.states() == {}


@pytest.mark.parametrize("interval", ["0 seconds", "1 hour"])
def test_settling_waits_for_the_running_epoch(clocked: Make, interval: str) -> None:
    one = clocked()
    take = one._epoch
    begun, go_on = threading.Event(), threading.Event()

    def slowly(batch: DataFrame, number: int) -> None:
        begun.set()
        assert go_on.wait(DEADLINE)
        take(batch, number)

    one._epoch = slowly  # type: ignore[method-assign]
    one.feed("payments", 0, 100)
    query = one.start(processingTime=interval)
    assert begun.wait(DEADLINE)
    one.clock.freeze()
    settle = one.java.run.Queries.settle
    assert not settle(query._jsq, one.clock, 200)
    go_on.set()
    assert settle(query._jsq, one.clock, 60_000)
    assert one.logged("offsets") == one.logged("commits") == [0]
    one.stop()


def test_a_frozen_clock_lets_the_running_epoch_commit_and_begins_none(clocked: Make) -> None:
    one = clocked()
    one.feed("payments", 0, 100)
    one.start(processingTime="0 seconds")
    one.until(lambda: one.watermark() == 95 * SECOND)
    one.until(lambda: one.logged("commits") == [0, 1])
    one.clock.freeze()
    one.feed("payments", 0, 200, 300)
    time.sleep(0.5)
    one.stop()
    assert one.logged("offsets") == one.logged("commits") == [0, 1]
    assert [at for e in one.run() for _, _, at in e.rows] == [200 * SECOND, 300 * SECOND]
