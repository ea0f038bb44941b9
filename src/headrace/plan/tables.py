"""Tables on their way between operators: what a row was beside what it is, and what a table's steps take.

Inside a stage the rows of a table are two structs side by side, see `Rows.before`: every step is taken by
both. Where they leave a stage they are netted, since a step may have made equals of both: as one
struct<before, after> where the change stays with its key; as a row with the sign -1 and one with +1 where
each has a key of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, FloatType, LongType, StringType, StructField, StructType

from headrace.declare.table_fold import FoldNode
from headrace.declare.table_group import inexact
from headrace.declare.table_join import NettedNode
from headrace.declare.table_node import (
    AFTER,
    BEFORE,
    OP,
    SEQUENCE,
    ChangesNode,
    GroupNode,
    TopicTableNode,
    works_on_table,
)
from headrace.plan import folds, table_joins
from headrace.plan.aggregates import Asked, ask
from headrace.plan.keys import key_of, told_apart
from headrace.plan.program_rows import lead_row
from headrace.plan.programs import ProgramTypes, SideTypes
from headrace.plan.rows import Frame, Rows

if TYPE_CHECKING:
    from headrace.declare.table_node import TableStep
    from headrace.plan.kernel import Analysed
    from headrace.plan.weaving import Thread, Weaver

TOMBSTONE = "__tombstone"
"""The column of a topic's frame that holds the key which a record deletes, in a struct; null for others."""


def pair(row: StructType) -> StructType:
    """Return the type of a change."""
    return StructType([StructField(BEFORE, row), StructField(AFTER, row)])


def apart(frame: Frame, rows: Rows) -> Rows:
    """Take changes apart: two structs side by side."""
    row = rows.schema[AFTER].dataType
    assert isinstance(row, StructType)  # noqa: S101 - it is a change
    change, alive = F.col(rows.struct), F.col(rows.alive)
    before, after = (
        frame.rows(F.when(alive, change[side]), alive & change[side].isNotNull(), row)
        for side in (BEFORE, AFTER)
    )
    return replace(after, time=rows.time, before=before.at(rows.time), change=rows.struct)


def netted(frame: Frame, rows: Rows) -> tuple[Rows, Rows]:
    """Return what rows were and what they are, where that is not the same."""
    assert rows.before is not None  # noqa: S101 - they are a table's
    sides = (rows.before, replace(rows, before=None, change=""))
    if rows.change:
        return sides
    # Bytes are compared: a map, too, may be in a row.
    was, is_ = (F.when(F.col(side.alive), frame.kernel.pack(F.col(side.struct))) for side in sides)
    differs = frame.fresh("differs")
    frame.add(**{differs: ~was.eqNullSafe(is_)})
    before, after = (replace(side, alive=frame.fresh("alive")) for side in sides)
    frame.add(
        **{before.alive: F.col(rows.before.alive) & F.col(differs)},
        **{after.alive: F.col(rows.alive) & F.col(differs)},
    )
    return before, after


def paired(frame: Frame, rows: Rows) -> Rows:
    """Return changes as rows of one struct."""
    before, after = netted(frame, rows)
    alive = F.col(before.alive) | F.col(after.alive)
    if rows.change:
        made = Rows(rows.change, frame.fresh("alive"), pair(rows.schema), rows.time)
        frame.add(**{made.alive: alive})
        return made
    change = F.struct(
        *(
            F.when(F.col(side.alive), F.col(side.struct)).alias(name)
            for name, side in ((BEFORE, before), (AFTER, after))
        )
    )
    return frame.rows(F.when(alive, change), alive, pair(rows.schema)).at(rows.time)


def lead(weaver: Weaver, node: TableStep, thread: Thread, rows: Rows) -> ProgramTypes:
    """Lead rows to a table's step; return the types that Spark makes of it."""
    if isinstance(node, GroupNode):
        return _group(weaver, node, thread, rows)
    if isinstance(node, FoldNode):
        return folds.lead(weaver, node, thread, rows)
    frame = weaver.frames[thread]
    if isinstance(node, NettedNode):
        return table_joins.net(weaver, node, thread, rows)
    if isinstance(node, ChangesNode):
        changed = paired(frame, rows)
        # A key is of the row that is there; where it was deleted, of the one that was.
        sides = F.coalesce(F.col(changed.struct)[AFTER], F.col(changed.struct)[BEFORE])
        keys, key = key_of(frame, node, rows, sides)
        lead_row(weaver, thread, node, changed, key, changed_row=F.col(changed.struct))
        output = StructType(
            [
                *keys,
                StructField(OP, StringType()),
                *pair(rows.schema),
                StructField(SEQUENCE, LongType()),
            ]
        )
        return ProgramTypes(keys, StructType(), (SideTypes.unlate(changed.schema),), (), output)
    keys, key = key_of(frame, node, rows, F.col(rows.struct))
    lead_row(weaver, thread, node, rows, key, changed_row=F.col(rows.struct))
    if isinstance(node, TopicTableNode):
        _tombstones(weaver, node, thread, rows, keys)
    return ProgramTypes(keys, StructType(), (SideTypes.unlate(rows.schema),), (), pair(rows.schema))


def _tombstones(weaver: Weaver, node: TableStep, thread: Thread, rows: Rows, keys: StructType) -> None:
    """Lead the keys that a topic deletes to its table: as rows of null."""
    key = F.struct(*(told_apart(F.col(TOMBSTONE)[kind.name], kind, node).alias(kind.name) for kind in keys))
    nothing = F.lit(None).cast(rows.schema)
    deleted = replace(rows, alive=weaver.frames[thread].fresh("alive"))
    weaver.frames[thread].add(**{deleted.alive: F.col(TOMBSTONE).isNotNull()})
    lead_row(weaver, thread, node, deleted, key, changed_row=nothing)


def _group(weaver: Weaver, node: GroupNode, thread: Thread, rows: Rows) -> ProgramTypes:
    frame = weaver.frames[thread]
    asked = ask(weaver.kernel, node, rows.schema)
    inputs = [(f"input{place}", each.input) for place, each in enumerate(asked) if each.input is not None]
    keys, taken = StructType(), None
    # Rows of a stream stay: none is taken back.
    sides = [(rows, 1)] if rows.before is None else list(zip(netted(frame, rows), (-1, 1), strict=True))
    for side, sign in sides:
        taken = frame.analyse_step(side, inputs, node) if inputs else None
        keys, key = key_of(frame, node, side, F.col(side.struct))
        value, computed, rejection = frame.guarded(
            side, _inputs(taken, side), may_fail=bool(taken and taken.may_fail()), step=node.name
        )
        # What fails on a row failed when that row came: it is not in the group.
        if rejection and sign > 0:
            weaver.reject(thread, node, rejection, node)
        alive = frame.fresh("alive")
        frame.add(**{alive: computed})
        lead_row(
            weaver,
            thread,
            node,
            replace(side, alive=alive),
            key,
            changed_row=F.struct(),
            inputs=value,
            sign=sign,
        )
    types = taken.schema if taken else StructType()
    described = _described(node, asked, types)
    row = StructType([*keys, *(each.result for each in asked)])
    return ProgramTypes(keys, types, (SideTypes.unlate(StructType()),), tuple(described), pair(row))


def _inputs(taken: Analysed | None, rows: Rows) -> Column:
    if taken is None:
        return F.struct()
    columns = zip(taken.over(F.col(rows.struct)), taken.schema, strict=True)
    return F.struct(*(each.alias(kind.name) for each, kind in columns))


def _described(node: GroupNode, asked: list[Asked], inputs: StructType) -> list[dict[str, Any]]:
    described: list[dict[str, Any]] = []
    retracts = works_on_table(node)
    position = 0
    for each, made in zip(asked, node.aggregates, strict=True):
        if each.input is not None:
            kind = inputs[position].dataType
            if retracts and made.function in {"sum", "avg"} and isinstance(kind, DoubleType | FloatType):
                raise inexact(made, made.inputs[0].text(), node.where)
        described.append(
            {
                "name": each.name,
                "function": each.function,
                "input": None if each.input is None else position,
                "type": each.result.dataType.jsonValue(),
                # Written as Java reads it, and as it is compared in the manifest.
                "options": {**each.options, **({"retract": "true"} if retracts else {})},
            }
        )
        position += each.input is not None
    return described
