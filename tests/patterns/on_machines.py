"""Transcripts of patterns as JSON for the kernel's own tests."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from pyspark.sql.types import (
    ArrayType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

import headrace
from headrace import Bounded, Topic, record
from headrace.declare.expr import Call, Expression, Method
from headrace.declare.match import MatchNode
from headrace.plan import pattern_spec
from tests.patterns import made_up as strategies
from tests.patterns.corpus import Case, Run, made, written
from tests.patterns.declared import Condition
from tests.transcripts.declared import NONE, Row

PROPERTY = "headrace.pattern-transcripts"
_OUT, _LATE, _TIMED_OUT = 1, 2, 3
_SLICE = 4_000_000
_MADE_UP = 500
_KEY = StructType([StructField("k", StringType())])
_EVENT = StructType([StructField("k", StringType()), StructField("id", StringType())])


@record
class Event:
    k: str
    id: str
    v: str
    n: int | None
    at: datetime


def declared(case: Case) -> MatchNode:
    """Return the step as headrace declares it."""
    events = Topic("events", Event, time="at").stream(watermark=Bounded("0 seconds"))
    names = {name: getattr(headrace, name) for name in headrace.__all__}
    found = events.key_by("k").match(
        "pattern",
        made(case.pattern, names),
        order_by=case.declared.order_by,
        after_match=made(case.after_match, names),
    )
    node = found.port.node
    assert isinstance(node, MatchNode)
    return node


def write(cases: Iterable[Case], path: Path) -> int:
    """Write the cases for the kernel's tests; return how many there are."""
    # What looks at earlier events is compiled by Spark.
    told = [_case(case) for case in cases if not case.declared.pattern.looks_back]
    path.write_text(json.dumps(told), encoding="utf-8")
    return len(told)


def _case(case: Case) -> dict[str, Any]:
    node = declared(case)
    return {"title": case.title, "layer": {"programs": [_program(case, node)]}, "epochs": _epochs(case, node)}


def _program(case: Case, node: MatchNode) -> dict[str, Any]:
    by = [StructField("__by0", LongType())] if node.order else []
    row = StructType([StructField(pattern_spec.CONDITIONS, LongType()), *by, StructField("id", StringType())])
    times = [StructField(name, TimestampType()) for name in ("start", "end")]
    steps = [StructField(name, ArrayType(_EVENT)) for name in node.pattern.names]
    places = [0, len(row)]
    return {
        "id": 1,
        "name": case.name,
        "groups": [0],
        "port": _OUT,
        "timedOutPort": _TIMED_OUT,
        "key": _KEY.jsonValue(),
        "inputs": StructType().jsonValue(),
        "aggregates": [],
        "sides": [
            {
                "row": row.jsonValue(),
                "latePort": _LATE,
                "late": StructType([*_EVENT, StructField("late_by_seconds", DoubleType())]).jsonValue(),
                "full": places,
            }
        ],
        "matching": {
            "pattern": pattern_spec.told(node),
            "directions": ["asc nulls first"] if node.order else [],
            "elements": places,
            "slice": _SLICE,
        },
        "output": StructType([*_KEY, *times, *steps]).jsonValue(),
    }


def _epochs(case: Case, node: MatchNode) -> list[dict[str, Any]]:
    run, told, before = Run(case), [], NONE
    for epoch, expected in zip(case.epochs, case.expected, strict=True):
        outcome = run.epoch(epoch)
        assert written(case, outcome) == expected, case.title
        watermark = run.step.watermark
        told.append(
            {
                "rows": [_row(row, case, node) for row in epoch.events],
                "ticks": epoch.watermark is not None,
                "watermark": watermark,
                "judged": before if case.declared.chained else watermark,
                "used": outcome.used,
                "expected": {port: expected.get(port, []) for port in ("matches", "timed_out", "late")},
            }
        )
        before = watermark
    return told


def _row(row: Row, case: Case, node: MatchNode) -> list[Any]:
    by = row.values[case.declared.order_by] if case.declared.order_by else None
    bits = sum(_holds(each, row) << bit for bit, each in enumerate(pattern_spec.conditions(node.pattern)))
    return [*row.position, row.key, row.time, bits, by, row.values["id"]]


def _holds(expression: Expression, row: Row) -> bool:
    """Tell whether a condition holds: SQL text, or what where and or_where made of such."""
    if isinstance(expression, Method):
        both = [_holds(each, row) for each in expression.children]
        return all(both) if expression.method == "__and__" else any(both)
    assert isinstance(expression, Call)
    return Condition(expression.text())(row, {})


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
        expected = tuple(written(case, run.epoch(epoch)) for epoch in case.epochs)
        found.append(
            replace(case, name=f"{len(found)}: {case.pattern} {case.after_match}", expected=expected)
        )

    take()
    return found
