"""The transcripts: declarations, recorded epochs, and what must come of them. The format is in README.md."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.transcripts import declared
from tests.transcripts.declared import END, SECOND, Dedup, Row, Standing, Windowed
from tests.transcripts.oracle import Change, Outcome, Pane

FOLDER = Path(__file__).parent
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STEP = {"window", "trigger", "lateness", "accumulate", "aggregates", "top", "keep"}
_CASE = _STEP | {"name", "why", "keyed", "dedup", "then", "epochs"}
_TOLD = {
    "rows",
    "watermark",
    "clock",
    "panes",
    "late",
    "rejected",
    "passed",
    "duplicates",
    "changes",
    "first",
}
_KINDS = ("early", "on_time", "late")
_ISO_FROM = 10**8 * SECOND


@dataclass(frozen=True)
class Epoch:
    """What came in one epoch; times in microseconds, None for no tick."""

    rows: tuple[Row, ...] = ()
    watermark: int | None = None
    clock: int | None = None

    @property
    def ticks(self) -> bool:
        return self.watermark is not None or self.clock is not None


Written = dict[str, list[str]]
"""What left in one epoch: lines by port ("panes", "late", ..., "first panes" of a step before), sorted."""


@dataclass(frozen=True)
class Case:
    theme: str
    name: str
    why: str
    keyed: bool
    dedup: str | None
    steps: tuple[Mapping[str, Any], ...]
    epochs: tuple[Epoch, ...]
    expected: tuple[Written, ...] = field(default=())

    @property
    def title(self) -> str:
        return f"{self.theme}: {self.name}"

    def declared(self) -> list[Windowed | Dedup | Standing]:
        """Return the steps as the oracle knows them."""
        steps = [_known(read_step(step, vars(declared))) for step in self.steps]
        return [Dedup(self.dedup), *steps] if self.dedup else [*steps]


def _known(step: dict[str, Any]) -> Windowed | Standing:
    if "top" in step:
        step["top"] = declared.top(step["top"])
    return Windowed(**step) if "window" in step else Standing(**step)


def read_step(step: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step's arguments, its window and trigger made of these names: the oracle's, or headrace's."""
    made = dict(step)
    for what in ("window", "trigger"):
        if what in made:
            made[what] = eval(made[what], dict(names))  # noqa: S307 - our own files
    if "aggregates" in made:
        made["aggregates"] = tuple(made["aggregates"])
    return made


class Once(yaml.SafeLoader):  # type: ignore[misc]
    """A loader to which two entries of one name are a mistake."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        made = super().construct_mapping(node, deep)
        assert len(made) == len(node.value), f"an entry is there twice {node.start_mark}"
        return made


@cache
def cases() -> tuple[Case, ...]:
    """Return all transcripts, by theme."""
    read = [
        _case(path.stem, told)
        for path in sorted(FOLDER.glob("*.yaml"))
        for told in yaml.load(path.read_text(encoding="utf-8"), Once)  # noqa: S506 - a safe loader
    ]
    titles = [case.title for case in read]
    assert len(set(titles)) == len(titles), "two transcripts have one name"
    return tuple(read)


def _case(theme: str, told: dict[str, Any]) -> Case:
    assert told.keys() <= _CASE, f"{theme}: {told.get('name')}: {told.keys() - _CASE}"
    keyed = told.get("keyed", True)
    steps = [{name: told[name] for name in told if name in _STEP}] if told.keys() & {"window", "top"} else []
    steps += [told["then"]] if "then" in told else []
    epochs, expected, offset = [], [], 0
    for each in told["epochs"]:
        assert each.keys() <= _TOLD, f"{theme}: {told['name']}: {each.keys() - _TOLD}"
        rows = [_row(row, offset + place, keyed=keyed) for place, row in enumerate(each.get("rows", ()))]
        offset += len(rows)
        epochs.append(Epoch(tuple(rows), time(each.get("watermark")), time(each.get("clock"))))
        expected.append(_expected(each, keyed=keyed))
    case = Case(
        theme,
        told["name"],
        told["why"],
        keyed,
        told.get("dedup"),
        tuple(steps),
        tuple(epochs),
        tuple(expected),
    )
    by_clock = any(declared.periods(getattr(step, "trigger", None)) for step in case.declared())
    assert not by_clock or all(epoch.clock is not None for epoch in epochs if epoch.ticks), case.title
    return case


def _row(row: list[Any], offset: int = 0, *, keyed: bool) -> Row:
    key, seconds, value, *window = row if keyed else [None, *row]
    values = {"v": value}
    if window:
        values |= {"begins": time(window[0]), "ends": time(window[1])}
    return Row(key, time(seconds), (0, 0, offset), values)


def time(told: float | str | None) -> int | None:
    """Return microseconds of: seconds since 1970, text with a zone, or "end"."""
    if told is None or told == "end":
        return END if told else None
    if isinstance(told, str):
        return (datetime.fromisoformat(told) - _EPOCH) // timedelta(microseconds=1)
    return round(told * SECOND)


# ------------------------------------------------------------------ lines that all drivers write


def _expected(told: dict[str, Any], *, keyed: bool) -> Written:
    lines: Written = {}
    for port in ("rejected", "passed", "duplicates"):
        lines[port] = [row_line(_row(row, keyed=keyed)) for row in told.get(port, ())]
    lines["changes"] = [_change_line(change, keyed=keyed) for change in told.get("changes", ())]
    for prefix, part in (("", told), ("first ", told.get("first", {}))):
        lines[prefix + "late"] = [
            late_line(_row(row[:-1], keyed=keyed), row[-1]) for row in part.get("late", ())
        ]
        lines[prefix + "panes"] = [expected_pane(pane) for pane in part.get("panes", ())]
    return tidy(lines)


def tidy(lines: Written) -> Written:
    return {port: sorted(found) for port, found in lines.items() if found}


def expected_pane(told: dict[Any, Any]) -> str:
    """Return the line of ``{change: +1, a: [0, 10], n: 1, on_time: 0, last: true}``."""
    left = dict(told)
    change, last = left.pop("change", None), left.pop("last", False)
    [kind] = [kind for kind in _KINDS if kind in left]
    index = left.pop(kind)
    (key, window), *values = left.items()
    start, end = (time(each) for each in window) if window else (None, None)
    values = [(name, time(each) if name == "at" else each) for name, each in values]
    return pane_line(
        None if key == "all" else key, start, end, dict(values), kind, index, last=last, change=change
    )


def pane_line(
    key: Any,
    start: int | None,
    end: int | None,
    values: Mapping[str, Any],
    pane: str,
    index: int,
    *,
    last: bool,
    change: int | None = None,
) -> str:
    sign = {None: "", 1: "+ ", -1: "- "}[change]
    numbers = " ".join(
        f"{name}={'null' if value is None else clock(value) if name == 'at' else value}"
        for name, value in values.items()
    )
    window = "[always)" if start is None else f"[{clock(start)}, {clock(end)})"
    return f"{sign}{key} {window} {numbers} {pane} {index}{' last' if last else ''}"


def _change_line(told: list[Any], *, keyed: bool) -> str:
    """Return the line of ``[+1, a, 1, 7, 3]``: change, key, rank, value, time."""
    change, key, rank, value, at = told if keyed else [told[0], None, *told[1:]]
    return change_line(key, rank, value, time(at), change)


def change_line(key: Any, rank: int, value: int | None, time: int, change: int) -> str:
    sign = {1: "+", -1: "-"}[change]
    return f"{sign} {key} rank {rank}: {'null' if value is None else value} at {clock(time)}"


def late_line(row: Row, by: float) -> str:
    return f"{row_line(row)} late by {by:.12g}"


def row_line(row: Row) -> str:
    return f"{row.key} at {clock(row.time)}: " + " ".join(
        "null" if value is None else str(value) if name == "v" else clock(value)
        for name, value in row.values.items()
    )


def clock(micros: int) -> str:
    """Return seconds since 1970; for times of our days the date."""
    if abs(micros) < _ISO_FROM:
        return f"{micros / SECOND:.6f}".rstrip("0").rstrip(".")
    return (_EPOCH + timedelta(microseconds=micros)).isoformat()


def written(outcomes: Iterable[Outcome]) -> Written:
    """Return what left the steps of a chain in one epoch, as the transcripts write it."""
    *before, final = outcomes
    lines = tidy(_lines(final, ""))
    for outcome in before:
        lines |= tidy(_lines(outcome, "first "))
    return lines


def _lines(outcome: Outcome, prefix: str) -> Written:
    return {
        f"{prefix}panes": [oracles_line(pane) for pane in outcome.panes],
        f"{prefix}late": [late_line(row, by) for row, by in outcome.late],
        "rejected": [row_line(row) for row in outcome.rejected],
        "passed": [row_line(row) for row in outcome.passed],
        "duplicates": [row_line(row) for row in outcome.duplicates],
        "changes": [_oracles_change(change) for change in outcome.changes],
    }


def _oracles_change(change: Change) -> str:
    return change_line(change.key, change.rank, change.value, change.time, change.change)


def oracles_line(pane: Pane) -> str:
    return pane_line(
        pane.key,
        pane.span.start,
        pane.span.end,
        pane.values,
        pane.pane,
        pane.index,
        last=pane.last,
        change=pane.change,
    )


def as_transcript(case: Case, expected: Iterable[Written], said: Iterable[Written]) -> str:
    """Return a made-up case as one may paste it into a theme, with what should have come and what did."""
    lines = [f"- name: {case.name}", f"  why: {case.why}"]
    lines += [f"  {name}: {value}" for step in case.steps for name, value in step.items()]
    lines.append("  epochs:")
    for epoch, wanted, came in zip(case.epochs, expected, said, strict=True):
        rows = ", ".join(_told(row) for row in epoch.rows)
        lines.append(f"    - rows: [{rows}]")
        lines += [
            f"      {name}: {'end' if at == END else clock(at)}"
            for name, at in (("watermark", epoch.watermark), ("clock", epoch.clock))
            if at is not None
        ]
        for port in sorted({*wanted, *came}):
            lines += [f"      # {port}: {line}" for line in wanted.get(port, [])]
            if wanted.get(port) != came.get(port):
                lines += [f"      # BUT {port}: {line}" for line in came.get(port, ["nothing"])]
    return "\n".join(lines)


def _told(row: Row) -> str:
    values = [
        "~" if value is None else str(value) if name == "v" else clock(value)
        for name, value in row.values.items()
    ]
    return f"[{', '.join([str(row.key), clock(row.time), *values])}]"
