"""Keys as the kernel tells them apart: by their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType, StructField, StructType

from headrace.declare.expr import column
from headrace.errors import PlanError

if TYPE_CHECKING:
    from headrace.declare.join_table import VersionsNode
    from headrace.declare.node import StatefulNode
    from headrace.plan.rows import Frame, Rows


def key_of(
    frame: Frame,
    node: StatefulNode | VersionsNode,
    rows: Rows,
    struct: Column,
    names: Sequence[str] | None = None,
) -> tuple[StructType, Column]:
    """Return the type of the key and the key, read from the struct of a row; `names` if not by the step's."""
    names = node.keys if names is None else names
    if not names:
        return StructType(), F.struct()
    named = [(name, column(f"`{name}`")) for name in names]
    analysed = frame.analyse(rows, named, node.where)
    read = zip(analysed.over(struct), analysed.schema, strict=True)
    key = F.struct(*(told_apart(each, kind, node).alias(kind.name) for each, kind in read))
    return analysed.schema, key


def told_apart(key: Column, kind: StructField, node: StatefulNode | VersionsNode) -> Column:
    """Make one key of what is equal: keys are told apart by bits, of which 0.0 and NaN have several."""
    if isinstance(kind.dataType, DoubleType | FloatType):
        nan, zero = (F.lit(value).cast(kind.dataType) for value in (float("nan"), 0.0))
        return F.when(F.isnan(key), nan).when(key == zero, zero).otherwise(key)
    if _holds_floats(kind.dataType):
        raise PlanError(
            f"key {kind.name!r} of {node.verb} {node.name!r} is {kind.dataType.simpleString()}: "
            "floating point inside a key is told apart by its bits",
            where=node.where,
            cure="key by its parts, or cast them to decimal or string",
        )
    return key


def _holds_floats(kind: DataType) -> bool:
    if isinstance(kind, ArrayType):
        return _holds_floats(kind.elementType)
    if isinstance(kind, StructType):
        return any(_holds_floats(inner.dataType) for inner in kind)
    return isinstance(kind, DoubleType | FloatType)
