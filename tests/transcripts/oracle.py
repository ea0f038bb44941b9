"""What windows, triggers and lateness mean, in plain Python: every row is kept and nothing is clever.

A step takes epochs (rows, and perhaps a tick: watermark and processing time) and returns what leaves it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.transcripts.declared import (
    AGGREGATES,
    END,
    NONE,
    SECOND,
    AfterAll,
    AfterAny,
    AfterCount,
    AtWatermark,
    Dedup,
    Due,
    Every,
    Final,
    Row,
    Session,
    Sliding,
    Span,
    Windowed,
    micros,
    periods,
)


@dataclass(frozen=True)
class Pane:
    """One row of a window's result."""

    key: Any
    span: Span
    values: dict[str, Any] = field(hash=False)
    pane: str
    index: int
    last: bool
    change: int | None = None


@dataclass
class Outcome:
    """What leaves a step in one epoch. `used` counts rows, so that all that came in are accounted for."""

    panes: list[Pane] = field(default_factory=list)
    passed: list[Row] = field(default_factory=list)
    late: list[tuple[Row, float]] = field(default_factory=list)
    rejected: list[Row] = field(default_factory=list)
    duplicates: list[Row] = field(default_factory=list)
    used: int = 0


@dataclass
class State:
    """A key and window (and event, where each has its own); `fresh` and `due` since the last pane."""

    key: Any
    span: Span
    event: tuple[int, int, int] | None = None
    rows: list[Row] = field(default_factory=list)
    fresh: list[Row] = field(default_factory=list)
    index: int = 0
    on_time_done: bool = False
    due: set[int] = field(default_factory=set)
    shown: list[Pane] = field(default_factory=list)

    @property
    def id(self) -> tuple[Any, ...]:
        return self.key, self.span, self.event

    def add(self, row: Row) -> None:
        self.rows.append(row)
        self.fresh.append(row)


def in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.time, row.position))


class Windows:
    """A window step. A `chained` one, downstream of another, judges rows by the watermark before."""

    def __init__(self, declared: Windowed, *, chained: bool = False) -> None:
        self.declared = declared
        self.chained = chained
        self.lateness = micros(declared.lateness)
        self.watermark = NONE
        self.clock: int | None = None
        self.states: dict[tuple[Any, ...], State] = {}
        self.kept: dict[Any, list[Row]] = defaultdict(list)

    def epoch(self, rows: Sequence[Row], watermark: int | None = None, clock: int | None = None) -> Outcome:
        before = self.watermark
        self.watermark = before if watermark is None else max(before, watermark)
        judge = before if self.chained else self.watermark
        outcome = Outcome()
        outcome.rejected = [row for row in rows if not self.declared.window.of(row)]
        good = [row for row in in_order(rows) if self.declared.window.of(row)]
        kinds = {Session: self._sessions, Sliding: self._sliding}
        kinds.get(type(self.declared.window), self._plainly)(good, judge, outcome)
        self._remember(clock)
        for state in list(self.states.values()):
            if self._fires(state):
                outcome.panes += self._panes(state)
            if self._closing(state.span):
                del self.states[state.id]
        return outcome

    # ------------------------------------------------------------------ rows

    def _is_late(self, each: Span, judge: int) -> bool:
        return judge >= min(each.until + self.lateness, END)

    def _closing(self, each: Span) -> bool:
        return self._is_late(each, self.watermark)

    def _too_late(self, row: Row, judge: int, outcome: Outcome) -> None:
        until = max(each.until for each in self.declared.window.of(row))
        outcome.late.append((row, (judge - until) / SECOND))

    def _plainly(self, rows: list[Row], judge: int, outcome: Outcome) -> None:
        for row in rows:
            in_time = [each for each in self.declared.window.of(row) if not self._is_late(each, judge)]
            for each in in_time:
                state = State(row.key, each)
                self.states.setdefault(state.id, state).add(row)
            outcome.used += bool(in_time)
            if not in_time:
                self._too_late(row, judge, outcome)

    def _sliding(self, rows: list[Row], judge: int, outcome: Outcome) -> None:
        """A row's own window decides whether it is late; if not, it is in all windows that hold its time."""
        for row in rows:
            [own] = self.declared.window.of(row)
            if self._is_late(own, judge):
                self._too_late(row, judge, outcome)
                continue
            outcome.used += 1
            self.kept[row.key].append(row)
            self.states[row.key, own, row.position] = State(row.key, own, row.position)
        for state in self.states.values():
            for row in self.kept[state.key]:
                if state.span.start < row.time <= state.span.end and row not in state.rows:
                    state.add(row)

    def _sessions(self, rows: list[Row], judge: int, outcome: Outcome) -> None:
        """Rows in time first; those late on their own are used if they reach a session in any way."""
        late = [row for row in rows if self._is_late(self.declared.window.of(row)[0], judge)]
        for row in rows:
            if row not in late:
                self._join(row, judge)
        found = True
        while found:
            found = False
            for row in sorted(late, key=lambda row: row.time, reverse=True):
                if self._overlapping(row):
                    self._join(row, judge)
                    late.remove(row)
                    found = True
        outcome.used += len(rows) - len(late)
        for row in late:
            self._too_late(row, judge, outcome)

    def _overlapping(self, row: Row) -> list[State]:
        [own] = self.declared.window.of(row)
        mine = [state for state in self.states.values() if state.key == row.key]
        return [each for each in mine if each.span.start < own.end and own.start < each.span.end]

    def _join(self, row: Row, judge: int) -> None:
        [own] = self.declared.window.of(row)
        parts = sorted(self._overlapping(row), key=lambda part: part.span.start)
        start = min([own.start, *(part.span.start for part in parts)])
        end = max([own.end, *(part.span.end for part in parts)])
        merged = State(row.key, Span(start, end, end))
        for part in parts:
            del self.states[part.id]
            merged.rows += part.rows
            merged.fresh += part.fresh
            merged.shown += part.shown
            merged.due |= part.due
            merged.index = max(merged.index, part.index)
            merged.on_time_done |= part.on_time_done
        merged.on_time_done &= end <= judge
        merged.add(row)
        self.states[merged.id] = merged

    # ------------------------------------------------------------------ panes

    def _remember(self, clock: int | None) -> None:
        if clock is None:
            return
        ended = {
            period
            for period in periods(self.declared.trigger)
            if self.clock is not None and clock // period > self.clock // period
        }
        self.clock = clock
        for state in self.states.values():
            if state.fresh:
                state.due |= ended

    def _fires(self, state: State) -> bool:
        closing, trigger = self._closing(state.span), self.declared.trigger
        if isinstance(trigger, Final):
            return closing
        if not isinstance(trigger, AtWatermark):
            return bool(state.fresh) and (closing or _due(trigger, state))
        if self.watermark < state.span.until:
            return trigger.early is not None and bool(state.fresh) and _due(trigger.early, state)
        return not state.on_time_done or (bool(state.fresh) and (closing or _due(trigger.late, state)))

    def _panes(self, state: State) -> list[Pane]:
        declared = self.declared
        kind = "late" if state.on_time_done else "on_time"
        if self.watermark < state.span.until:
            kind = "early"
        rows = in_order(state.fresh if declared.accumulate == "discarding" else state.rows)
        values = {name: AGGREGATES[name](rows) for name in declared.aggregates}
        pane = Pane(state.key, state.span, values, kind, state.index, self._closing(state.span))
        taken_back = []
        if declared.accumulate == "retracting":
            taken_back = [replace(each, last=False, change=-1) for each in state.shown]
            pane = replace(pane, change=1)
        state.shown = [pane]
        state.fresh, state.due = [], set()
        state.index += 1
        state.on_time_done |= kind != "early"
        return [*taken_back, pane]


def _due(trigger: Due, state: State) -> bool:
    match trigger:
        case AfterCount(rows):
            return len(state.fresh) >= rows
        case Every(period):
            return micros(period) in state.due
        case AfterAny(triggers):
            return any(_due(each, state) for each in triggers)
        case AfterAll(triggers):
            return all(_due(each, state) for each in triggers)


class Deduplicated:
    """The first row of an id passes; `key` of a row is its id."""

    def __init__(self, declared: Dedup) -> None:
        self.within = micros(declared.within)
        self.watermark = NONE
        self.accepted: dict[Any, list[Row]] = defaultdict(list)

    def epoch(self, rows: Sequence[Row], watermark: int | None = None, clock: int | None = None) -> Outcome:  # noqa: ARG002
        self.watermark = self.watermark if watermark is None else max(self.watermark, watermark)
        outcome = Outcome()
        for row in in_order(rows):
            if self.watermark >= min(row.time + self.within, END):
                outcome.late.append((row, (self.watermark - row.time) / SECOND))
            elif any(abs(row.time - known.time) <= self.within for known in self.accepted[row.key]):
                outcome.duplicates.append(row)
            else:
                self.accepted[row.key].append(row)
                outcome.passed.append(row)
                outcome.used += 1
        return outcome


class Chain:
    """Steps in a row: the panes, or passed rows, of one are the rows of the next in the same epoch."""

    def __init__(self, steps: list[Windowed | Dedup]) -> None:
        self.steps = [
            Deduplicated(step) if isinstance(step, Dedup) else Windows(step, chained=place > 0)
            for place, step in enumerate(steps)
        ]

    def epoch(
        self, rows: Sequence[Row], watermark: int | None = None, clock: int | None = None
    ) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for number, step in enumerate(self.steps):
            if outcomes:
                rows = _handed_on(outcomes[-1], number)
            outcomes.append(step.epoch(rows, watermark, clock))
        return outcomes


def _handed_on(outcome: Outcome, number: int) -> list[Row]:
    """A pane happens at the last instant of its window, and its `total` is what the next step reads."""
    panes = [
        Row(pane.key, pane.span.until - 1, (-number, 0, place), {"v": pane.values["total"]})
        for place, pane in enumerate(outcome.panes)
    ]
    return [*outcome.passed, *panes]
