"""What Spark makes of a step that looks for a pattern: the conditions of its rows, and its matches.

The conditions of a row are computed before it comes to the step, as the bits of one number: the kernel sees
bits. Beside them come the columns that rows of one time are ordered by, then those of the row that the key
does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    LongType,
    StructField,
    StructType,
    TimestampType,
)

from headrace.declare.expr import Given
from headrace.declare.match import check_names
from headrace.declare.pattern import END, START
from headrace.errors import PlanError
from headrace.plan import earlier, programs
from headrace.plan.columns import to_column
from headrace.plan.joins import travels
from headrace.plan.keys import key_of
from headrace.plan.pattern_spec import CONDITIONS, MOST, conditions, looks_back, told

if TYPE_CHECKING:
    from headrace.declare.expr import Expression
    from headrace.declare.match import MatchNode
    from headrace.plan.kernel import Kernel
    from headrace.plan.programs import Entered, ProgramTypes
    from headrace.plan.rows import Rows
    from headrace.plan.weaving import Thread, Weaver


def lead(weaver: Weaver, node: MatchNode, thread: Thread, rows: Rows) -> Entered:
    """Lead rows to a step: their conditions, what they are ordered by, and their columns."""
    frame, kernel = weaver.frames[thread], weaver.kernel
    struct = F.col(rows.struct)
    keys, key = key_of(frame, node, rows, struct)
    every = conditions(node.pattern)
    alone = [(bit, each) for bit, each in enumerate(every) if not looks_back(each)]
    named = [(f"condition{bit}", each) for bit, each in alone]
    if len(every) > MOST:
        raise PlanError(
            f"the pattern of {node.name!r} has {len(every)} conditions, of which {MOST} are possible",
            where=node.where,
            cure="compute some of them before: .with_columns(kind=...), and compare that",
        )
    sorted_by = [
        kernel.sorted(to_column(each.written, rows.schema.names, node.where), node.where)
        for each in node.order
    ]
    named += [(f"by{place}", Given(by, where=node.where)) for place, (by, _) in enumerate(sorted_by)]
    may_fail, made, types = False, [], StructType()
    if named:
        analysed = frame.analyse_step(rows, named, node)
        may_fail, made, types = analysed.may_fail(), analysed.over(struct), analysed.schema
    _check_types(kernel, node, [each for _, each in alone], types)
    mask = F.lit(0).cast("bigint")
    for (bit, _), each in zip(alone, made, strict=False):
        # What is not known is not true.
        mask = mask.bitwiseOR(F.when(each, F.lit(1 << bit).cast("bigint")).otherwise(F.lit(0).cast("bigint")))
    ordered = [column.alias(f"__by{place}") for place, column in enumerate(made[len(alone) :])]
    computed = F.struct(mask.alias(CONDITIONS), *ordered)
    value, alive, rejection = frame.guarded(rows, computed, may_fail=may_fail, step=node.name)
    if rejection:
        weaver.reject(thread, node.parents[0].node, rejection, node)
    # What is between two operators leads here, too.
    from headrace.plan.between import as_json

    kept = travels(node, 0, rows.schema)
    content = F.struct(
        F.col(rows.time).alias("time"),
        key.alias("key"),
        F.struct().alias("inputs"),
        F.struct(
            value[CONDITIONS].alias(CONDITIONS),
            *(value[f"__by{place}"].alias(f"__by{place}") for place in range(len(ordered))),
            *(struct[name].alias(name) for name in kept),
        ).alias("row"),
    )
    weaver.lead(thread, F.when(alive, content), node)
    by = [StructField(f"__by{place}", each.dataType) for place, each in enumerate(list(types)[len(alone) :])]
    row = StructType([StructField(CONDITIONS, LongType()), *by, *(rows.schema[name] for name in kept)])
    found = {
        "row": row,
        "directions": [each for _, each in sorted_by],
        "earlier": earlier.compiled(kernel, node, rows.schema),
        "shown": kernel.evaluable(rows.schema, [as_json(F.struct("*")).alias("row")], node.where)[1],
    }
    return programs.Entered(rows.schema, keys, StructType(), compiled=found)


def _check_types(kernel: Kernel, node: MatchNode, alone: list[Expression], types: StructType) -> None:
    for each, kind in zip(alone, types, strict=False):
        if not isinstance(kind.dataType, BooleanType):
            raise PlanError(
                f"the condition {each.text()} is {kind.dataType.simpleString()}, not true or false",
                where=each.where or node.where,
                cure="compare it with something: F.col(...) > 0",
            )
    for order, kind in zip(node.order, list(types)[len(alone) :], strict=True):
        if not kernel.sorts(kind.dataType):
            raise PlanError(
                f"match of {node.name!r} is by {order.by.text()}, which is {kind.dataType.simpleString()}: "
                "its values cannot be compared",
                where=node.where,
                cure="order by a part of it",
            )


def types_of(node: MatchNode, only: Entered) -> ProgramTypes:
    """Return the types of a step, and what the kernel is told of the pattern."""
    check_names(node.keys, node.pattern, node.where, PlanError)
    row: StructType = only.compiled["row"]
    places = _places(node, only.row, row)
    event = StructType(list(only.row))
    output = StructType(
        [
            *only.key,
            StructField(START, TimestampType()),
            StructField(END, TimestampType()),
            *(StructField(name, ArrayType(event)) for name in node.pattern.names),
        ]
    )
    side = programs.SideTypes(row, programs.late_rows(node, only.row), tuple(places))
    source = node.sources[0]
    told_besides = {name: only.compiled[name] for name in ("directions", "earlier", "shown")}
    compiled = {
        "pattern": told(node),
        "elements": places,
        "topic": source.topic.name,
        "fails": source.topic.on_error == "fail",
        **told_besides,
    }
    return programs.ProgramTypes(only.key, StructType(), (side,), (), output, compiled=compiled)


def _places(node: MatchNode, whole: StructType, row: StructType) -> list[int]:
    """Return where each column of a row is: among those of the key, or of what comes beside it."""
    kept = travels(node, 0, whole)
    first = len(node.keys) + len(row) - len(kept)
    return [
        first + kept.index(field.name) if field.name in kept else node.keys.index(field.name)
        for field in whole
    ]
