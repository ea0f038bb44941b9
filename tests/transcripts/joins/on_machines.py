"""Transcripts of joins as JSON for the kernel's own tests; those with a step behind the join need Spark."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType, TimestampType

from tests.transcripts.declared import NONE, Row, micros
from tests.transcripts.joins import made_up as strategies
from tests.transcripts.joins.corpus import Case, Chain, columns, declared_join, key_of
from tests.transcripts.joins.oracle import LEFT, Join

PROPERTY = "headrace.join-transcripts"
"""The system property that names the file."""

_MADE_UP = 400

_OUT, _LATE = 1, (2, 3)
_SLICE = 4_000_000
_KEY = StructType([StructField("k", StringType())])
_ROW = StructType([StructField("at", TimestampType()), StructField("v", LongType())])
_LATE_ROW = StructType([*_KEY, *_ROW, StructField("late_by_seconds", DoubleType())])


def write(cases: Iterable[Case], path: Path, others: Iterable[dict[str, Any]] = ()) -> int:
    """Write the cases of one step, and others that are told already; return how many these are."""
    told = [*(_case(case) for case in cases if not case.third and not case.then), *others]
    path.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return len(told)


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
        chain = Chain(case)
        expected = tuple(chain.epoch(epoch)[1] for epoch in case.epochs)
        found.append(replace(case, name=f"made up {len(found)}: {dict(case.join)}", expected=expected))

    take()
    return found


def _case(case: Case) -> dict[str, Any]:
    join = declared_join(case.join)
    return {"title": case.title, "layer": {"programs": [_program(case, join)]}, "epochs": _epochs(case, join)}


def _program(case: Case, join: Join) -> dict[str, Any]:
    lower, upper = join.bounds
    left_only = join.how in {"semi", "anti"}
    output = [*_KEY, *_ROW] if left_only else [*_KEY, *_ROW, *_ROW]
    return {
        "id": 1,
        "name": case.name,
        "groups": [0],
        "port": _OUT,
        "key": _KEY.jsonValue(),
        "inputs": StructType().jsonValue(),
        "aggregates": [],
        "sides": [
            {"row": _ROW.jsonValue(), "latePort": late, "late": _LATE_ROW.jsonValue(), "full": [0, 1, 2]}
            for late in _LATE
        ],
        "interval": {"lower": lower, "upper": upper, "how": join.how, "slice": _SLICE},
        "lateness": micros(join.lateness),
        "columns": list(range(len(output))),
        "output": StructType(output).jsonValue(),
    }


def _epochs(case: Case, join: Join) -> list[dict[str, Any]]:
    chain = Chain(case)
    watermark, told = NONE, []
    for epoch, expected in zip(case.epochs, case.expected, strict=True):
        outcome, said = chain.epoch(epoch)
        # The oracle only spells out, with all their columns, the lines that stand in the transcript.
        assert said == expected, case.title
        watermark = watermark if epoch.watermark is None else max(watermark, epoch.watermark)
        sides = [epoch.rows["left"], epoch.rows["left" if case.self_join else "right"]]
        left_only = join.how in {"semi", "anti"}
        told.append(
            {
                "rows": [
                    [side, *row.position, *_row(row)] for side, rows in enumerate(sides) for row in rows
                ],
                "ticks": epoch.watermark is not None,
                "watermark": watermark,
                "out": [[key_of(each), *columns(each, left_only=left_only)] for each in outcome.out],
                **{
                    f"late_{'left' if side == LEFT else 'right'}": [[*_row(row), by] for row, by in late]
                    for side, late in enumerate(outcome.late)
                },
                "used": outcome.used,
            }
        )
    return told


def _row(row: Row) -> list[Any]:
    return [row.key, row.time, row.values["v"]]
