"""Patterns by their definition: every selection of events is tried, and kept if nothing speaks against it.

A pattern stands for all the ways to write it out without repetitions and without optional steps:
``a b+ c?`` is ``a b``, ``a b b``, ``a b c`` and so on, up to as many steps as there are events. For each of
these *spellings* the events of its steps are chosen in their order, and what is between two of them is looked
at: whether it may be left out, whether it forbids the choice, whether time has run out.

A greedy step that is left stands in the spelling, too: it takes part in what is between its last event and
the next one. It lets go at an event that it does not take and a later step does, or that it can neither take
nor leave out.

Nothing here is fast, and nothing remembers anything from one event to the next.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.patterns.declared import ANY, STRICT, Before, Condition, Declared, NoSkip, Pattern, Step
from tests.transcripts.declared import END, NONE, SECOND, Row

TAKE, LEAVE, NEVER, SEEN, DONE = "take", "leave", "never", "seen", "done"

Choice = tuple[tuple[int, str], ...]
"""Events by their place, each with the step that took it."""

Moment = tuple[int, int, int]
"""When something happens: before an event (its place, 0, the time), or with it (its place, 1, 0)."""


@dataclass(frozen=True)
class Item:
    """One step of a spelling: an event is taken, a greedy step is left, or the pattern ends."""

    kind: str
    step: Step | None = None
    contiguity: str = STRICT
    until: tuple[Condition, ...] = ()
    halts: tuple[Condition, ...] = ()
    stops: tuple[Step, ...] = ()
    not_next: tuple[Step, ...] = ()
    within: int | None = None
    follows: tuple[Step, ...] | None = None
    """Of a greedy step: what may take the next event, None where that is nothing, or anything."""

    def takes(self, event: Row, before: Before) -> bool:
        assert self.step is not None
        return self.step.fits(event, before) and not any(one(event, before) for one in self.until)

    def passes(self, event: Row, before: Before) -> bool:
        assert self.step is not None
        if self.contiguity == STRICT or any(one(event, before) for one in self.halts):
            return False
        return self.contiguity == ANY or not self.step.fits(event, before)

    def lets_go(self, event: Row, before: Before) -> bool:
        if self.takes(event, before):
            return False
        wanted = self.follows is None or any(step.fits(event, before) for step in self.follows)
        return wanted or not self.passes(event, before)


# ------------------------------------------------------------------ spellings


@dataclass(frozen=True)
class _Context:
    """Around the steps of a pattern: how its first one follows, what ends it, and what may come behind it."""

    head: str | None = None
    until: tuple[Condition, ...] = ()
    behind: tuple[Step | None, ...] = ()


def spellings(pattern: Pattern, most: int) -> list[tuple[Item, ...]]:
    """Return all ways to write a pattern out, with up to `most` events; longer ones are cut off there."""
    found = []
    for items, cut in _sequence(pattern.steps, _Context(), most):
        whole = items if cut or (items[-1:] and items[-1].kind in {NEVER, SEEN}) else (*items, Item(DONE))
        found.append(whole)
    return list(dict.fromkeys(found))


def _sequence(steps: Sequence[Step], context: _Context, most: int) -> Iterator[tuple[tuple[Item, ...], bool]]:
    if not steps:
        yield (), False
        return
    nots = _leading(steps)
    if len(nots) == len(steps):
        kind = NEVER if any(step.contiguity != STRICT for step in nots) else SEEN
        yield (_guarded(Item(kind, within=nots[-1].within), nots),), False
        return
    step, rest = steps[len(nots)], steps[len(nots) + 1 :]
    after = _leading(rest)
    stops = tuple(each for each in after if each.contiguity != STRICT)
    behind = _firsts(rest, context.behind)
    for begin, cut in _spelled(step, replace(context, behind=behind), stops, most):
        first = tuple(_guarded(item, nots) if place == 0 else item for place, item in enumerate(begin))
        if cut:
            yield first, True
            continue
        left = most - sum(item.kind == TAKE for item in first)
        for end, cut_later in _sequence(rest, replace(context, head=None), left):
            yield (*first, *end), cut_later


def _leading(steps: Sequence[Step]) -> list[Step]:
    nots: list[Step] = []
    for step in steps:
        if not step.negated:
            break
        nots.append(step)
    return nots


def _guarded(item: Item, nots: Sequence[Step]) -> Item:
    stops = tuple(each for each in nots if each.contiguity != STRICT)
    not_next = tuple(each for each in nots if each.contiguity == STRICT)
    return replace(item, stops=(*item.stops, *stops), not_next=(*item.not_next, *not_next))


def _firsts(steps: Sequence[Step], behind: tuple[Step | None, ...]) -> tuple[Step | None, ...]:
    """Return the steps that may take the first event of what is here; None where it ends in a negation."""
    found: list[Step | None] = []
    for step in steps:
        if step.negated:
            if step is steps[-1]:
                return (*found, None)
            continue
        inside = isinstance(step.what, Pattern)
        found += _firsts(step.what.steps, ()) if inside else [step]  # type: ignore[union-attr]
        if not step.skippable:
            return tuple(found)
    return (*found, *behind)


def _spelled(
    step: Step, context: _Context, stops: tuple[Step, ...], most: int
) -> Iterator[tuple[tuple[Item, ...], bool]]:
    outer = context.head or step.contiguity
    if isinstance(step.what, Pattern):
        yield from _group(step, step.what, context, outer, stops, most)
        return
    until = context.until if step.until is None else (*context.until, step.until)
    first = Item(TAKE, step, outer, until, context.until, within=step.within)
    again = Item(TAKE, step, step.inner, until, until, stops, within=step.within)
    follows = None
    if (
        context.behind
        and None not in context.behind
        and all(each.condition for each in context.behind if each)
    ):
        follows = tuple(each for each in context.behind if each)
    if step.optional:
        yield ((replace(first, kind=LEAVE, follows=follows),) if step.greedy else ()), False
    count = step.least
    while step.most is None or count <= step.most:
        items = (first, *([again] * (count - 1)))
        if count > most:
            yield items[:most], True
            return
        more = step.most is None or count < step.most
        left = (replace(again, kind=LEAVE, follows=follows),) if step.greedy and more else ()
        yield (*items, *left), False
        count += 1


def _group(
    step: Step, inside: Pattern, context: _Context, outer: str, stops: tuple[Step, ...], most: int
) -> Iterator[tuple[tuple[Item, ...], bool]]:
    until = context.until if step.until is None else (*context.until, step.until)
    own = _firsts(inside.steps, ())
    if step.optional:
        yield (), False

    def rounds(number: int, left: int) -> Iterator[tuple[tuple[Item, ...], bool]]:
        more = step.most is None or number < step.most
        behind = (*(own if more else ()), *(context.behind if number >= step.least else ()))
        around = _Context(outer if number == 1 else step.inner, until, behind)
        for items, cut in _sequence(inside.steps, around, left):
            stopped = items
            if number > 1 and items:
                stopped = (replace(items[0], stops=(*items[0].stops, *stops)), *items[1:])
            if cut:
                yield stopped, True
                continue
            if number >= step.least:
                yield stopped, False
            taken = sum(item.kind == TAKE for item in items)
            # A round without events leads nowhere.
            if more and (taken or number < step.least):
                for later, cut_later in rounds(number + 1, left - taken):
                    yield (*stopped, *later), cut_later

    yield from rounds(1, most)


# ------------------------------------------------------------------ choices


@dataclass
class _Fate:
    """What becomes of a choice: when it is a match, and when nothing more can come of it."""

    born: Moment
    known: tuple[Moment, int] | None = None
    """When it was known to be a match, and the time that is said of it."""
    ends: list[tuple[Moment, int | None]] | None = None
    """When each way to go on ended; with the time if that ran out, None if an event was in the way."""
    waits: bool = False
    """Whether there is a way that has not ended."""

    def is_match(self, moment: Moment, time: int) -> None:
        if self.known is None or moment < self.known[0]:
            self.known = (moment, time)

    @property
    def end(self) -> tuple[Moment, int | None] | None:
        """The last way's end, None while one is left."""
        if self.waits:
            return None
        return max(self.ends or [(self.born, None)], key=lambda each: each[0])


class Choices:
    """All choices of some events, each with its fate."""

    def __init__(self, pattern: Pattern, events: Sequence[Row], watermark: int) -> None:
        self.pattern = pattern
        self.events = events
        self.watermark = watermark
        self.fates: dict[Choice, _Fate] = {}
        self._done: set[Any] = set()
        # Numbers in the place of items are quicker to compare.
        self._numbers: dict[Item, int] = {}
        self._items: list[Item] = []
        spelled = [tuple(map(self._number, items)) for items in spellings(pattern, len(events) + 1)]
        for items in spelled:
            for place in range(len(events)):
                self._begin(items, place)

    def _number(self, item: Item) -> int:
        if item not in self._numbers:
            self._numbers[item] = len(self._items)
            self._items.append(item)
        return self._numbers[item]

    def _begin(self, items: tuple[int, ...], place: int) -> None:
        at = 0
        while self._items[items[at]].kind == LEAVE:
            if not self._items[items[at]].lets_go(self.events[place], {}):
                return
            at += 1
        item = self._items[items[at]]
        if item.kind == TAKE and item.takes(self.events[place], {}):
            self._take((), items, at, place)

    def _take(self, choice: Choice, items: tuple[int, ...], at: int, place: int) -> None:
        step = self._items[items[at]].step
        assert step is not None
        assert isinstance(step.what, str)
        self._go_on((*choice, (place, step.what)), items[at + 1 :])

    def _go_on(self, choice: Choice, items: tuple[int, ...]) -> None:  # noqa: C901 - one for each end
        """Look at what comes behind the last event of a choice, in one spelling."""
        if (choice, items) in self._done:
            return
        self._done.add((choice, items))
        last = choice[-1][0]
        fate = self.fates.setdefault(choice, _Fate((last, 1, 0), ends=[]))
        assert fate.ends is not None
        if not items:
            # It was cut off: there are not so many events.
            return
        if self._items[items[0]].kind == DONE:
            fate.is_match((last, 1, 0), self.events[last].time)
            return
        waiting = {0}
        for place in range(last + 1, len(self.events)):
            event = self.events[place]
            self._run_out(choice, items, waiting, fate, place, event.time)
            if not waiting:
                return
            waiting = self._meet(choice, items, waiting, fate, place)
            if not waiting:
                fate.ends.append(((place, 1, 0), None))
                return
        self._run_out(choice, items, waiting, fate, len(self.events), self.watermark)
        if self.watermark == END:
            for at in waiting:
                if self._may_end(items, at):
                    fate.is_match((len(self.events), 1, 0), self.events[last].time)
            if waiting:
                fate.ends.append(((len(self.events), 1, 0), None))
        elif waiting:
            fate.waits = True

    def _meet(  # noqa: C901 - one for each kind of item
        self, choice: Choice, items: tuple[int, ...], waiting: set[int], fate: _Fate, place: int
    ) -> set[int]:
        """Return where a choice waits once an event has come that it may have taken."""
        event, left, reached = self.events[place], set(), set(waiting)
        before = self._before(choice)
        for at in range(len(items)):
            if at not in reached:
                continue
            item = self._items[items[at]]
            if any(step.fits(event, before) for step in item.stops):
                continue
            if place == choice[-1][0] + 1 and any(step.fits(event, before) for step in item.not_next):
                continue
            if item.kind == NEVER:
                left.add(at)
                continue
            if item.kind == SEEN:
                fate.is_match((place, 1, 0), event.time)
                continue
            if item.kind == DONE:
                continue
            if item.passes(event, before):
                left.add(at)
            if item.kind == TAKE and item.takes(event, before):
                self._take(choice, items, at, place)
            if item.kind == LEAVE:
                if self._may_end(items, at) and not item.takes(event, before):
                    fate.is_match((place, 1, 0), event.time)
                if item.lets_go(event, before):
                    reached.add(at + 1)
        return left

    def _before(self, choice: Choice) -> Before:
        if not self.pattern.looks_back:
            return {}
        taken: dict[str, list[Row]] = {}
        for place, step in choice:
            taken.setdefault(step, []).append(self.events[place])
        return taken

    def _run_out(
        self, choice: Choice, items: tuple[int, ...], waiting: set[int], fate: _Fate, place: int, now: int
    ) -> None:
        """Let time go on to just before an event, or to the watermark."""
        limits = {at: self._limit(choice, self._items[items[at]]) for at in waiting}
        for at in sorted(waiting, key=lambda at: limits[at]):
            limit = limits[at]
            if limit <= now and limit != END:
                waiting.discard(at)
                if self._may_end(items, at):
                    fate.is_match((place, 0, limit), limit)
                if not waiting:
                    assert fate.ends is not None
                    fate.ends.append(((place, 0, limit), limit))

    def _limit(self, choice: Choice, item: Item) -> int:
        first, last = self.events[choice[0][0]].time, self.events[choice[-1][0]].time
        whole = END if self.pattern.length is None else first + self.pattern.length
        return min(whole, END if item.within is None else last + item.within)

    def _may_end(self, items: tuple[int, ...], at: int) -> bool:
        """Tell whether a choice that waits there is a match when nothing more comes."""
        kinds = [self._items[each].kind for each in items[at : at + 2]]
        return kinds[0] in {NEVER, SEEN} or kinds == [LEAVE, DONE]


# ------------------------------------------------------------------ what leaves


@dataclass(frozen=True)
class Found:
    """A match, or a partial one that ran out of time."""

    key: Any
    choice: Choice
    events: tuple[Row, ...]
    time: int


def leaves(
    declared: Declared, key: Any, events: Sequence[Row], watermark: int
) -> tuple[list[Found], list[Found]]:
    """Return the matches among the events of one key, and the partial ones that ran out of time."""
    choices = Choices(declared.pattern, events, watermark)
    moments: set[Moment] = set()
    for fate in choices.fates.values():
        moments.add(fate.born)
        moments |= {fate.known[0]} if fate.known else set()
        moments |= {fate.end[0]} if fate.end else set()
    found: list[Found] = []
    over: list[Found] = []
    floor = 0
    skips = not isinstance(declared.after_match, NoSkip)
    ready: list[tuple[int, Moment, Choice]] = []

    def told(choice: Choice, time: int) -> Found:
        return Found(key, choice, tuple(events[place] for place, _ in choice), time)

    for now in sorted(moments):
        for choice, fate in choices.fates.items():
            if choice[0][0] < floor:
                continue
            if fate.end is not None and fate.end[0] == now and fate.end[1] is not None and fate.known is None:
                over.append(told(choice, fate.end[1]))
            if fate.known is not None and fate.known[0] == now:
                ready.append((choice[0][0], now, choice))
        time = _time(now, events)
        while ready:
            ready = sorted((each for each in ready if each[0] >= floor), key=_order(declared.pattern))
            if not ready or (skips and _blocked(choices, ready[0][0], floor, now)):
                break
            _, _, choice = ready.pop(0)
            own = choices.fates[choice].known
            assert own is not None
            found.append(told(choice, own[1] if time is None else time))
            floor = max(floor, declared.after_match.floor(choice))
    return found, over


def _time(now: Moment, events: Sequence[Row]) -> int | None:
    if now[1] == 0:
        return now[2]
    return events[now[0]].time if now[0] < len(events) else None


def _order(pattern: Pattern) -> Callable[[tuple[int, Moment, Choice]], Any]:
    names = pattern.names
    return lambda each: (each[0], each[1], tuple((place, names.index(step)) for place, step in each[2]))


def _blocked(choices: Choices, start: int, floor: int, now: Moment) -> bool:
    """Tell whether a choice is still open that began before."""
    return any(
        floor <= choice[0][0] < start and fate.born <= now and (fate.end is None or fate.end[0] > now)
        for choice, fate in choices.fates.items()
    )


@dataclass
class Outcome:
    out: list[Found]
    timed_out: list[Found]
    late: list[tuple[Row, float]]
    used: int


class Matched:
    """A step that looks for a pattern, epoch by epoch."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self.rows: list[Row] = []
        self.watermark = NONE
        self.told: Counter[Any] = Counter()

    def epoch(self, rows: Sequence[Row], watermark: int | None) -> Outcome:
        before = self.watermark
        if watermark is not None:
            self.watermark = max(self.watermark, watermark)
        judge = before if self.declared.chained else self.watermark
        late = [(row, (judge - row.time) / SECOND) for row in rows if row.time < judge]
        gone = [row for row, _ in late]
        kept = [row for row in rows if row not in gone]
        self.rows += kept
        matches, over = [], []
        for key in dict.fromkeys(row.key for row in self.rows):
            found, timed_out = leaves(self.declared, key, self._due(key), self.watermark)
            matches += [each for each in found if self._is_new("out", each)]
            over += [each for each in timed_out if self._is_new("timed_out", each)]
        return Outcome(matches, over, late, len(kept))

    def _due(self, key: Any) -> list[Row]:
        mine = [
            row
            for row in self.rows
            if row.key == key and (row.time < self.watermark or self.watermark == END)
        ]
        return sorted(mine, key=self._place)

    def _place(self, row: Row) -> Any:
        by = self.declared.order_by
        return row.time, *(() if by is None else (row.values[by],)), row.position

    def _is_new(self, port: str, found: Found) -> bool:
        same = (port, found.key, tuple(row.position for row in found.events), found.choice)
        self.told[same] += 1
        return self.told[same] == 1
