"""A fast source waits for a slow one of the same step, and nobody waits for ever."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.clock.running import SECOND, Clocked, Epoch

Make = Callable[..., Clocked]

MINUTE = 60
FAST, SLOW = 0, 1


def reached(epochs: list[Epoch], source: int) -> float:
    return max((at for e in epochs for index, _, at in e.rows if index == source), default=0) / SECOND


def filled(one: Clocked) -> Clocked:
    """The fast one goes an hour in an epoch, the slow one a minute."""
    one.feed("fast", 0, *range(0, 10 * 60 * MINUTE, 6 * MINUTE))
    one.feed("slow", 0, *range(0, 120 * MINUTE, 6))
    one.rows_per_epoch("fast", 10)
    one.rows_per_epoch("slow", 10)
    return one


@pytest.mark.parametrize("clock_first", [False, True])
@pytest.mark.parametrize("names", [("fast", "slow"), ("slow", "fast")])
def test_a_fast_source_runs_ahead_by_the_bound_and_an_epoch_and_all_is_read(
    clocked: Make, names: tuple[str, str], *, clock_first: bool
) -> None:
    fast, slow = names.index("fast"), names.index("slow")
    one = filled(clocked(names, align=10 * MINUTE, clock_first=clock_first))
    epochs = one.run()
    assert sum(len(e.rows) for e in epochs) == 100 + 1_200
    for number, epoch in enumerate(epochs):
        sofar = epochs[: number + 1]
        if len([row for e in sofar for row in e.rows if row[0] == slow]) < 1_190:
            assert reached(sofar, fast) <= reached(sofar, slow) + (10 + 60) * MINUTE, epoch
    # The slow one was never held: it had rows in every epoch until it had none left.
    assert all(any(row[0] == slow for row in e.rows) for e in epochs[:120])


def test_without_a_bound_it_does_not_wait(clocked: Make) -> None:
    one = filled(clocked(("fast", "slow"), align=0))
    assert reached(one.run()[:10], FAST) > 9 * 60 * MINUTE


def test_sources_of_unrelated_steps_do_not_wait_for_each_other(clocked: Make) -> None:
    programs = [
        {"id": 1, "sources": ["fast"], "groups": [7]},
        {"id": 2, "sources": ["slow"], "groups": [7]},
    ]
    one = filled(clocked(("fast", "slow"), align=10 * MINUTE, programs=programs))
    assert reached(one.run()[:10], FAST) > 9 * 60 * MINUTE


def test_nobody_waits_for_a_source_that_is_caught_up_or_was_never_heard_of(clocked: Make) -> None:
    one = clocked(("fast", "slow", "empty"), align=10 * MINUTE)
    one.feed("fast", 0, *range(0, 10 * 60 * MINUTE, 6 * MINUTE))
    one.feed("slow", 0, 60)
    one.rows_per_epoch("fast", 10)
    epochs = one.run()
    assert [len(e.rows) for e in epochs][:11] == [11] + [10] * 9 + ([0] if len(epochs) > 10 else [])


def test_of_epochs_that_are_released_one_by_one_each_has_rows_until_all_is_read(clocked: Make) -> None:
    one = filled(clocked(("fast", "slow"), align=10 * MINUTE))
    one.rows_per_epoch("slow", 100)
    one.hold = True
    one.start(processingTime="0 seconds")
    epochs = one.released(30)
    assert sum(len(e.rows) for e in epochs) == 100 + 1_200
    sources = [{source for source, _, _ in e.rows} for e in epochs]
    # Spark begins with an epoch of its own.
    assert sources[:5] == [set(), {FAST, SLOW}, {SLOW}, {SLOW}, {SLOW}], "the fast one waits"
    assert all(sources[1:-1]), "there is always one that goes on"


def test_waiting_is_told_and_ends(clocked: Make) -> None:
    one = filled(clocked(("fast", "slow"), align=10 * MINUTE))
    held: list[bool] = []
    take = one._epoch

    def watch(batch: object, number: int) -> None:
        take(batch, number)  # type: ignore[arg-type]
        held.append(one.status()["sources"]["fast"]["held"])

    one._epoch = watch  # type: ignore[method-assign]
    one.run()
    assert True in held
    assert one.status()["sources"]["fast"]["held"] is False
    assert one.status()["sources"]["slow"]["held"] is False
