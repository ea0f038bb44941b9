"""What must hold of every join, all rows, any order and any cut into epochs; on the oracle."""

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.transcripts.declared import END, Row
from tests.transcripts.joins.corpus import STREAMS, Case, Epoch, declared_join
from tests.transcripts.joins.made_up import in_time, made_up
from tests.transcripts.joins.oracle import Join, Joined, Outcome, Result

MANY = settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def outcomes(of: Case) -> list[Outcome]:
    step = Joined(declared_join(of.join))
    return [step.epoch(each.rows["left"], each.rows["right"], each.watermark) for each in of.epochs]


def results(of: Case) -> Counter[tuple[Row | None, Row | None]]:
    return Counter((each.left, each.right) for outcome in outcomes(of) for each in outcome.out)


def rows(of: Case, stream: str) -> list[Row]:
    return [row for epoch in of.epochs for row in epoch.rows[stream]]


def batch(join: Join, left: list[Row], right: list[Row]) -> Counter[tuple[Row | None, Row | None]]:
    """Return what SQL would give over all rows at once."""
    lower, upper = join.bounds
    pairs = [
        (one, other)
        for one in left
        for other in right
        if one.key is not None and one.key == other.key and lower <= other.time - one.time <= upper
    ]
    met = {one for one, _ in pairs}, {other for _, other in pairs}
    if join.how in {"semi", "anti"}:
        return Counter((one, None) for one in left if (one in met[0]) is (join.how == "semi"))
    found: list[tuple[Row | None, Row | None]] = [*pairs]
    found += [(one, None) for one in left if one not in met[0] and join.how in {"left", "full"}]
    found += [(None, other) for other in right if other not in met[1] and join.how in {"right", "full"}]
    return Counter(found)


@MANY
@given(of=made_up())
def test_in_time_the_results_are_those_of_a_batch_join(of: Case) -> None:
    of = in_time(of)
    assert not any(late for outcome in outcomes(of) for late in outcome.late)
    assert results(of) == batch(declared_join(of.join), rows(of, "left"), rows(of, "right"))


@MANY
@given(of=made_up())
def test_late_rows_are_as_if_they_had_never_come(of: Case) -> None:
    late = [{row for outcome in outcomes(of) for row, _ in outcome.late[side]} for side in (0, 1)]
    kept = [
        [row for row in rows(of, stream) if row not in late[side]]
        for side, stream in enumerate(("left", "right"))
    ]
    assert results(of) == batch(declared_join(of.join), *kept)


@MANY
@given(of=made_up(), random=st.randoms(use_true_random=False))
def test_the_order_within_an_epoch_does_not_show(of: Case, random: Any) -> None:
    mixed = []
    for epoch in of.epochs:
        shuffled = {stream: random.sample(epoch.rows[stream], len(epoch.rows[stream])) for stream in STREAMS}
        mixed.append(replace(epoch, rows={stream: tuple(each) for stream, each in shuffled.items()}))
    for one, other in zip(outcomes(of), outcomes(replace(of, epochs=tuple(mixed))), strict=True):
        assert one.out == other.out


@MANY
@given(of=made_up())
def test_results_are_in_time_for_a_step_behind_the_join(of: Case) -> None:
    """They are judged there by the watermark of the epoch before, with the lateness along the chain."""
    of = replace(of, join={**of.join, "lateness": "0 seconds"})
    before = -END
    for epoch, outcome in zip(of.epochs, outcomes(of), strict=True):
        assert all(before < result.time + 1 for result in outcome.out)
        before = max(before, epoch.watermark if epoch.watermark is not None else before)


@MANY
@given(of=made_up())
def test_nothing_is_held_at_the_end_and_all_is_accounted_for(of: Case) -> None:
    step = Joined(declared_join(of.join))
    for epoch in of.epochs:
        outcome = step.epoch(epoch.rows["left"], epoch.rows["right"], epoch.watermark)
        assert len(epoch.rows["left"]) + len(epoch.rows["right"]) == outcome.used + sum(
            map(len, outcome.late)
        )
    assert step.held == ([], [])


def test_an_epoch_of_nothing_gives_nothing() -> None:
    step = Joined(Join("full"))
    nothing: dict[str, tuple[Row, ...]] = dict.fromkeys(STREAMS, ())
    epoch = Epoch(nothing, 0)
    found: list[Result] = step.epoch(epoch.rows["left"], epoch.rows["right"], epoch.watermark).out
    assert found == []
