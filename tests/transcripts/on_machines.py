"""Transcripts as JSON for the kernel's own tests: steps as the plan would write them, and what must come.

Rows and panes are lists of their columns, as the kernel's structs have them; times are in microseconds.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

import headrace
from headrace.declare.trigger import trigger_spec
from tests.transcripts.corpus import Case, read_step, written
from tests.transcripts.declared import NONE, Dedup, Row, Standing, Top, micros
from tests.transcripts.oracle import Chain, Change, Outcome, Pane

PROPERTY = "headrace.transcripts"
"""The system property that names the file."""

_PANES, _LATE, _DUPLICATES = 1, 2, 3
_SLICE = 1_000_000
_FUNCTIONS = {"n": "count", "total": "sum", "least": "min", "most": "max", "open": "first", "close": "last"}


def _struct(**fields: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields.items()])


_ROW = _struct(k=StringType(), at=TimestampType(), v=LongType(), begins=TimestampType(), ends=TimestampType())
_INPUTS = _struct(v=LongType())
_SHOWN = _struct(v=LongType(), t=TimestampType())
_RANKED = _struct(ranked=StructType([*_SHOWN, StructField("by", LongType())]))
_PLACES = {"v": 0, "at": 1, "abs(v)": 2}
_RANK = StructField("rank", IntegerType())
_CHANGE = StructField("change", IntegerType())
_LATE_ROW = StructType([*_ROW, StructField("late_by_seconds", DoubleType())])
_KEY = _struct(k=StringType())
_STATED = _struct(begins=TimestampType(), ends=TimestampType())
_WINDOW = _struct(window=_struct(start=TimestampType(), end=TimestampType()))
_ABOUT = _struct(pane=StringType(), pane_index=IntegerType(), pane_last=BooleanType())


def is_one_step(case: Case) -> bool:
    """Tell whether a machine alone can run it; what feeds a machine from another one is Spark."""
    return len(case.steps) + bool(case.dedup) == 1


def write(cases: Iterable[Case], path: Path) -> int:
    """Write the cases that are of one step; return how many these are."""
    told = [_case(case) for case in cases if is_one_step(case)]
    path.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return len(told)


def _case(case: Case) -> dict[str, Any]:
    return {"title": case.title, "layer": {"programs": [_program(case)]}, "epochs": _epochs(case)}


def _program(case: Case) -> dict[str, Any]:
    told = {"id": 1, "name": case.name, "groups": [0], "port": _PANES, "inputs": _INPUTS.jsonValue()}
    told["sides"] = [{"row": _ROW.jsonValue(), "latePort": _LATE, "late": _LATE_ROW.jsonValue()}]
    [step] = case.declared()
    if isinstance(step, Dedup):
        told |= {
            "within": micros(step.within),
            "slice": _SLICE,
            "duplicatePort": _DUPLICATES,
            "aggregates": [],
        }
        return told | {"key": _KEY.jsonValue(), "output": _ROW.jsonValue()}
    keys = list(_KEY) if case.keyed else []
    if isinstance(step, Standing):
        if step.keep is None:
            told["latePort"] = None
        else:
            told["within"] = micros(step.keep)
        output = StructType([*keys, _RANK, *_SHOWN, _CHANGE])
        return told | _ranked(step.top) | {"key": StructType(keys).jsonValue(), "output": output.jsonValue()}
    read = read_step(case.steps[0], vars(headrace))
    values = [StructField(name, LongType()) for name in step.aggregates]
    made: dict[str, Any] = {"aggregates": [_aggregate(name) for name in step.aggregates]}
    if step.top:
        values, made = [_RANK, *_SHOWN], _ranked(step.top)
    change = [_CHANGE] if step.accumulate == "retracting" else []
    stated = list(_STATED) if isinstance(read["window"], headrace.Custom) else []
    return (
        told
        | made
        | {
            "window": read["window"].spec(),
            "trigger": trigger_spec(read.get("trigger", headrace.AtWatermark())),
            "lateness": micros(step.lateness),
            "accumulate": step.accumulate,
            "key": StructType([*keys, *stated]).jsonValue(),
            "output": StructType([*keys, *_WINDOW, *values, *_ABOUT, *change]).jsonValue(),
        }
    )


def _ranked(top: Top) -> dict[str, Any]:
    order = [
        f"{_PLACES[by.column]} {'desc' if by.descending else 'asc'} {'last' if by.nulls_last else 'first'}"
        for by in top.by
    ]
    told = {"name": "top", "function": "top", "input": 0, "type": ArrayType(_SHOWN).jsonValue()}
    told["options"] = {"rows": top.rows, "order": ",".join(order)}
    return {"inputs": _RANKED.jsonValue(), "aggregates": [told]}


def _aggregate(name: str) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name, "function": _FUNCTIONS[name], "type": "long"}
    return told if name == "n" else told | {"input": 0}


def _epochs(case: Case) -> list[dict[str, Any]]:
    chain = Chain(case.declared())
    watermark, clock, told = NONE, 0, []
    for epoch, expected in zip(case.epochs, case.expected, strict=True):
        [outcome] = chain.epoch(epoch.rows, epoch.watermark, epoch.clock)
        # The oracle only spells out, with all their columns, the lines that stand in the transcript.
        assert written([outcome]) == expected, case.title
        watermark = watermark if epoch.watermark is None else max(watermark, epoch.watermark)
        clock = clock if epoch.clock is None else epoch.clock // 1000
        # What the plan rejects never comes to the machine.
        rows = [[row.position[2], *_row(row)] for row in epoch.rows if row not in outcome.rejected]
        assert len(rows) == outcome.used + len(outcome.late) + len(outcome.duplicates), case.title
        came = {"rows": rows, "ticks": epoch.ticks, "watermark": watermark, "clock": clock}
        told.append(came | _left(case, outcome))
    return told


def _left(case: Case, outcome: Outcome) -> dict[str, Any]:
    return {
        "given": [
            *(_pane(case, pane) for pane in outcome.panes),
            *(_change(case, change) for change in outcome.changes),
            *map(_row, outcome.passed),
        ],
        "late": [[*_row(row), by] for row, by in outcome.late],
        "duplicates": [_row(row) for row in outcome.duplicates],
        "used": outcome.used,
    }


def _row(row: Row) -> list[Any]:
    return [row.key, row.time, row.values["v"], row.values.get("begins"), row.values.get("ends")]


def _change(case: Case, change: Change) -> list[Any]:
    key = [change.key] if case.keyed else []
    return [*key, change.rank, change.value, change.time, change.change]


def _pane(case: Case, pane: Pane) -> list[Any]:
    key = [pane.key] if case.keyed else []
    change = [] if pane.change is None else [pane.change]
    values = [*pane.values.values(), pane.pane, pane.index, pane.last]
    return [*key, pane.span.start, pane.span.end, *values, *change]
