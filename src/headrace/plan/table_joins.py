"""What Spark makes of a join of tables: its rows on their way in, with their signs, and its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from headrace.declare.expr import column
from headrace.declare.join import LEFT, RIGHT, nullable
from headrace.declare.table_node import AFTER, BEFORE, table_key
from headrace.errors import PlanError
from headrace.plan import joins, tables
from headrace.plan.keys import key_of, told_apart
from headrace.plan.program_rows import lead_row
from headrace.plan.programs import ProgramTypes, SideTypes

if TYPE_CHECKING:
    from headrace.declare.table_join import NettedNode, TableJoinNode
    from headrace.plan.rows import Rows
    from headrace.plan.weaving import Thread, Weaver


def lead(weaver: Weaver, node: TableJoinNode) -> ProgramTypes:
    """Lead the rows of both tables to a join; return the types that Spark makes of it."""
    rows, keys, travelling = [], [], []
    for side, parent in enumerate(node.parents):
        # A table is of one frame: it always comes from a step with state.
        [(thread, of_side)] = weaver.rows[parent]
        rows.append(of_side.schema)
        keys.append(_enter(weaver, node, side, thread, of_side))
        travelling.append(
            StructType([of_side.schema[name] for name in joins.travels(node, side, of_side.schema)])
        )
    joins.check_keys(node, keys[LEFT], keys[RIGHT])
    _check_nulls(node, rows)
    output, places = joins.results(node, (rows[LEFT], rows[RIGHT]), (travelling[LEFT], travelling[RIGHT]))
    told: dict[str, Any] = {
        # A side's rows are given alone where the other one's columns may be missing.
        "left": nullable(node.how, RIGHT),
        "right": nullable(node.how, LEFT),
        "columns": places,
        "primary": [output.names.index(name) for name in node.primary_key],
    }
    sides = tuple(SideTypes.unlate(each) for each in travelling)
    return ProgramTypes(keys[LEFT], StructType(), sides, (), tables.pair(output), compiled={"joining": told})


def _enter(weaver: Weaver, node: TableJoinNode, side: int, thread: Thread, rows: Rows) -> StructType:
    """Lead the rows of a side to the join: those that were to be taken back, those that are to be added."""
    frame = weaver.frames[thread]
    named = [(name, column(f"`{of}`")) for name, of in zip(node.keys, node.keys_of(side), strict=True)]
    keys = StructType()
    for each, sign in zip(tables.netted(frame, rows), (-1, 1), strict=True):
        struct = F.col(each.struct)
        analysed = frame.analyse(each, named, node.where)
        keys = analysed.schema
        parts = zip(analysed.over(struct), keys, strict=True)
        lead_row(
            weaver,
            thread,
            node,
            each,
            F.struct(*(told_apart(part, kind, node).alias(kind.name) for part, kind in parts)),
            changed_row=F.struct(
                *(struct[name].alias(name) for name in joins.travels(node, side, each.schema))
            ),
            sign=sign,
            side=side,
        )
    return keys


def _check_nulls(node: TableJoinNode, rows: list[StructType]) -> None:
    """Refuse a full join in which a row of each side, alone, could have the same primary key: all nulls."""
    if node.how != "full":
        return
    pairs = list(zip(node.keys, node.right_keys, strict=True))
    both = [pair for pair in pairs if rows[LEFT][pair[LEFT]].nullable and rows[RIGHT][pair[RIGHT]].nullable]
    others = [
        rows[side][name]
        for side, parent in enumerate(node.parents)
        for name in table_key(parent) or ()
        if name not in node.keys_of(side)
    ]
    if both and all(field.nullable for field in others):
        name = both[0][LEFT]
        raise PlanError(
            f'the full join {node.name!r} is by "{name}", which may be null on both sides: null equals '
            "nothing, so there would be two rows that nothing tells apart",
            where=node.where,
            cure=f"give null a value before, in both tables or in what they are made of: "
            f'.with_columns({name}=F.coalesce("{name}", F.lit(...)))',
        )


def net(weaver: Weaver, node: NettedNode, thread: Thread, rows: Rows) -> ProgramTypes:
    """Lead the changes of a join to the step that makes one of two halves."""
    frame = weaver.frames[thread]
    changed = tables.paired(frame, rows)
    sides = F.coalesce(F.col(changed.struct)[AFTER], F.col(changed.struct)[BEFORE])
    keys, key = key_of(frame, node, rows, sides)
    lead_row(weaver, thread, node, changed, key, changed_row=F.col(changed.struct))
    return ProgramTypes(keys, StructType(), (SideTypes.unlate(changed.schema),), (), changed.schema)
