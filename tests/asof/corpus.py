"""The transcripts of joins with tables: declarations, recorded epochs, and what must come; see README.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.asof.oracle import Declared, Joined, Outcome, Result
from tests.tables.oracle import Record
from tests.transcripts import corpus as windows
from tests.transcripts.corpus import Written, clock, tidy
from tests.transcripts.declared import NONE, Row

FOLDER = Path(__file__).parent
DELETED = "deleted"
_DECLARED = ("of", "as_of", "how", "lateness", "chained", "then")
_CASE = {"name", "why", "epochs", *_DECLARED}
_TOLD = {"events", "table", "watermark", "table_watermark", "restart", "out", "late", "panes"}


@dataclass(frozen=True)
class Epoch:
    """What came in one epoch; a watermark of None is not moved."""

    events: tuple[Row, ...]
    records: tuple[Record, ...]
    watermark: int | None = None
    table_watermark: int | None = None
    restart: bool = False


@dataclass(frozen=True)
class Case:
    theme: str
    name: str
    declared: Declared
    epochs: tuple[Epoch, ...]
    expected: tuple[Written, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.theme}: {self.name}"


@cache
def cases() -> tuple[Case, ...]:
    """Return all transcripts, by theme."""
    read = [
        _case(path.stem, told)
        for path in sorted(FOLDER.glob("*.yaml"))
        for told in yaml.load(path.read_text(encoding="utf-8"), windows.Once)  # noqa: S506 - a safe loader
    ]
    assert len({case.title for case in read}) == len(read), "two transcripts have one name"
    return tuple(read)


def _case(theme: str, told: Mapping[str, Any]) -> Case:
    assert told.keys() <= _CASE, f"{theme}: {told.get('name')}: {told.keys() - _CASE}"
    assert told["why"]
    epochs, expected = [], []
    offsets: dict[tuple[str, int], int] = {}
    for each in told["epochs"]:
        assert each.keys() <= _TOLD, f"{theme}: {told['name']}: {each.keys() - _TOLD}"
        epochs.append(
            Epoch(
                tuple(_event(row, offsets) for row in each.get("events", ())),
                tuple(_record(row, offsets) for row in each.get("table", ())),
                windows.time(each.get("watermark")),
                windows.time(each.get("table_watermark")),
                each.get("restart", False),
            )
        )
        expected.append(_expected(each))
    declared = Declared(**{name: told[name] for name in _DECLARED if name in told})
    return Case(theme, told["name"], declared, tuple(epochs), tuple(expected))


def _event(told: Any, offsets: dict[tuple[str, int], int]) -> Row:
    partition, (key, at, value) = next(iter(told.items())) if isinstance(told, dict) else (0, told)
    return Row(key, _time(at), (0, partition, _next(offsets, "events", partition)), {"v": value})


def _record(told: Any, offsets: dict[tuple[str, int], int]) -> Record:
    """Return the record of ``[k, time, v]`` or ``[k, deleted, time]``, perhaps below its partition."""
    partition, row = next(iter(told.items())) if isinstance(told, dict) else (0, told)
    offset = _next(offsets, "table", partition)
    if row[1] == DELETED:
        return Record(row[0], None, _time(row[2]), partition, offset)
    key, at, value = row
    return Record(key, {"k": key, "v": value, "at": _time(at)}, _time(at), partition, offset)


def _next(offsets: dict[tuple[str, int], int], of: str, partition: int) -> int:
    offset = offsets.get((of, partition), 0)
    offsets[of, partition] = offset + 1
    return offset


def _time(told: float) -> int:
    made = windows.time(told)
    assert made is not None
    return made


class Run:
    """A case on the oracle: the watermark of the join is the least of those that hold it."""

    def __init__(self, case: Case) -> None:
        self.step = Joined(case.declared)
        self.of_latest = case.declared.of == "latest"
        self.stream, self.table = NONE, NONE

    def epoch(self, epoch: Epoch) -> Outcome:
        if epoch.watermark is not None:
            self.stream = max(self.stream, epoch.watermark)
        if epoch.table_watermark is not None:
            self.table = max(self.table, epoch.table_watermark)
        free = self.table == NONE and not self.of_latest
        watermark = self.stream if free else min(self.stream, self.table)
        return self.step.epoch(epoch.events, epoch.records, watermark)

    @property
    def watermark(self) -> int:
        return self.step.watermark


# ------------------------------------------------------------------ lines that all drivers write


def _expected(told: Mapping[str, Any]) -> Written:
    return tidy(
        {
            "out": [
                line(key, _time(at), v, *_maybe(of_at, of)) for key, at, v, of_at, of in told.get("out", ())
            ],
            "late": [late_line(key, _time(at), v, by) for key, at, v, by in told.get("late", ())],
            "panes": [pane_line(key, _time(start), n, of) for key, start, n, of in told.get("panes", ())],
        }
    )


def _maybe(at: float | None, value: int | None) -> tuple[int | None, int | None]:
    return windows.time(at), value


def line(key: Any, at: int, value: int, of_at: int | None, of: int | None) -> str:
    """Return an event and the row that it met."""
    met = "nothing" if of_at is None else f"{_word(of)} of {clock(of_at)}"
    return f"{_word(key)}: {value} at {clock(at)} met {met}"


def late_line(key: Any, at: int, value: int, by: float) -> str:
    return f"{_word(key)}: {value} at {clock(at)} late by {by:.12g}"


def pane_line(key: Any, start: int, n: int, found: int) -> str:
    return f"{_word(key)}: from {clock(start)} {n}, found {found}"


def _word(value: Any) -> str:
    return "null" if value is None else str(value)


def result_line(result: Result) -> str:
    event, row = result.event, result.row
    at, of = (None, None) if row is None else (row["at"], row["v"])
    return line(event.key, event.time, event.values["v"], at, of)


def written(outcome: Outcome, *, windowed: bool) -> Written:
    late = [late_line(row.key, row.time, row.values["v"], by) for row, by in outcome.late]
    return tidy(
        {
            "out": [] if windowed else list(map(result_line, outcome.out)),
            "late": late,
            "panes": [pane_line(*pane) for pane in outcome.panes],
        }
    )
