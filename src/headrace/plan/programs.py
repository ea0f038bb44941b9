"""What Spark makes of a stateful step: the types of its key, its state and its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql.types import (
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
    WindowAggNode,
)
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
    compiled: Mapping[str, object] = field(default_factory=dict)
    """What the kernel is told besides, of a step that evaluates expressions by itself."""

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
    if not isinstance(node, WindowAggNode):
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
    window = StructType([StructField("start", TimestampType()), StructField("end", TimestampType())])
    output = StructType(
        [
            *(field for field in key if field.name in node.keys),
            StructField(WINDOW.name, window),
            *(each.result for each in asked),
            StructField(PANE.name, StringType()),
            StructField(PANE_INDEX.name, IntegerType()),
            StructField(PANE_LAST.name, BooleanType()),
            *([StructField(CHANGE.name, IntegerType())] if node.retracts else []),
        ]
    )
    return ProgramTypes(key, inputs, row, tuple(described), output, late)
