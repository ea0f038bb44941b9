"""Conditions of a pattern that look at earlier events of the match: columns that the kernel evaluates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DecimalType,
    IntegralType,
    NumericType,
    StructField,
    StructType,
)

from headrace.declare.earlier import Earlier, looks
from headrace.errors import PlanError
from headrace.plan.columns import to_column
from headrace.plan.pattern_spec import conditions, looks_back

if TYPE_CHECKING:
    from pyspark.sql import Column

    from headrace.declare.expr import Expression
    from headrace.declare.match import MatchNode
    from headrace.plan.kernel import Kernel

_TAKEN = "__taken_"
_WIDEST, _WIDER = 38, 10


def compiled(kernel: Kernel, node: MatchNode, row: StructType) -> list[dict[str, Any]]:
    """Return the conditions that look at earlier events: bits, what is evaluated, and of which steps."""
    found = []
    for bit, condition in enumerate(conditions(node.pattern)):
        if not looks_back(condition):
            continue
        where = condition.where or node.where
        steps = [name for name in node.pattern.names if any(each.step == name for each in looks(condition))]
        read = StructType([*row, *(StructField(f"{_TAKEN}{name}", ArrayType(row)) for name in steps)])
        bound: dict[Expression, Column] = {each: _column(each, row, where) for each in looks(condition)}
        column = to_column(condition, row.names, where, bound).alias("condition")
        [kind], text = kernel.evaluable(read, [column], where)
        if not isinstance(kind.dataType, BooleanType):
            raise PlanError(
                f"the condition {condition.text()} is {kind.dataType.simpleString()}, not true or false",
                where=where,
                cure="compare it with something",
            )
        found.append({"bit": bit, "steps": list(map(node.pattern.names.index, steps)), "evaluated": text})
    return found


def _column(look: Earlier, row: StructType, where: str) -> Column:
    events = F.col(f"`{_TAKEN}{look.step}`")
    if look.look == "prev":
        return F.try_element_at(events, F.lit(-1))
    if look.look == "count":
        return F.size(events).cast("bigint")
    assert look.column is not None  # noqa: S101 - only a count has none
    values = F.transform(events, lambda event: event.getField(look.column))
    if look.look in {"first", "last"}:
        return F.try_element_at(values, F.lit(1 if look.look == "first" else -1))
    if look.look in {"min", "max"}:
        return F.array_min(values) if look.look == "min" else F.array_max(values)
    total = _sum(values, row, look, where)
    if look.look == "sum":
        return total
    known = F.size(F.filter(values, lambda value: value.isNotNull()))
    return F.when(known > 0, total / known)


def _sum(values: Column, row: StructType, look: Earlier, where: str) -> Column:
    kind = row[str(look.column)].dataType
    if not isinstance(kind, NumericType):
        raise PlanError(
            f'{look.text()}: "{look.column}" is {kind.simpleString()}, and no number',
            where=where,
            cure="sum a number up",
        )
    wide = "double"
    if isinstance(kind, IntegralType):
        wide = "bigint"
    elif isinstance(kind, DecimalType):
        wide = f"decimal({min(_WIDEST, kind.precision + _WIDER)},{kind.scale})"
    nothing = F.lit(0).cast(wide)
    return F.aggregate(
        values, nothing, lambda total, value: (total + F.coalesce(value.cast(wide), nothing)).cast(wide)
    )
