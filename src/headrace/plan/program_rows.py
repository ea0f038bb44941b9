"""Rows on their way into the program of a table's step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from headrace.declare.table_node import TableStep
    from headrace.plan.rows import Rows
    from headrace.plan.weaving import Thread, Weaver


def lead_row(
    weaver: Weaver,
    thread: Thread,
    node: TableStep,
    rows: Rows,
    key: Column,
    *,
    changed_row: Column,
    inputs: Column | None = None,
    sign: int | None = None,
    side: int = 0,
) -> None:
    """Lead rows of a table to a step's program; with a sign where they may be taken back."""
    fields = [
        F.col(rows.time).alias("time"),
        key.alias("key"),
        (F.struct() if inputs is None else inputs).alias("inputs"),
        changed_row.alias("row"),
    ]
    if sign is not None:
        fields.append(F.lit(sign).alias("sign"))
    weaver.lead(thread, F.when(F.col(rows.alive), F.struct(*fields)), node, side)
