"""What must hold for every declaration, all events, any order and any cut into epochs."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.transcripts.corpus import Case, Epoch, oracles_line, written
from tests.transcripts.declared import END, Dedup, Row, Windowed, micros
from tests.transcripts.made_up import RUNS, WINDOWS, case, epochs, in_time, made_up, steps
from tests.transcripts.oracle import Chain, Deduplicated, Outcome, Pane

# Where a key and a window are one state: sessions merge, and events of one time have a sliding window each.
FIXED = tuple(kind for kind in WINDOWS if kind not in {"session", "sliding"})
MANY = settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def outcomes(of: Case) -> list[Outcome]:
    chain = Chain(of.declared())
    return [chain.epoch(each.rows, each.watermark, each.clock)[-1] for each in of.epochs]


def panes(of: Case) -> list[Pane]:
    return [pane for outcome in outcomes(of) for pane in outcome.panes]


def with_step(of: Case, **changed: Any) -> Case:
    return replace(of, steps=({**of.steps[0], **changed},))


def shown(changes: Iterable[Pane]) -> Counter[str]:
    """Return what a consumer of changes has in the end, without kind and index."""
    net: Counter[str] = Counter()
    for pane in changes:
        net[oracles_line(replace(pane, pane="", index=0, last=False, change=None))] += pane.change
    return +net


@MANY
@given(of=made_up())
def test_every_row_is_accounted_for_once(of: Case) -> None:
    for epoch, outcome in zip(of.epochs, outcomes(of), strict=True):
        late = [row for row, _ in outcome.late]
        assert len(epoch.rows) == outcome.used + len(late) + len(outcome.rejected)
        assert all(by >= 0 for _, by in outcome.late)
        assert not Counter([*late, *outcome.rejected]) - Counter(epoch.rows)


@MANY
@given(of=made_up(FIXED))
def test_panes_of_a_window_are_numbered_and_end_with_the_last(of: Case) -> None:
    of = with_step(of, accumulate="accumulating")
    told: dict[Any, list[Pane]] = defaultdict(list)
    for pane in panes(of):
        told[pane.key, pane.span].append(pane)
    for each in told.values():
        assert not any(pane.last for pane in each[:-1])
        kinds = [pane.pane for pane in each]
        assert kinds == sorted(kinds, key=["early", "on_time", "late"].index)
        assert [pane.index for pane in each] == list(range(len(each)))
        assert kinds.count("on_time") <= 1


@MANY
@given(of=made_up(FIXED))
def test_discarding_panes_add_up_to_accumulating_ones(of: Case) -> None:
    so_far: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    both = zip(
        panes(with_step(of, accumulate="discarding")),
        panes(with_step(of, accumulate="accumulating")),
        strict=True,
    )
    for part, whole in both:
        assert (part.key, part.span, part.pane, part.index) == (
            whole.key,
            whole.span,
            whole.pane,
            whole.index,
        )
        sums = so_far[part.key, part.span]
        sums[0] += part.values["n"]
        sums[1] += part.values["total"] or 0
        assert sums == [whole.values["n"], whole.values["total"] or 0]


@MANY
@given(of=made_up())
def test_discarding_panes_show_every_row_once(of: Case) -> None:
    of = with_step(of, accumulate="discarding")
    step = of.declared()[0]
    assert isinstance(step, Windowed)
    in_panes = sum(pane.values["n"] for pane in panes(of))
    used = sum(outcome.used for outcome in outcomes(of))
    if step.window.__class__.__name__ in {"Tumbling", "Session", "Global", "Custom"}:
        assert in_panes == used
    else:
        assert in_panes >= used


@MANY
@given(of=made_up(FIXED))
def test_retracting_panes_leave_the_last_value(of: Case) -> None:
    kept: dict[Any, Pane] = {}
    for pane in panes(with_step(of, accumulate="accumulating")):
        kept[pane.key, pane.span] = replace(pane, change=1)
    assert shown(panes(with_step(of, accumulate="retracting"))) == shown(kept.values())


@MANY
@given(of=made_up())
def test_a_retraction_takes_back_what_was_shown(of: Case) -> None:
    standing: Counter[str] = Counter()
    for pane in panes(with_step(of, accumulate="retracting")):
        line = oracles_line(replace(pane, last=False, change=None))
        assert pane.change == 1 or standing[line] >= 1
        standing[line] += pane.change


@MANY
@given(of=made_up())
def test_in_time_the_end_does_not_depend_on_the_cuts(of: Case) -> None:
    of = with_step(in_time(of), accumulate="retracting")
    assert not any(outcome.late for outcome in outcomes(of))
    rows = tuple(row for epoch in of.epochs for row in epoch.rows)
    at_once = replace(of, epochs=(Epoch(rows), Epoch((), END, of.epochs[-1].clock)))
    assert shown(panes(of)) == shown(panes(at_once))


@MANY
@given(of=made_up(), random=st.randoms(use_true_random=False))
def test_the_order_within_an_epoch_does_not_show(of: Case, random: Any) -> None:
    mixed = []
    for epoch in of.epochs:
        rows = list(epoch.rows)
        random.shuffle(rows)
        mixed.append(replace(epoch, rows=tuple(rows)))
    for one, other in zip(outcomes(of), outcomes(replace(of, epochs=tuple(mixed))), strict=True):
        assert written([one]) == written([other])


@MANY
@given(step=steps(), run=RUNS)
def test_an_epoch_of_nothing_changes_nothing(step: dict[str, Any], run: list[Any]) -> None:
    of = case(step, epochs(run, step["window"]))
    spread = [part for epoch in of.epochs for part in (epoch, Epoch())]
    found = [written([each]) for each in outcomes(replace(of, epochs=tuple(spread)))]
    assert found[::2] == [written([each]) for each in outcomes(of)]
    assert not any(found[1::2])


@MANY
@given(run=RUNS)
def test_what_dedup_passes_is_farther_apart_than_the_bound(run: list[Any]) -> None:
    step = Deduplicated(Dedup("5 seconds"))
    passed: dict[str, list[Row]] = defaultdict(list)
    for epoch in epochs(run, "Global()"):
        outcome = step.epoch(epoch.rows, epoch.watermark)
        assert len(epoch.rows) == outcome.used + len(outcome.late) + len(outcome.duplicates)
        for row in outcome.passed:
            assert all(abs(row.time - other.time) > micros("5 seconds") for other in passed[row.key])
            passed[row.key].append(row)
        for row in outcome.duplicates:
            assert any(abs(row.time - other.time) <= micros("5 seconds") for other in passed[row.key])
