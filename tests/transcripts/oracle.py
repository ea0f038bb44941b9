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
    Standing,
    Top,
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


@dataclass(frozen=True)
class Change:
    """A row that came to a rank of a standing ranking, or left it."""

    key: Any
    rank: int
    value: Any
    time: int
    change: int


@dataclass
class Outcome:
    """What leaves a step in one epoch. `used` counts rows, so that all that came in are accounted for."""

    panes: list[Pane] = field(default_factory=list)
    passed: list[Row] = field(default_factory=list)
    late: list[tuple[Row, float]] = field(default_factory=list)
    rejected: list[Row] = field(default_factory=list)
    duplicates: list[Row] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
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
        made = [{name: AGGREGATES[name](rows) for name in declared.aggregates}]
        if declared.top:
            made = ranked(declared.top, rows)
        last = self._closing(state.span)
        given = [Pane(state.key, state.span, values, kind, state.index, last) for values in made]
        state.fresh, state.due = [], set()
        state.index += 1
        state.on_time_done |= kind != "early"
        if declared.accumulate != "retracting":
            return given
        given = [replace(pane, change=1) for pane in given]
        # Of a ranking only what differs is taken back and given; what stands as before was given then.
        netted = [
            (old, new)
            for old in state.shown
            for new in given
            if declared.top and (old.span, old.values) == (new.span, new.values)
        ]
        left = [old for old in state.shown if not any(old is same for same, _ in netted)]
        came = [new for new in given if not any(new is same for _, same in netted)]
        state.shown = [*came, *(old for old, _ in netted)]
        return [*(replace(old, last=False, change=-1) for old in left), *came]


def ranked(top: Top, rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return what each rank shows: the rank, and the row's value and time."""
    first = enumerate(top.of(rows), start=1)
    return [{"rank": rank, "v": row.values["v"], "at": row.time} for rank, row in first]


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


class Rankings:
    """The first rows of every key; `key` of a row is what it is ranked among."""

    def __init__(self, declared: Standing, *, chained: bool = False) -> None:
        self.top = declared.top
        self.keep = None if declared.keep is None else micros(declared.keep)
        self.chained = chained
        self.watermark = NONE
        self.kept: dict[Any, list[Row]] = defaultdict(list)

    def epoch(self, rows: Sequence[Row], watermark: int | None = None, clock: int | None = None) -> Outcome:  # noqa: ARG002
        before = self.watermark
        self.watermark = before if watermark is None else max(before, watermark)
        judge = before if self.chained else self.watermark
        shown = {key: self._ranks(key) for key in self.kept}
        outcome = Outcome()
        for row in rows:
            if self._is_over(row.time, judge):
                outcome.late.append((row, (judge - row.time) / SECOND))
            else:
                outcome.used += 1
                self.kept[row.key].append(row)
        if self.watermark < END:
            for key, kept in list(self.kept.items()):
                if self._is_over(max(row.time for row in kept), self.watermark):
                    del self.kept[key]
        for key in {*shown, *self.kept}:
            stood, stands = shown.get(key, []), self._ranks(key)
            outcome.changes += [Change(key, *place, -1) for place in stood if place not in stands]
            outcome.changes += [Change(key, *place, 1) for place in stands if place not in stood]
        return outcome

    def _ranks(self, key: Any) -> list[tuple[int, Any, int]]:
        first = self.top.of(self.kept.get(key, []))
        return [(rank, row.values["v"], row.time) for rank, row in enumerate(first, start=1)]

    def _is_over(self, time: int, watermark: int) -> bool:
        return self.keep is not None and watermark >= min(time + self.keep, END)


class Chain:
    """Steps in a row: the panes, or passed rows, of one are the rows of the next in the same epoch."""

    def __init__(self, steps: list[Windowed | Dedup | Standing]) -> None:
        self.steps = [_machine(step, chained=place > 0) for place, step in enumerate(steps)]

    def epoch(
        self, rows: Sequence[Row], watermark: int | None = None, clock: int | None = None
    ) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for number, step in enumerate(self.steps):
            if outcomes:
                rows = _handed_on(outcomes[-1], number)
            outcomes.append(step.epoch(rows, watermark, clock))
        return outcomes


def _machine(step: Windowed | Dedup | Standing, *, chained: bool) -> Windows | Deduplicated | Rankings:
    match step:
        case Dedup():
            return Deduplicated(step)
        case Standing():
            return Rankings(step, chained=chained)
    return Windows(step, chained=chained)


def _handed_on(outcome: Outcome, number: int) -> list[Row]:
    """A pane happens at the last instant of its window; its `total`, or the ranked value, is read next."""
    panes = [
        Row(pane.key, pane.span.until - 1, (-number, 0, place), {"v": handed(pane.values)})
        for place, pane in enumerate(outcome.panes)
    ]
    return [*outcome.passed, *panes]


def handed(values: dict[str, Any]) -> Any:
    """Return the value that a step after this one reads."""
    return values["total"] if "total" in values else values["v"]
