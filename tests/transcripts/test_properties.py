"""What must hold for every declaration, all events, any order and any cut into epochs."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.transcripts.corpus import Case, Epoch, oracles_line, written
from tests.transcripts.declared import END, Dedup, Row, Windowed, micros
from tests.transcripts.declared import top as top_of
from tests.transcripts.made_up import (
    AGGREGATED,
    RUNS,
    STANDING,
    TOPS,
    WINDOWS,
    case,
    epochs,
    in_time,
    made_up,
    steps,
)
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


def aggregated(of: Case) -> Case:
    """Return the same with aggregates, one pane a line, where it has a ranking."""
    [step] = of.steps
    return replace(of, steps=({name: each for name, each in step.items() if name != "top"} | AGGREGATED,))


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
    of = with_step(aggregated(of), accumulate="accumulating")
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
    of = aggregated(of)
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
    of = with_step(aggregated(of), accumulate="discarding")
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
        # The rows of a ranking only become more.
        kept[pane.key, pane.span, pane.values.get("rank")] = replace(pane, change=1)
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
@given(of=made_up(FIXED), top=st.sampled_from(TOPS))
def test_a_ranking_is_told_in_the_panes_that_aggregates_have(of: Case, top: str) -> None:
    numbered = aggregated(with_step(of, accumulate="accumulating"))
    ranked = replace(numbered, steps=({**numbered.steps[0], "top": top},))
    first: dict[Any, list[Pane]] = defaultdict(list)
    for pane in panes(ranked):
        first[pane.key, pane.span, pane.index].append(pane)
    for pane in panes(numbered):
        rows = first.pop((pane.key, pane.span, pane.index))
        assert [row.values["rank"] for row in rows] == list(range(1, len(rows) + 1))
        assert len(rows) == min(pane.values["n"], top_of(top).rows)
        if top == "1 by v desc":
            assert rows[0].values["v"] == pane.values["most"]
        assert {(row.pane, row.last) for row in rows} == {(pane.pane, pane.last)}
    assert not first


@MANY
@given(of=made_up((*FIXED, "session")))
def test_no_change_takes_back_what_it_gives(of: Case) -> None:
    ranked = with_step(of, accumulate="retracting", top=of.steps[0].get("top", TOPS[0]))
    for outcome in outcomes(ranked):
        signs: dict[str, set[int]] = defaultdict(set)
        for pane in outcome.panes:
            line = oracles_line(replace(pane, pane="", index=0, last=False, change=None))
            assert pane.change not in signs[line]
            signs[line].add(pane.change)
        assert all(len(each) == 1 for each in signs.values())


@MANY
@given(step=STANDING, run=RUNS)
def test_changes_of_a_ranking_add_up_to_what_stands(step: dict[str, Any], run: list[Any]) -> None:
    of = case(step, epochs(run, ""))
    standing: dict[Any, Any] = {}
    used: list[Row] = []
    for epoch, outcome in zip(of.epochs, outcomes(of), strict=True):
        late = [row for row, _ in outcome.late]
        assert len(epoch.rows) == outcome.used + len(late)
        used += [row for row in epoch.rows if row not in late]
        for change in outcome.changes:
            place, shown = (change.key, change.rank), (change.value, change.time)
            if change.change < 0:
                assert standing.pop(place) == shown
            else:
                assert place not in standing
                standing[place] = shown
    if "keep" not in step:
        for key in {row.key for row in used}:
            first = top_of(step["top"]).of([row for row in used if row.key == key])
            wanted = [(row.values["v"], row.time) for row in first]
            assert wanted == [standing[key, rank] for rank in range(1, len(first) + 1)]


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
