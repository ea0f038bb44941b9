"""Folds: what the kernel evaluates by itself, and the types that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType, IntegralType, StructField, StructType

from headrace.declare.table_fold import ROW, STATE
from headrace.declare.table_node import AFTER, BEFORE
from headrace.errors import PlanError
from headrace.plan.columns import to_column
from headrace.plan.keys import key_of
from headrace.plan.program_rows import lead_row
from headrace.plan.programs import ProgramTypes, SideTypes

if TYPE_CHECKING:
    from headrace.declare.table_fold import FoldNode
    from headrace.plan.rows import Rows
    from headrace.plan.weaving import Thread, Weaver


def lead(weaver: Weaver, node: FoldNode, thread: Thread, rows: Rows) -> ProgramTypes:
    """Lead rows to a fold; return the types that Spark makes of it."""
    # What is between two operators leads to folds, too.
    from headrace.plan.between import as_json

    kernel, frame = weaver.kernel, weaver.frames[thread]
    keys, key = key_of(frame, node, rows, F.col(rows.struct))
    lead_row(weaver, thread, node, rows, key, changed_row=F.col(rows.struct))
    begin = [to_column(each.expression, (), node.where).alias(each.name) for each in node.initial]
    typed, initial = kernel.evaluable(StructType(), begin, node.where)
    # A field may be null later, whatever it begins with.
    state = StructType([StructField(field.name, field.dataType) for field in typed])
    read = StructType(
        [StructField(STATE, state, nullable=False), StructField(ROW, rows.schema, nullable=False)]
    )
    columns = [to_column(each.expression, (STATE, ROW), node.where).alias(each.name) for each in node.steps]
    given, _ = kernel.evaluable(read, columns, node.where)
    made = [
        _fitted(column, wanted, found, node)
        for column, wanted, found in zip(columns, state, given, strict=True)
    ]
    _, step = kernel.evaluable(read, made, node.where)
    _, shown = kernel.evaluable(read, [as_json(F.col(ROW)).alias("row")], node.where)
    source = node.sources[0]
    row = StructType([*keys, *state])
    return ProgramTypes(
        keys,
        StructType(),
        (SideTypes.unlate(rows.schema),),
        (),
        StructType([StructField(BEFORE, row), StructField(AFTER, row)]),
        compiled={
            "initial": initial,
            "step": step,
            "shown": shown,
            "topic": source.topic.name,
            "fails": source.topic.on_error == "fail",
        },
    )


def _fitted(column: Column, wanted: StructField, found: StructField, node: FoldNode) -> Column:
    """Return a field of the next state in the type that it began with; what does not fit fails on its row."""
    if wanted.dataType == found.dataType:
        return column
    alike = any(
        isinstance(wanted.dataType, kind) and isinstance(found.dataType, kind)
        for kind in (DecimalType, IntegralType)
    )
    if not alike:
        raise PlanError(
            f"the state's {wanted.name} begins as {wanted.dataType.simpleString()}, and the step makes it "
            f"{found.dataType.simpleString()}",
            where=node.where,
            cure=f'begin with that type: initial={{"{wanted.name}": F.lit(...).cast('
            f'"{found.dataType.simpleString()}")}}, or cast what the step gives',
        )
    return column.cast(wanted.dataType).alias(wanted.name)
