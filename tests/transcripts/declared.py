"""Windows and triggers as the oracle knows them: the same names as headrace's, and nothing taken from it.

All times are microseconds since 1970. A window knows which stretches of time a row falls into.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

NONE, END = -(2**63), 2**63 - 1
SECOND = 1_000_000
DAY = 86_400 * SECOND
_UNITS = {"second": SECOND, "minute": 60 * SECOND, "hour": 3600 * SECOND, "day": DAY, "week": 7 * DAY}
_UNITS["millisecond"], _UNITS["microsecond"] = 1_000, 1


def micros(length: str) -> int:
    """Return the microseconds of "1 minute 30 seconds"."""
    words = length.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    return sum(int(number) * _UNITS[unit.removesuffix("s")] for number, unit in pairs)


@dataclass(frozen=True)
class Row:
    """One row of a stream; `position` is (source, partition, offset)."""

    key: Any
    time: int
    position: tuple[int, int, int]
    values: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Span:
    """A window as it is reported, and the end by which watermarks are compared with it."""

    start: int | None
    end: int | None
    until: int


def span(start: int, end: int) -> Span:
    return Span(start, end, end)


@dataclass(frozen=True)
class Hopping:
    size: str
    every: str
    offset: str = "0 seconds"
    zone: str | None = None

    def of(self, row: Row) -> list[Span]:
        if self.zone or "month" in self.every:
            spans = self._local(row.time, ZoneInfo(self.zone or "UTC"))
        else:
            every, offset = micros(self.every), micros(self.offset)
            last = (row.time - offset) // every
            starts = [
                number * every + offset for number in range(last - micros(self.size) // every, last + 1)
            ]
            spans = [span(start, start + micros(self.size)) for start in starts]
        return [each for each in spans if each.start <= row.time < each.end]

    def _local(self, moment: int, zone: ZoneInfo) -> list[Span]:
        """Boundaries are midnights (plus offset) of days, of Mondays, or of the first of a month."""
        today = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment)).astimezone(zone).date()
        first = date(1969, 12, 29) if "week" in self.every else date(1970, 1, 1)
        far = later(today, self.size, -2)
        start, starts = first, []
        # One hop after the other from 1970, as nobody would compute it.
        while start > far:
            start = later(start, self.every, -1)
        while start <= today + timedelta(days=1):
            if start >= far:
                starts.append(start)
            start = later(start, self.every)
        offset = micros(self.offset)
        return [
            span(instant(zone, start, offset), instant(zone, later(start, self.size), offset))
            for start in starts
        ]


def later(day: date, length: str, times: int = 1) -> date:
    number, unit = length.split()
    if "month" in unit:
        month = day.year * 12 + day.month - 1 + times * int(number)
        return date(month // 12, month % 12 + 1, min(day.day, 28))
    return day + times * int(number) * timedelta(days=7 if "week" in unit else 1)


def instant(zone: ZoneInfo, day: date, since_midnight: int = 0) -> int:
    """Return when the clocks of a zone show this; a time that they skip is as if they had not been set."""
    local = datetime.combine(day, time(), zone) + timedelta(microseconds=since_midnight)
    return (local.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


@dataclass(frozen=True)
class Tumbling:
    size: str
    offset: str = "0 seconds"
    zone: str | None = None

    def of(self, row: Row) -> list[Span]:
        return Hopping(self.size, self.size, self.offset, self.zone).of(row)


@dataclass(frozen=True)
class Cumulative:
    size: str
    step: str
    offset: str = "0 seconds"
    zone: str | None = None

    def of(self, row: Row) -> list[Span]:
        [whole] = Tumbling(self.size, self.offset, self.zone).of(row)
        if self.zone or "month" in self.step:
            zone = ZoneInfo(self.zone or "UTC")
            day = datetime.fromtimestamp((whole.start - micros(self.offset)) / SECOND, zone).date()
            steps = range(1, 1000)
            ends = [instant(zone, later(day, self.step, number), micros(self.offset)) for number in steps]
        else:
            ends = list(range(whole.start, whole.end + 1, micros(self.step)))
        return [span(whole.start, end) for end in ends if row.time < end <= whole.end]


@dataclass(frozen=True)
class Session:
    """The row's own window; those that overlap are merged by the oracle."""

    gap: str

    def of(self, row: Row) -> list[Span]:
        return [span(row.time, row.time + micros(self.gap))]


@dataclass(frozen=True)
class Sliding:
    """The window that ends at the row, the end included."""

    size: str

    def of(self, row: Row) -> list[Span]:
        return [Span(row.time - micros(self.size), row.time, row.time + 1)]


@dataclass(frozen=True)
class Global:
    def of(self, _row: Row) -> list[Span]:
        return [Span(None, None, END)]


@dataclass(frozen=True)
class Custom:
    start: str
    end: str

    def of(self, row: Row) -> list[Span]:
        start, end = row.values[self.start], row.values[self.end]
        return [] if start is None or end is None or end <= start else [span(start, end)]


@dataclass(frozen=True)
class Every:
    period: str


@dataclass(frozen=True)
class AfterCount:
    rows: int


@dataclass(frozen=True, init=False)
class AfterAny:
    triggers: tuple["Due", ...]

    def __init__(self, *triggers: "Due") -> None:
        object.__setattr__(self, "triggers", triggers)


@dataclass(frozen=True, init=False)
class AfterAll:
    triggers: tuple["Due", ...]

    def __init__(self, *triggers: "Due") -> None:
        object.__setattr__(self, "triggers", triggers)


Due = Every | AfterCount | AfterAny | AfterAll


@dataclass(frozen=True)
class AtWatermark:
    early: Due | None = None
    late: Due = AfterCount(1)


@dataclass(frozen=True)
class Final:
    pass


Window = Tumbling | Hopping | Cumulative | Session | Sliding | Global | Custom
Trigger = AtWatermark | Final | Due


AGGREGATES = {
    "n": len,
    "total": lambda rows: _of_known(sum, rows),
    "least": lambda rows: _of_known(min, rows),
    "most": lambda rows: _of_known(max, rows),
    "open": lambda rows: rows[0].values["v"] if rows else None,
    "close": lambda rows: rows[-1].values["v"] if rows else None,
}


def _of_known(function, rows: list[Row]) -> int | None:
    known = [row.values["v"] for row in rows if row.values["v"] is not None]
    return function(known) if known else None


COLUMNS = {
    "v": lambda row: row.values["v"],
    "abs(v)": lambda row: None if row.values["v"] is None else abs(row.values["v"]),
    "at": lambda row: row.time,
}
"""What rows can be ranked by."""


@dataclass(frozen=True)
class By:
    """A column that rows are ranked by; nulls are the least of all unless it is said where they go."""

    column: str
    descending: bool
    nulls_last: bool


@dataclass(frozen=True)
class Top:
    """The first rows by some columns; of equal ones the earlier first, then the one read first."""

    rows: int
    by: tuple[By, ...]

    def of(self, rows: Iterable[Row]) -> list[Row]:
        ranked = sorted(rows, key=lambda row: (row.time, row.position))
        # What is sorted by last decides first, and keeps the order of what it holds equal.
        for by in reversed(self.by):
            value = COLUMNS[by.column]
            nulls = [row for row in ranked if value(row) is None]
            known = [row for row in ranked if value(row) is not None]
            known.sort(key=value, reverse=by.descending)
            ranked = [*known, *nulls] if by.nulls_last else [*nulls, *known]
        return ranked[: self.rows]


def top(text: str) -> Top:
    """Return the meaning of ``2 by v desc nulls last, at``."""
    rows, _, columns = text.partition(" by ")
    made = []
    for each in columns.split(", "):
        column, *words = each.split()
        descending = words[:1] == ["desc"]
        made.append(By(column, descending, words[-1] == "last" if "nulls" in words else descending))
    return Top(int(rows), tuple(made))


@dataclass(frozen=True)
class Windowed:
    """One step: a window, and what is said about it."""

    window: Window
    trigger: Trigger = AtWatermark()
    lateness: str = "0 seconds"
    accumulate: str = "accumulating"
    aggregates: tuple[str, ...] = ("n", "total")
    top: Top | None = None


@dataclass(frozen=True)
class Standing:
    """The first rows of each key without a window; a key is forgotten `keep` after its last row."""

    top: Top
    keep: str | None = None


@dataclass(frozen=True)
class Dedup:
    within: str


def periods(trigger: Trigger | None) -> set[int]:
    """Return the periods of all that go by processing time in a trigger."""
    match trigger:
        case Every(period):
            return {micros(period)}
        case AfterAny(triggers) | AfterAll(triggers):
            return set().union(*(periods(each) for each in triggers))
        case AtWatermark(early, late):
            return periods(early) | periods(late)
    return set()
