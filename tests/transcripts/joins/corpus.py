"""The transcripts of joins: declarations, recorded epochs, and what must come of them; see ../README.md."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.transcripts import corpus as windows
from tests.transcripts import declared
from tests.transcripts.corpus import Written, clock, oracles_line, tidy
from tests.transcripts.declared import Row, Windowed
from tests.transcripts.joins.oracle import LEFT, RIGHT, Join, Joined, Outcome, Result
from tests.transcripts.oracle import Windows

FOLDER = Path(__file__).parent
STREAMS = ("left", "right", "third")
_CASE = {"name", "why", "how", "within", "lateness", "self", "third", "then", "epochs"}
_TOLD = {*STREAMS, "watermark", "out", "late_left", "late_right", "first", "panes", "late"}
_OF_JOIN = ("how", "within", "lateness")


@dataclass(frozen=True)
class Epoch:
    """What came in one epoch by stream; no watermark is no tick."""

    rows: Mapping[str, tuple[Row, ...]]
    watermark: int | None


@dataclass(frozen=True)
class Case:
    theme: str
    name: str
    why: str
    self_join: bool
    join: Mapping[str, Any]
    third: Mapping[str, Any] | None
    then: Mapping[str, Any] | None
    epochs: tuple[Epoch, ...]
    expected: tuple[Written, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.theme}: {self.name}"

    @property
    def streams(self) -> tuple[str, ...]:
        if self.self_join:
            return ("left",)
        return STREAMS if self.third else STREAMS[:2]


@cache
def cases() -> tuple[Case, ...]:
    """Return all transcripts of joins, by theme."""
    read = [
        _case(path.stem, told)
        for path in sorted(FOLDER.glob("*.yaml"))
        for told in yaml.load(path.read_text(encoding="utf-8"), windows.Once)  # noqa: S506 - a safe loader
    ]
    titles = [case.title for case in read]
    assert len(set(titles)) == len(titles), "two transcripts have one name"
    return tuple(read)


def _case(theme: str, told: dict[str, Any]) -> Case:
    assert told.keys() <= _CASE, f"{theme}: {told.get('name')}: {told.keys() - _CASE}"
    epochs, expected = [], []
    offsets = dict.fromkeys(STREAMS, 0)
    for each in told["epochs"]:
        assert each.keys() <= _TOLD, f"{theme}: {told['name']}: {each.keys() - _TOLD}"
        rows = {}
        for number, stream in enumerate(STREAMS):
            rows[stream] = tuple(
                Row(key, windows.time(seconds), (number, 0, offsets[stream] + place), {"v": value})
                for place, (key, seconds, value) in enumerate(each.get(stream, ()))
            )
            offsets[stream] += len(rows[stream])
        epochs.append(Epoch(rows, windows.time(each.get("watermark"))))
        expected.append(_expected(each))
    join = {name: told[name] for name in _OF_JOIN if name in told}
    return Case(
        theme,
        told["name"],
        told["why"],
        told.get("self", False),
        join,
        told.get("third"),
        told.get("then"),
        tuple(epochs),
        tuple(expected),
    )


def declared_join(told: Mapping[str, Any]) -> Join:
    return Join(**{**told, "within": tuple(told["within"])} if "within" in told else told)


# ------------------------------------------------------------------ lines that all drivers write


def _expected(told: Mapping[str, Any]) -> Written:
    lines: Written = {}
    for prefix, part in (("", told), ("first ", told.get("first", {}))):
        lines[f"{prefix}out"] = [
            line(key, [windows.time(each) if place % 2 == 0 else each for place, each in enumerate(values)])
            for key, *values in part.get("out", ())
        ]
        for late in ("late_left", "late_right"):
            lines[prefix + late] = [
                late_line(key, [windows.time(at), *values], by) for key, at, *values, by in part.get(late, ())
            ]
    lines["panes"] = [windows.expected_pane(pane) for pane in told.get("panes", ())]
    lines["late"] = [
        late_line(key, [windows.time(at), *values], by) for key, at, *values, by in told.get("late", ())
    ]
    return tidy(lines)


def line(key: Any, values: Sequence[int | None]) -> str:
    """Return a result: the key, and by turns a time and a value of each stream."""
    shown = [
        "null" if each is None else str(each) if place % 2 else clock(each)
        for place, each in enumerate(values)
    ]
    return f"{key}: {' '.join(shown)}"


def late_line(key: Any, values: Sequence[int | None], by: float) -> str:
    return f"{line(key, values)} late by {by:.12g}"


# ------------------------------------------------------------------ the oracle on a case


def columns(result: Result, *, left_only: bool, widths: tuple[int, int] = (1, 1)) -> list[int | None]:
    """Return what a result has beside its key: the times and values of the streams that it is of."""
    left, right = (
        _columns(row, width) for row, width in zip((result.left, result.right), widths, strict=True)
    )
    return left if left_only else [*left, *right]


def _columns(row: Row | None, width: int = 1) -> list[int | None]:
    if row is None:
        return [None, None] * width
    return list(row.values["columns"]) if "columns" in row.values else [row.time, row.values["v"]]


def key_of(result: Result) -> Any:
    row = result.left or result.right
    assert row is not None
    return row.key


class Chain:
    """A join and what stands behind it: another join with a third stream, or a window."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.join = declared_join(case.join)
        self.first = Joined(self.join)
        self.third = declared_join(case.third) if case.third else None
        self.second = Joined(self.third, chained=True) if self.third else None
        self.window = None
        if case.then:
            self.window = Windows(Windowed(**windows.read_step(case.then, vars(declared))), chained=True)

    def epoch(self, epoch: Epoch) -> tuple[Outcome, Written]:
        """Return what left the join itself, and all that is delivered as the transcripts write it."""
        left = epoch.rows["left"]
        right = left if self.case.self_join else epoch.rows["right"]
        outcome = self.first.epoch(left, right, epoch.watermark)
        told = self._lines(outcome, self.join, (1, 1))
        if self.window is not None:
            rows = [self._handed_on(result, place) for place, result in enumerate(outcome.out)]
            panes = self.window.epoch(rows, epoch.watermark)
            late = [late_line(row.key, row.values["columns"], by) for row, by in panes.late]
            behind = {"panes": [oracles_line(pane) for pane in panes.panes], "late": late}
            return outcome, tidy({**_first(told), **behind})
        if self.second is not None:
            rows = [self._handed_on(result, place) for place, result in enumerate(outcome.out)]
            after = self.second.epoch(rows, epoch.rows["third"], epoch.watermark)
            width = 1 if self.join.how in {"semi", "anti"} else 2
            return outcome, tidy({**_first(told), **self._lines(after, self.third, (width, 1))})
        return outcome, tidy(told)

    def _lines(self, outcome: Outcome, join: Join, widths: tuple[int, int]) -> Written:
        left_only = join.how in {"semi", "anti"}
        lines = {
            "out": [
                line(key_of(result), columns(result, left_only=left_only, widths=widths))
                for result in outcome.out
            ]
        }
        for side, name in ((LEFT, "late_left"), (RIGHT, "late_right")):
            lines[name] = [late_line(row.key, _columns(row), by) for row, by in outcome.late[side]]
        return lines

    def _handed_on(self, result: Result, place: int) -> Row:
        """A result is a row for the next step, of its own time; its `v` is the left row's."""
        told = columns(result, left_only=self.join.how in {"semi", "anti"})
        return Row(key_of(result), result.time, (-1, 0, place), {"v": told[1], "columns": tuple(told)})


def _first(told: Written) -> Written:
    return {f"first {port}": lines for port, lines in told.items()}


def as_transcript(case: Case, expected: Iterable[Written], said: Iterable[Written]) -> str:
    """Return a made-up case as one may paste it, with what should have come and what did."""
    lines = [
        f"- name: {case.name}",
        *(f"  {name}: {value}" for name, value in case.join.items()),
        "  epochs:",
    ]
    for epoch, wanted, came in zip(case.epochs, expected, said, strict=True):
        lines.append("    -")
        for stream in case.streams:
            rows = ", ".join(
                f"[{row.key}, {clock(row.time)}, {row.values['v']}]" for row in epoch.rows[stream]
            )
            lines.append(f"      {stream}: [{rows}]")
        if epoch.watermark is not None:
            lines.append(f"      watermark: {clock(epoch.watermark)}")
        for port in sorted({*wanted, *came}):
            lines += [f"      # {port}: {each}" for each in wanted.get(port, [])]
            if wanted.get(port) != came.get(port):
                lines += [f"      # BUT {port}: {each}" for each in came.get(port, ["nothing"])]
    return "\n".join(lines)
