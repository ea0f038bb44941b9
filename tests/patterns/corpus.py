"""The transcripts of patterns: declarations, recorded epochs, and what must come; see README.md."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.patterns import declared as words
from tests.patterns.declared import Declared
from tests.patterns.oracle import Found, Matched, Outcome
from tests.transcripts import corpus as windows
from tests.transcripts.corpus import Written, clock, tidy
from tests.transcripts.declared import END, SECOND, Row

FOLDER = Path(__file__).parent
KEY = "k"
_DECLARED = {"pattern", "after_match", "order_by", "chained"}
_CASE = {"name", "why", "flink", "events", "epochs", "matches", "timed_out", *_DECLARED}
_TOLD = {"events", "watermark", "restart", "matches", "timed_out", "late"}
SHORT = {letter: f"v == '{letter}'" for letter in "abcdefxyz"}
"""The conditions that are written as a letter: what an event is called by its own."""


@dataclass(frozen=True)
class Epoch:
    """What came in one epoch; a watermark of None is not moved."""

    events: tuple[Row, ...]
    watermark: int | None = None
    restart: bool = False


@dataclass(frozen=True)
class Case:
    theme: str
    name: str
    pattern: str
    declared: Declared
    after_match: str
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


def made(text: str, names: Mapping[str, Any]) -> Any:
    """Return what a declaration's text says, in the words of the oracle, or in headrace's."""
    return eval(text, {**SHORT, **names})  # noqa: S307 - our own files


def _case(theme: str, told: Mapping[str, Any]) -> Case:
    assert told.keys() <= _CASE, f"{theme}: {told.get('name')}: {told.keys() - _CASE}"
    assert told["why"]
    if "epochs" in told:
        read = told["epochs"]
    else:
        read = [
            {"events": told["events"]},
            {"watermark": "end", "matches": told.get("matches"), "timed_out": told.get("timed_out")},
        ]
    epochs, expected = [], []
    offsets: dict[int, int] = {}
    clock_at = [0]
    for each in read:
        assert each.keys() <= _TOLD, f"{theme}: {told['name']}: {each.keys() - _TOLD}"
        rows = tuple(_event(text, offsets, clock_at) for text in _listed(each.get("events")))
        epochs.append(Epoch(rows, windows.time(each.get("watermark")), each.get("restart", False)))
        expected.append(tidy({port: _listed(each.get(port)) for port in ("matches", "timed_out", "late")}))
    pattern, after = f"Pattern.{told['pattern']}", told.get("after_match", "NoSkip()")
    declared = Declared(
        made(pattern, vars(words)),
        made(after, vars(words)),
        told.get("order_by"),
        told.get("chained", False),
    )
    return Case(theme, told["name"], pattern, declared, after, tuple(epochs), tuple(expected))


def _listed(told: Any) -> list[str]:
    """Return entries: a list, or one line of them; events on a line are separated by blanks."""
    if told is None:
        return []
    return list(told) if isinstance(told, list) else str(told).split()


def _event(text: Any, offsets: dict[int, int], clock_at: list[int]) -> Row:
    """Return the event of ``b1``, ``b1@3`` (time), ``b1=7`` (n), ``q/b1`` (key), ``b1;1`` (partition)."""
    told, _, partition = str(text).partition(";")
    told, _, number = told.partition("=")
    told, _, at = told.partition("@")
    key, _, name = told.rpartition("/")
    clock_at[0] = int(at) if at else clock_at[0] + 1
    place = int(partition or 0)
    offset = offsets.get(place, 0)
    offsets[place] = offset + 1
    values = {"v": name[0], "id": name, "n": int(number) if number else None}
    return Row(key or KEY, clock_at[0] * SECOND, (0, place, offset), values)


class Run:
    """A case on the oracle."""

    def __init__(self, case: Case) -> None:
        self.step = Matched(case.declared)

    def epoch(self, epoch: Epoch) -> Outcome:
        return self.step.epoch(epoch.events, epoch.watermark)


# ------------------------------------------------------------------ lines that all drivers write


def match_line(key: Any, steps: Iterable[Iterable[str]]) -> str:
    """Return ``a1 | b1 b2 | -``: the events of each step."""
    told = " | ".join(" ".join(events) or "-" for events in steps)
    return told if key == KEY else f"{key}: {told}"


def late_line(key: Any, event: str, by: float) -> str:
    told = f"{event} by {by:.12g}"
    return told if key == KEY else f"{key}: {told}"


def found_line(found: Found, names: Iterable[str]) -> str:
    taken = list(zip(found.choice, found.events, strict=True))
    return match_line(
        found.key, ([row.values["id"] for (_, of), row in taken if of == step] for step in names)
    )


def written(case: Case, outcome: Outcome) -> Written:
    names = case.declared.pattern.names
    return tidy(
        {
            "matches": [found_line(each, names) for each in outcome.out],
            "timed_out": [found_line(each, names) for each in outcome.timed_out],
            "late": [late_line(row.key, row.values["id"], by) for row, by in outcome.late],
        }
    )


def at(micros: int) -> str:
    """Return a time for people."""
    return "the end" if micros == END else clock(micros)
