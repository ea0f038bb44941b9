"""What Spark makes of a look-up: a column of answers beside the rows, asked for by the kernel."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructField, StructType

from headrace.declare.expr import column
from headrace.declare.lookup import LookupNode, clash, is_key, wrong_key
from headrace.errors import PlanError
from headrace.plan.rows import Rejection, Rows

if TYPE_CHECKING:
    from headrace.plan.rows import Frame


def look_up(frame: Frame, node: LookupNode, rows: Rows, name: str, pipeline: str) -> tuple[Rows, Rejection]:
    """Add the columns of the remote table to rows; one that it cannot give as declared makes a rejection."""
    _check(frame, node, rows)
    alive = F.col(rows.alive)
    asked, found, reason = (frame.fresh(kind) for kind in ("asked", "found", "reason"))
    frame.add(**{asked: F.when(alive, F.col(rows.struct)[node.key].cast(_type(node.remote_key.type)))})
    specified = json.dumps(specification(node, pipeline))
    answered = frame.kernel.jvm.headrace.remote.Lookups.apply(frame.frame._jdf, asked, found, specified)
    frame.read = DataFrame(answered, frame.kernel.spark)
    frame.add(**{reason: F.when(alive, F.col(found)["reason"])})
    row = F.col(found)["row"]
    there = alive & F.col(reason).isNull()
    if node.how == "inner":
        there &= row.isNotNull()
    fields = [
        StructField(made, _type(of.type), of.type.nullable or node.how == "left") for made, of in node.fields
    ]
    struct = F.struct(
        *(F.col(rows.struct)[each].alias(each) for each in rows.schema.names),
        *(row[of.name].alias(made) for made, of in node.fields),
    )
    schema = StructType([*rows.schema, *fields])
    return frame.rows(F.when(there, struct), there, schema), Rejection(name, reason, rows)


def specification(node: LookupNode, pipeline: str, *, starting: bool = False) -> dict[str, Any]:
    """Return what the kernel is told of a look-up; secrets are in it."""
    schema, _, table = node.table.table.rpartition(".")
    return {
        "pipeline": pipeline,
        "step": node.name,
        "where": node.where,
        **node.table.connection(starting=starting),
        "schema": schema or None,
        "table": table,
        "key": node.remote_key.name,
        "key_type": node.remote_key.type.json_value(),
        "row": {
            "type": "struct",
            "fields": [
                {
                    "name": of.name,
                    "type": of.type.json_value(),
                    "nullable": of.type.nullable,
                    "metadata": {},
                }
                for _, of in node.fields
            ],
        },
        "keep_millis": node.cache // timedelta(milliseconds=1),
        "keep_rows": node.keep,
        "batch": node.batch,
        "queries": node.queries,
        "retry_millis": node.retry // timedelta(milliseconds=1),
    }


def _check(frame: Frame, node: LookupNode, rows: Rows) -> None:
    """Refuse what only the types of the rows can tell."""
    analysed = frame.analyse(rows, [(node.key, column(f"`{node.key}`"))], node.where)
    kind = analysed.schema[0].dataType.simpleString().upper()
    if not is_key(kind, node.remote_key.type):
        wrong = wrong_key(node.key, kind, node.parents[0].text(), node.table, node.remote_key, node.where)
        raise PlanError(wrong.message, where=wrong.where, cure=wrong.cure)
    taken = {each.lower() for each in rows.schema.names}
    for made, _ in node.fields:
        if made.lower() in taken:
            twice = clash(node.name, made, node.where)
            raise PlanError(twice.message, where=twice.where, cure=twice.cure)


def _type(kind: Any) -> DataType:
    """Return Spark's type of a plain value."""
    field = {"name": "x", "type": kind.json_value(), "nullable": True, "metadata": {}}
    return StructType.fromJson({"type": "struct", "fields": [field]})["x"].dataType
