"""What Spark makes of a stateful step: the types of its key, its state and its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DoubleType,
    IntegerType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from headrace.declare.node import (
    CHANGE,
    LATE_BY,
    PANE,
    PANE_INDEX,
    PANE_LAST,
    WINDOW,
    Port,
    StatefulNode,
    WindowNode,
)
from headrace.declare.top import RANK, TopNode, WindowTopNode
from headrace.errors import PlanError
from headrace.plan.aggregates import Asked


@dataclass(frozen=True)
class ProgramTypes:
    """What Spark made of a stateful step: the types that its state and its results have."""

    key: StructType
    inputs: StructType
    row: StructType
    aggregates: tuple[Mapping[str, Any], ...]
    output: StructType
    late: StructType

    def schemas(self, node: StatefulNode) -> dict[Port, StructType]:
        """Return the columns of every port of the step."""
        by_port = {"out": self.output, "late": self.late, "duplicate": self.row}
        return {Port(node, name): by_port[name] for name in node.ports}


def types_of(
    node: StatefulNode, asked: list[Asked], row: StructType, key: StructType, inputs: StructType
) -> ProgramTypes:
    """Return the types of a step over `row`; those of aggregates are what a batch query would give."""
    taken = next((name for name in row.names if name.lower() == LATE_BY.name), None)
    if taken is not None:
        raise PlanError(
            f'the column "{taken}" has the name of one that late rows get',
            where=node.where,
            cure="rename it before the step",
        )
    late = StructType([*row, StructField(LATE_BY.name, DoubleType())])
    if not asked:
        return ProgramTypes(key, inputs, row, (), row, late)
    described = []
    position = 0
    for each in asked:
        described.append(
            {
                "name": each.name,
                "function": each.function,
                "input": None if each.input is None else position,
                "type": each.result.dataType.jsonValue(),
                "options": dict(each.options),
            }
        )
        position += each.input is not None
    keys = [field for field in key if field.name in node.keys]
    output = StructType([*keys, *_output(node, _made(node, asked))])
    return ProgramTypes(key, inputs, row, tuple(described), output, late)


def _made(node: StatefulNode, asked: list[Asked]) -> list[StructField]:
    """Return the columns that are made of rows: aggregates, or the rank and the columns of the ranked row."""
    if not isinstance(node, WindowTopNode | TopNode):
        return [each.result for each in asked]
    [rows] = asked
    assert isinstance(rows.result.dataType, ArrayType)  # noqa: S101 - as the ranking was asked for
    shown = rows.result.dataType.elementType
    assert isinstance(shown, StructType)  # noqa: S101
    return [StructField(RANK.name, IntegerType()), *shown]


def _output(node: StatefulNode, made: list[StructField]) -> list[StructField]:
    change = [StructField(CHANGE.name, IntegerType())] if node.retracts else []
    if not isinstance(node, WindowNode):
        return [*made, *change]
    window = StructType([StructField("start", TimestampType()), StructField("end", TimestampType())])
    about = [
        StructField(PANE.name, StringType()),
        StructField(PANE_INDEX.name, IntegerType()),
        StructField(PANE_LAST.name, BooleanType()),
    ]
    return [StructField(WINDOW.name, window), *made, *about, *change]
