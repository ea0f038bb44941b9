"""What Spark makes of a stateful step: the types of its key, its state and its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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

from headrace.declare.join import IntervalJoinNode
from headrace.declare.join_table import LookupJoinNode
from headrace.declare.match import MatchNode
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
from headrace.plan import joins, lookups, patterns
from headrace.plan.aggregates import Asked


@dataclass(frozen=True)
class SideTypes:
    """The types of one input of a stateful step.

    `full` are the places of a late row's columns, first among the key's and then among those that come to the
    step beside it; None where the row comes whole.
    """

    row: StructType
    late: StructType
    full: tuple[int, ...] | None = None

    @classmethod
    def unlate(cls, row: StructType) -> SideTypes:
        """Return the types of an input whose rows are never late."""
        return cls(row, row)


@dataclass(frozen=True)
class ProgramTypes:
    """What Spark made of a stateful step: the types that its state and its results have."""

    key: StructType
    inputs: StructType
    sides: tuple[SideTypes, ...]
    aggregates: tuple[Mapping[str, Any], ...]
    output: StructType
    columns: tuple[int, ...] | None = None
    """Where each column of a join's results is: among the key's, the left row's, then the right row's."""
    compiled: Mapping[str, object] = field(default_factory=dict)
    """What the kernel is told besides, of a step that evaluates expressions by itself."""

    @property
    def row(self) -> StructType:
        """The type of what comes beside the key to a step's only input."""
        [side] = self.sides
        return side.row

    def schemas(self, node: StatefulNode) -> dict[Port, StructType]:
        """Return the columns of every port of the step."""
        by_port = {"out": self.output, "timed_out": self.output, "duplicate": self.sides[0].row}
        by_port |= {name: side.late for name, side in zip(node.late_ports, self.sides, strict=True)}
        return {Port(node, name): by_port[name] for name in node.ports}


@dataclass(frozen=True)
class Entered:
    """What Spark made of the rows that come to one input of a stateful step."""

    row: StructType
    key: StructType
    inputs: StructType
    asked: tuple[Asked, ...] = ()
    compiled: Mapping[str, Any] = field(default_factory=dict)
    """What else was found while they were led there."""

    def or_null(self, others: Sequence[Entered]) -> Entered:
        """Return the same with columns that may be null where those of others may."""
        all_ = (self, *others)
        row, key = (_or_null([getattr(each, what) for each in all_]) for what in ("row", "key"))
        return replace(self, row=row, key=key)

    def text(self) -> str:
        """Return the types, whether they may be null or not."""
        results = ", ".join(f"{each.name} {each.result.dataType.simpleString()}" for each in self.asked)
        return f"{self.row.simpleString()} by {self.key.simpleString()}{results and ': '}{results}"


def _or_null(structs: Sequence[StructType]) -> StructType:
    fields = zip(*structs, strict=True)
    return StructType(
        [StructField(each[0].name, each[0].dataType, any(one.nullable for one in each)) for each in fields]
    )


def types_of(node: StatefulNode, entered: Sequence[Entered]) -> ProgramTypes:
    """Return the types of a step over what comes to each of its inputs."""
    if isinstance(node, IntervalJoinNode):
        return joins.types_of(node, entered)
    if isinstance(node, LookupJoinNode):
        return lookups.types_of(node, entered)
    [only] = entered
    if isinstance(node, MatchNode):
        return patterns.types_of(node, only)
    return _types_of_one(node, only)


def late_rows(node: StatefulNode, row: StructType) -> StructType:
    """Return what late rows look like."""
    taken = next((name for name in row.names if name.lower() == LATE_BY.name), None)
    if taken is not None:
        raise PlanError(
            f'the column "{taken}" has the name of one that late rows get',
            where=node.where,
            cure="rename it before the step",
        )
    return StructType([*row, StructField(LATE_BY.name, DoubleType())])


def _types_of_one(node: StatefulNode, only: Entered) -> ProgramTypes:
    """Return the types of a step over one input; those of aggregates are what a batch query would give."""
    row, key, inputs, asked = only.row, only.key, only.inputs, only.asked
    sides = (SideTypes(row, late_rows(node, row)),)
    if not asked:
        return ProgramTypes(key, inputs, sides, (), row)
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
    return ProgramTypes(key, inputs, sides, tuple(described), output)


def _made(node: StatefulNode, asked: Sequence[Asked]) -> list[StructField]:
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
