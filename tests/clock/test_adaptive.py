"""The adaptive watermark in a running query: what tasks report is learned once, kept, and taken up again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.clock.running import NONE, SECOND, Clocked

Make = Callable[..., Clocked]

AT_MOST = 120
WARM = 200
"""Rows until the lag is learned, for a completeness of 0.9."""
POLICY = {"kind": "adaptive", "completeness": 0.9, "at_most": AT_MOST * SECOND, "idle": 30_000}
EPOCH = 100


def disordered(rows: int, late: float, *, begin: int = 1_000, step: float = 1, seed: int = 1) -> list[float]:
    """Event times that go on by a step each row; each row is late by up to so many seconds."""
    generator = random.Random(seed)
    return [begin + int(row * step - generator.uniform(0, late)) for row in range(rows)]


def lateness(times: list[float]) -> Iterator[float]:
    highest = float("-inf")
    for at in times:
        highest = max(highest, at)
        yield highest - at


@pytest.fixture
def learning(clocked: Make) -> Make:
    def make(**other: Any) -> Clocked:
        one = clocked({"payments": POLICY}, fronts=1, **other)
        # Two of them in one test must not share their checkpoint.
        one.folder /= one.id
        one.rows_per_epoch("payments", EPOCH)
        return one

    return make


def told(one: Clocked) -> dict[str, Any]:
    found: dict[str, Any] = one.status()["sources"]["payments"]
    return found


def test_the_lag_is_the_quantile_of_how_late_rows_are(learning: Make) -> None:
    one = learning()
    times = disordered(WARM, 20)
    one.feed("payments", 0, *times)
    epochs = one.run()
    exact = sorted(lateness(times))[int(0.9 * len(times)) - 1]
    assert told(one)["lag"] / SECOND == pytest.approx(exact, abs=1.1)
    assert told(one)["rows"] == len(times)
    assert not told(one)["learning"]
    # The longest lag until it is warm, which two epochs take; W is then what the last rows and the lag say.
    assert epochs[0].watermarks == {1: NONE}
    assert epochs[1].watermarks == {1: int(max(times[:EPOCH]) - AT_MOST) * SECOND}
    assert epochs[-1].watermarks == {1: int(max(times)) * SECOND - told(one)["lag"]}


def test_completeness_is_measured_against_the_watermark_that_each_epoch_had(learning: Make) -> None:
    one = learning()
    one.feed("payments", 0, *disordered(10 * EPOCH, 20, step=0.05))
    epochs = one.run()
    behind = sum(at < epoch.watermarks[1] for epoch in epochs for _, _, at in epoch.rows)
    assert behind > 0
    assert told(one)["behind"] == behind
    assert 0.85 < told(one)["completeness"] < 1


def test_partitions_are_measured_apart(learning: Make) -> None:
    one = learning()
    one.partitions("payments", 2)
    one.rows_per_epoch("payments", 0)
    # In order within each, and an hour apart.
    one.feed("payments", 0, *range(5_000, 5_000 + WARM))
    one.feed("payments", 1, *range(1_400, 1_400 + WARM))
    one.run()
    assert told(one)["lag"] == 0
    assert one.watermark() == (1_400 + WARM - 1) * SECOND


def test_lateness_goes_on_from_one_epoch_to_the_next(learning: Make) -> None:
    one = learning()
    one.rows_per_epoch("payments", 1)
    one.feed("payments", 0, 100, 90, 95)
    one.run()
    one.rows_per_epoch("payments", 0)
    one.feed("payments", 0, *[40] * WARM)
    one.run()
    # All but one of the first were late, measured against what an earlier epoch had seen.
    assert told(one)["lag"] / SECOND == pytest.approx(60, rel=0.02)


def test_a_task_that_is_tried_twice_counts_once(learning: Make) -> None:
    once, twice = learning(), learning()
    twice.fronts = 2
    for one in (once, twice):
        one.partitions("payments", 3)
        for partition in range(3):
            one.feed("payments", partition, *disordered(2 * EPOCH, 20, seed=partition))
        one.run()
    assert told(twice)["rows"] == told(once)["rows"] == 6 * EPOCH
    assert list(twice.states().values()) == list(once.states().values())
    assert [e.watermarks for e in twice.epochs] == [e.watermarks for e in once.epochs]


def test_a_restart_goes_on_with_what_was_learned(learning: Make) -> None:
    whole, cut = learning(), learning()
    times = disordered(8 * EPOCH, 20)
    whole.feed("payments", 0, *times)
    whole.run()
    cut.feed("payments", 0, *times[: 4 * EPOCH])
    cut.run()
    lag = told(cut)["lag"]
    assert 0 < lag < AT_MOST * SECOND
    # Nothing new: what it knows now is from the checkpoint.
    assert cut.run() == []
    assert told(cut)["lag"] == lag
    cut.feed("payments", 0, *times[4 * EPOCH :])
    cut.run()
    assert list(cut.states().values())[-1] == list(whole.states().values())[-1]
    assert cut.watermark() == whole.watermark()


def test_a_replayed_epoch_runs_under_its_logged_watermark_and_is_learned_once(learning: Make) -> None:
    whole, crashed = learning(), learning()
    times = disordered(6 * EPOCH, 20)
    for one in (whole, crashed):
        one.feed("payments", 0, *times)
    whole.run()
    before = crashed.crash(4)[-1]
    # It learned nothing of the epoch that died, although its tasks had reported.
    replayed, *later = crashed.run()
    assert (replayed.number, replayed.seen) == (4, before.seen)
    assert [e.watermarks for e in (replayed, *later)] == [e.watermarks for e in whole.epochs[4:]]
    assert crashed.states() == whole.states()


def test_dying_after_a_commit_loses_nothing_that_was_learned(learning: Make) -> None:
    one = learning()
    one.feed("payments", 0, *disordered(5 * EPOCH, 20))
    epochs = one.run()
    one.die_after_commit_of(3)
    assert [e.watermarks for e in one.run()] == [e.watermarks for e in epochs[4:]]


def test_the_watermark_stays_when_the_lag_grows(learning: Make) -> None:
    one = learning()
    one.feed("payments", 0, *range(1_000, 1_000 + 4 * EPOCH))
    one.run()
    before = one.watermark()
    assert before == (1_000 + 4 * EPOCH - 1) * SECOND
    one.feed("payments", 0, *disordered(4 * EPOCH, 60, begin=1_400))
    watermarks = [e.watermarks[1] for e in one.run()]
    assert told(one)["lag"] > 15 * SECOND
    assert watermarks == sorted(watermarks)
    assert watermarks[0] == before


def test_what_is_learned_is_not_in_the_offset(learning: Make) -> None:
    one = learning()
    one.feed("payments", 0, *disordered(3 * EPOCH, 20))
    one.run()
    for epoch in one.logged("offsets"):
        assert set(one.offsets(epoch)["headrace_clock"]) == {"watermarks", "programs", "tick"}
    last = list(one.states().values())[-1]
    assert last["format"] == 2
    assert last["learned"]["payments"]["kind"] == "adaptive"


def test_another_policy_takes_over_and_learns_from_then_on(clocked: Make) -> None:
    one = clocked()
    one.feed("payments", 0, *disordered(WARM, 20))
    one.run()
    one.sources = {"payments": POLICY}
    one.fronts = 1
    one.feed("payments", 0, *disordered(WARM, 20, begin=1_200))
    one.run()
    assert told(one)["rows"] == WARM
    # And back.
    one.sources = {"payments": {"kind": "bounded", "lag": SECOND, "idle": 30_000}}
    one.feed("payments", 0, 5_000)
    one.run()
    assert one.watermark() == 4_999 * SECOND
