"""Transcripts of joins with tables as JSON for the kernel's own tests, as those of joins of streams are."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType, TimestampType

from tests.asof import made_up as strategies
from tests.asof.corpus import Case, Epoch, Run, written
from tests.asof.oracle import Outcome
from tests.tables.oracle import of_stream, of_topic
from tests.transcripts.declared import Row, micros

_MADE_UP = 400
_OUT, _LATE = 1, 2
_SLICE = 4_000_000
_KEY = StructType([StructField("k", StringType())])
_ROW = StructType([StructField("at", TimestampType()), StructField("v", LongType())])
_LATE_ROW = StructType([*_KEY, *_ROW, StructField("late_by_seconds", DoubleType())])


def told(cases: Iterable[Case]) -> list[dict[str, Any]]:
    """Return the cases of one step."""
    return [_case(case) for case in cases if case.declared.then is None]


def made_up() -> list[Case]:
    """Return cases that nobody thought of, the same ones every time, with what the oracle says of them."""
    found: list[Case] = []

    @settings(
        max_examples=_MADE_UP,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategies.made_up())
    def take(case: Case) -> None:
        run = Run(case)
        expected = tuple(written(run.epoch(epoch), windowed=False) for epoch in case.epochs)
        found.append(replace(case, name=f"made up {len(found)}: {case.declared}", expected=expected))

    take()
    return found


def _case(case: Case) -> dict[str, Any]:
    return {
        "title": f"with a table, {case.title}",
        "layer": {"programs": [_program(case)]},
        "epochs": _epochs(case),
    }


def _program(case: Case) -> dict[str, Any]:
    current = case.declared.as_of == "now"
    output = StructType([*_KEY, *_ROW, *_ROW])
    left = {
        "row": _ROW.jsonValue(),
        "latePort": None if current else _LATE,
        "late": _LATE_ROW.jsonValue(),
        "full": [0, 1, 2],
    }
    return {
        "id": 1,
        "name": case.name,
        "groups": [0],
        "port": _OUT,
        "key": _KEY.jsonValue(),
        "inputs": StructType().jsonValue(),
        "aggregates": [],
        "sides": [left, {**left, "latePort": None}],
        "lookup": {"current": current, "left": case.declared.how == "left", "slice": _SLICE},
        "lateness": micros(case.declared.lateness),
        "columns": list(range(len(output))),
        "output": output.jsonValue(),
    }


def _epochs(case: Case) -> list[dict[str, Any]]:
    run, told, table = Run(case), [], _Changing(case)
    for epoch, expected in zip(case.epochs, case.expected, strict=True):
        before = run.watermark
        outcome = run.epoch(epoch)
        # The oracle only spells out, with all their columns, the lines that stand in the transcript.
        assert written(outcome, windowed=False) == expected, case.title
        right = table.rows(epoch)
        moved = epoch.watermark is not None or epoch.table_watermark is not None
        told.append(
            {
                "rows": [[0, *row.position, *_row(row), False] for row in epoch.events] + right,
                "ticks": moved and case.declared.as_of != "now",
                "watermark": run.watermark,
                "judged": before if case.declared.chained else run.watermark,
                "out": _out(outcome),
                "late_left": [[*_row(row), by] for row, by in outcome.late],
                "used": outcome.used - len(epoch.records) + len(right),
                "held": bool(table.before),
            }
        )
    return told


def _out(outcome: Outcome) -> list[list[Any]]:
    return [
        [*_row(each.event), *((None, None) if each.row is None else (each.row["at"], each.row["v"]))]
        for each in outcome.out
    ]


def _row(row: Row) -> list[Any]:
    return [row.key, row.time, row.values["v"]]


class _Changing:
    """What of a table comes to its join: every record, or how the table differs from the epoch before."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.records: list[Any] = []
        self.before: dict[Any, Any] = {}

    def rows(self, epoch: Epoch) -> list[list[Any]]:
        if self.case.declared.as_of != "now":
            return [
                [1, 1, each.partition, each.offset, each.key, each.time, *_value(each.row)]
                for each in epoch.records
            ]
        self.records += epoch.records
        made = of_topic(self.records) if self.case.declared.of == "topic" else of_stream(self.records)
        now = {row["k"]: row for row in made.rows}
        changed = [key for key in {**now, **self.before} if now.get(key) != self.before.get(key)]
        rows = [
            [1, 1, 0, place, key, (now.get(key) or self.before[key])["at"], *_value(now.get(key))]
            for place, key in enumerate(changed)
        ]
        self.before = now
        return rows


def _value(row: dict[str, Any] | None) -> list[Any]:
    return [None, True] if row is None else [row["v"], False]
