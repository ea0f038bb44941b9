"""What Spark makes of a join of a stream with a table: versions on their way to it, and its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from headrace.declare.join import LEFT, RIGHT, clashes, joined
from headrace.declare.join_table import LookupJoinNode, VersionsNode, clash_with_table
from headrace.declare.table_node import AFTER, BEFORE, TableSourceNode
from headrace.errors import PlanError
from headrace.plan import programs, tables
from headrace.plan.joins import check_keys, side_types
from headrace.plan.keys import key_of, told_apart
from headrace.plan.rows import Frame, Rows

if TYPE_CHECKING:
    from headrace.plan.programs import Entered, ProgramTypes
    from headrace.plan.weaving import Thread, Weaver

KEY, ROW = "key", "row"
"""The fields of a version."""


def versions(frame: Frame, node: VersionsNode, rows: Rows) -> Rows:
    """Make versions of records: each is its key and its row, which is null in a tombstone."""
    keys, key = key_of(frame, node, rows, F.col(rows.struct))
    alive, row = F.col(rows.alive), F.col(rows.struct)
    if isinstance(node.parents[0].node, TableSourceNode):
        deleted = F.col(tables.TOMBSTONE)
        of_deleted = (told_apart(deleted[kind.name], kind, node).alias(kind.name) for kind in keys)
        key = F.when(deleted.isNotNull(), F.struct(*of_deleted)).otherwise(key)
        alive |= deleted.isNotNull()
    version = F.struct(key.alias(KEY), F.when(F.col(rows.alive), row).alias(ROW))
    schema = StructType([StructField(KEY, keys), StructField(ROW, rows.schema)])
    return frame.rows(F.when(alive, version), alive, schema).at(rows.time)


def lead(weaver: Weaver, node: LookupJoinNode, thread: Thread, rows: Rows) -> Entered:
    """Lead the rows of a table to a join: a key and what is there, null where there is nothing."""
    frame = weaver.frames[thread]
    if rows.before is None:
        key_type, row_type = (rows.schema[name].dataType for name in (KEY, ROW))
        assert isinstance(key_type, StructType)  # noqa: S101 - a version is made so
        assert isinstance(row_type, StructType)  # noqa: S101
        alive, row = F.col(rows.alive), F.col(rows.struct)[ROW]
        key = F.struct(*(F.col(rows.struct)[KEY][name].alias(name) for name in node.right_keys))
        keys = StructType([key_type[name] for name in node.right_keys])
    else:
        changed = tables.paired(frame, rows)
        alive, change = F.col(changed.alive), F.col(changed.struct)
        row, row_type = change[AFTER], rows.schema
        keys, key = key_of(frame, node, rows, F.coalesce(row, change[BEFORE]), node.right_keys)
    travelling = F.struct(*(row[name].alias(name) for name in _travels(node, row_type)))
    content = F.struct(
        F.col(rows.time).alias("time"),
        key.alias("key"),
        F.struct().alias("inputs"),
        F.when(row.isNotNull(), travelling).alias("row"),
    )
    weaver.lead(thread, F.when(alive, content), node, RIGHT)
    return programs.Entered(row_type, keys, StructType())


def _travels(node: LookupJoinNode, row: StructType) -> list[str]:
    """Return the columns of a table's row that a result has beside the key."""
    return [name for name in row.names if name not in node.right_keys]


def types_of(node: LookupJoinNode, entered: Sequence[Entered]) -> ProgramTypes:
    """Return the types of a join with a table."""
    left, right = entered
    check_keys(node, left.key, right.key)
    found = clashes(node, left.row.names, right.row.names)
    if found:
        message, cure = clash_with_table(node, found)
        raise PlanError(message, where=node.where, cure=cure)
    of_left = side_types(node, LEFT, left.row, late=not node.current)
    of_right = programs.SideTypes.unlate(StructType([right.row[name] for name in _travels(node, right.row)]))
    width = len(node.keys)
    fields, places = [], []
    for name, side, of in joined(node, left.row.names, right.row.names):
        field = entered[side].row[of]
        if side == RIGHT:
            place = width + len(of_left.row) + of_right.row.names.index(of)
            optional = node.how == "left"
        else:
            place = node.keys.index(of) if of in node.keys else width + of_left.row.names.index(of)
            optional = False
        fields.append(StructField(name, field.dataType, field.nullable or optional))
        places.append(place)
    return programs.ProgramTypes(
        left.key, StructType(), (of_left, of_right), (), StructType(fields), tuple(places)
    )
