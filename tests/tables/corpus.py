"""The transcripts of tables: a table in words, recorded epochs, and what must leave; see README.md."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.tables.oracle import Outcome, Record

FOLDER = Path(__file__).parent
_CASE = {"name", "why", "of", "table", "epochs"}
OTHERS = ("other", "third")
"""The tables beside the first that a case may have."""
_TOLD = {"rows", *OTHERS, "watermark", "puts", "deletes", "out", "rejected", "restart"}
DELETED = "deleted"

Written = dict[str, list[str]]
"""What left in one epoch: lines by kind, sorted."""


@dataclass(frozen=True)
class Epoch:
    records: tuple[Record, ...]
    bad: tuple[Record, ...] = ()
    """Tombstones without a key, which no table can use."""
    watermark: float | None = None
    restart: bool = False
    others: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    theme: str
    name: str
    why: str
    of: str
    table: str
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
        for told in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]
    assert len({case.title for case in read}) == len(read), "two transcripts have one name"
    return tuple(read)


def _case(theme: str, told: Mapping[str, Any]) -> Case:
    assert told.keys() <= _CASE, f"{theme}: {told.get('name')}: {told.keys() - _CASE}"
    epochs, expected = [], []
    offsets: dict[str, dict[int, int]] = {name: {} for name in ("rows", *OTHERS)}
    for each in told["epochs"]:
        assert each.keys() <= _TOLD, f"{theme}: {told['name']}: {each.keys() - _TOLD}"
        records = [_record(row, offsets["rows"]) for row in each.get("rows", ())]
        epochs.append(
            Epoch(
                tuple(record for record in records if record.key is not None),
                tuple(record for record in records if record.key is None),
                each.get("watermark"),
                each.get("restart", False),
                {
                    name: tuple(_record(row, offsets[name]) for row in each.get(name, ()))
                    for name in OTHERS
                    if name in told.get("table", "")
                },
            )
        )
        lines = {kind: [line(row) for row in each.get(kind, ())] for kind in ("puts", "deletes", "out")}
        expected.append(tidy(lines | {"rejected": each.get("rejected", [])}))
    words = told.get("table", "table")
    return Case(
        theme, told["name"], told["why"], told.get("of", "topic"), words, tuple(epochs), tuple(expected)
    )


def _record(told: Any, offsets: dict[int, int]) -> Record:
    """Return the record of ``[k, g, v, time]`` or ``[k, deleted, time]``, perhaps below its partition."""
    partition, row = next(iter(told.items())) if isinstance(told, dict) else (0, told)
    offset = offsets.get(partition, 0)
    offsets[partition] = offset + 1
    if row[1] == DELETED:
        return Record(row[0], None, row[2], partition, offset)
    key, group, value, time = row
    made = {"k": key, "g": group, "v": value, "at": time}
    return Record(key, made, time, partition, offset)


def tidy(lines: Written) -> Written:
    return {kind: sorted(found) for kind, found in lines.items() if found}


def line(row: Mapping[str, Any]) -> str:
    """Return ``g=x n=2``; times are seconds, null is ``~``."""
    return " ".join(f"{name}={_shown(value)}" for name, value in row.items())


def _shown(value: Any) -> str:
    if value is None:
        return "~"
    if isinstance(value, Mapping):
        return "{" + line(value) + "}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def written(outcome: Outcome) -> Written:
    return tidy(
        {
            "puts": list(map(line, outcome.puts)),
            "deletes": list(map(line, outcome.deletes)),
            "out": list(map(line, outcome.out)),
        }
    )
