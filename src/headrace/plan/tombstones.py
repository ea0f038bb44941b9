"""The records of a topic that is read as a table: rows, deletes, and what is neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from headrace.plan.tables import TOMBSTONE

if TYPE_CHECKING:
    from headrace.declare.table_node import TableSourceNode
    from headrace.plan.rows import Frame


def decode_table(frame: Frame, source: TableSourceNode, decoded: Column, schema: StructType) -> None:
    """Add the columns of what a record is: a row, the key that a tombstone deletes, or why it is neither.

    The key of a row is its field; a tombstone has no fields, and its key is the message's, as text.
    """
    field = schema[str(source.topic.key)]
    is_row = F.col("__value").isNotNull()
    frame.add(__decoded=F.when(is_row, decoded))
    frame.add(__key_read=F.when(~is_row, _read(field)))
    text = F.coalesce(F.col("__key").cast("string"), F.lit("null"))
    nothing = F.concat(
        F.lit(f"tombstone whose key is no {field.dataType.simpleString()} ({field.name}): "), text
    )
    no_key = is_row & F.col("__decoded")["error"].isNull() & F.col("__decoded")["value"][field.name].isNull()
    frame.add(
        __undecoded=F.coalesce(
            F.col("__decoded")["error"],
            F.when(no_key, F.lit(f"field {field.name}: null, and it is the key of the table")),
            F.when(~is_row & F.col("__key_read").isNull(), nothing),
        )
    )
    frame.add(
        **{
            TOMBSTONE: F.when(
                ~is_row & F.col("__key_read").isNotNull(), F.struct(F.col("__key_read").alias(field.name))
            )
        }
    )


def _read(field: StructField) -> Column:
    """Return the message's key as a value of the field's type, null where it is none."""
    if isinstance(field.dataType, BinaryType):
        return F.col("__key")
    text = F.col("__key").cast("string")
    return text if isinstance(field.dataType, StringType) else text.try_cast(field.dataType)
