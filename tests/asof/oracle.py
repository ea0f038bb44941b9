"""The join of a stream with a table by its definition: every row looks through every version."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.tables.oracle import Record, of_stream, of_topic
from tests.transcripts.declared import NONE, SECOND, Row, micros


@dataclass(frozen=True)
class Declared:
    """A declared join; words are as in a transcript."""

    of: str = "topic"
    as_of: str = "event time"
    how: str = "inner"
    lateness: str = "0 seconds"
    chained: bool = False
    then: str | None = None


@dataclass(frozen=True)
class Result:
    """An event with the row that it met, if any."""

    event: Row
    row: dict[str, Any] | None

    @property
    def order(self) -> Any:
        return self.event.time, self.event.position


@dataclass
class Outcome:
    out: list[Result] = field(default_factory=list)
    late: list[tuple[Row, float]] = field(default_factory=list)
    panes: list[tuple[Any, int, int, int]] = field(default_factory=list)
    used: int = 0


class Joined:
    """The step, and the window behind it."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self.lateness = micros(declared.lateness)
        self.watermark = NONE
        self.waiting: list[Row] = []
        self.records: list[Record] = []
        self.windows: dict[tuple[Any, int], list[Result]] = {}

    def epoch(
        self, events: Sequence[Row], records: Iterable[Record], watermark: int | None = None
    ) -> Outcome:
        before = self.watermark
        self.watermark = before if watermark is None else max(before, watermark)
        judge = before if self.declared.chained else self.watermark
        outcome = Outcome()
        records = list(records)
        self.records += records
        outcome.used += len(records)
        if self.declared.as_of == "now":
            outcome.out = self._now(events)
            outcome.used += len(events)
        else:
            self._as_of(events, judge, outcome)
        outcome.out = [each for each in outcome.out if each.row is not None or self.declared.how == "left"]
        outcome.out.sort(key=lambda result: result.order)
        self._window(outcome, before)
        return outcome

    def _now(self, events: Sequence[Row]) -> list[Result]:
        table = of_topic(self.records) if self.declared.of == "topic" else of_stream(self.records)
        rows = {row["k"]: row for row in table.rows}
        return [Result(event, rows.get(event.key) if event.key is not None else None) for event in events]

    def _as_of(self, events: Sequence[Row], judge: int, outcome: Outcome) -> None:
        for event in events:
            if judge >= event.time + 1 + self.lateness:
                outcome.late.append((event, (judge - event.time) / SECOND))
            else:
                self.waiting.append(event)
                outcome.used += 1
        due = [event for event in self.waiting if self.watermark >= event.time + 1]
        self.waiting = [event for event in self.waiting if event not in due]
        outcome.out = [Result(event, version(self.records, event)) for event in due]
        self._forget()

    def _forget(self) -> None:
        """A deleted key is forgotten, and what comes for it then is as if nothing had been before."""
        if self.watermark == NONE:
            return
        last: dict[Any, Record] = {}
        for record in sorted(self.records, key=_order):
            last[record.key] = record
        gone = {
            key
            for key, record in last.items()
            if record.row is None and self.watermark >= record.time + self.lateness
        }
        self.records = [record for record in self.records if record.key not in gone]

    def _window(self, outcome: Outcome, judge: int) -> None:
        if self.declared.then is None:
            return
        size = micros(self.declared.then)
        for result in outcome.out:
            start = result.event.time // size * size
            if judge < start + size:
                self.windows.setdefault((result.event.key, start), []).append(result)
        for (key, start), results in list(self.windows.items()):
            if self.watermark >= start + size:
                found = sum(result.row is not None for result in results)
                outcome.panes.append((key, start, len(results), found))
                del self.windows[key, start]


def version(records: Iterable[Record], event: Row) -> dict[str, Any] | None:
    """Return the row that was valid at an event's time."""
    mine = [record for record in records if record.key == event.key and record.time <= event.time]
    return max(mine, key=_order).row if mine and event.key is not None else None


def _order(record: Record) -> Any:
    return record.time, record.partition, record.offset


def at_the_end(events: Iterable[Row], records: Sequence[Record], how: str) -> list[Result]:
    """Return what a batch run over everything gives."""
    results = [Result(event, version(records, event)) for event in events]
    kept = [result for result in results if result.row is not None or how == "left"]
    return sorted(kept, key=lambda result: result.order)


def result_keys(results: Iterable[Result]) -> list[Any]:
    """Return results in one order, as values."""
    return sorted(
        (result.order, result.event.values["v"], None if result.row is None else result.row["v"])
        for result in results
    )
