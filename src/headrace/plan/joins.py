"""What Spark makes of a join of streams: what of its rows travels and is held, and what its results are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql.types import DoubleType, FloatType, StructField, StructType

from headrace.declare.join import (
    LEFT,
    RIGHT,
    IntervalJoinNode,
    Joining,
    cast_cure,
    clash_told,
    clashes,
    joined,
    nullable,
)
from headrace.errors import PlanError
from headrace.plan import programs

if TYPE_CHECKING:
    from headrace.declare.node import StatefulNode
    from headrace.plan.programs import Entered, ProgramTypes, SideTypes


def travels(node: StatefulNode, side: int, row: StructType) -> list[str]:
    """Return the columns of a side that come to the step beside the key.

    The key is there anyway; only floating point is told apart by other bits there than the row may have. What
    no later step needs travels all the same: the rows held must not change when a step behind the join does.
    """
    keys = node.keys_of(side)
    return [field.name for field in row if field.name not in keys or _floats(field)]


def _floats(field: StructField) -> bool:
    return isinstance(field.dataType, DoubleType | FloatType)


def types_of(node: IntervalJoinNode, entered: Sequence[Entered]) -> ProgramTypes:
    """Return the types of a join."""
    left, right = entered
    check_keys(node, left.key, right.key)
    if not node.left_only:
        found = clashes(node, left.row.names, right.row.names)
        if found:
            message, cure = clash_told(node, found)
            raise PlanError(message, where=node.where, cure=cure)
    sides = tuple(side_types(node, side, each.row) for side, each in enumerate(entered))
    output, places = results(node, (left.row, right.row), (sides[LEFT].row, sides[RIGHT].row))
    return programs.ProgramTypes(left.key, StructType(), sides, (), output, places)


def results(
    node: Joining, rows: tuple[StructType, StructType], travelling: tuple[StructType, StructType]
) -> tuple[StructType, tuple[int, ...]]:
    """Return the columns of the results, and where each is: in the key, the left row, then the right row."""
    width = len(node.keys)
    fields, places = [], []
    for name, side, of in joined(node, rows[LEFT].names, rows[RIGHT].names):
        field = rows[side][of]
        optional = not node.left_only and nullable(node.how, side)
        if of in node.keys_of(side) and side == LEFT and (not node.left_only or not _floats(field)):
            place = node.keys.index(of)
            optional = not node.left_only and rows[RIGHT][node.right_keys[place]].nullable
        else:
            place = width + travelling[side].names.index(of)
            place += len(travelling[LEFT]) if side == RIGHT else 0
        fields.append(StructField(name, field.dataType, field.nullable or optional))
        places.append(place)
    return StructType(fields), tuple(places)


def side_types(node: StatefulNode, side: int, row: StructType, *, late: bool = True) -> SideTypes:
    """Return the types of what comes to one side; `late` if some of it may come too late."""
    kept = travels(node, side, row)
    keys = node.keys_of(side)
    full = tuple(len(keys) + kept.index(name) if name in kept else keys.index(name) for name in row.names)
    travelling = StructType([row[name] for name in kept])
    return programs.SideTypes(travelling, programs.late_rows(node, row) if late else row, full)


def check_keys(node: Joining, left: StructType, right: StructType) -> None:
    """Refuse keys that Spark knows to be of two types."""
    for one, other, named in zip(left, right, node.right_keys, strict=True):
        if one.dataType.simpleString() != other.dataType.simpleString():
            raise PlanError(
                f'join {node.name!r}: the key "{one.name}" is {one.dataType.simpleString()} on the left, '
                f'and "{named}" is {other.dataType.simpleString()} on the right: they are never equal',
                where=node.where,
                cure=cast_cure(named, one.dataType.simpleString()),
            )
