"""What Spark says of a window's aggregates: the types that a batch query would have, casts, constants."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.plan.columns import to_column
from headrace.plan.kernel import Kernel, refusal

if TYPE_CHECKING:
    from pyspark.sql.types import StructField, StructType

    from headrace.declare.expr import Expression
    from headrace.declare.node import StatefulNode


@dataclass(frozen=True)
class Asked:
    """An aggregate as the kernel is told of it: `input` has the very type that the function takes."""

    name: str
    function: str
    input: Expression | None
    result: StructField
    options: Mapping[str, float | bool | str]


def ask(kernel: Kernel, node: StatefulNode, row: StructType) -> list[Asked]:
    """Let Spark look at the aggregates of a step over rows."""
    if not node.aggregates:
        return []
    columns = [to_column(each.call, row.names).alias(each.name) for each in node.aggregates]
    try:
        empty = kernel.empty(row).agg(*columns)
        analysed = json.loads(
            kernel.jvm.headrace.aggregate.Analysis.of(
                empty._jdf, [len(each.inputs) for each in node.aggregates]
            )
        )
        results = list(empty.schema)
    except Exception as refused:
        raise refusal(refused, node.where) from refused
    asked = []
    for each, result, found in zip(node.aggregates, results, analysed, strict=True):
        options: dict[str, float | bool | str] = dict(each.options)
        casts = None
        if each.takes.analysed:
            options["constants"] = found["constants"]
            casts = found["casts"]
        asked.append(Asked(each.name, each.function, each.cast(casts or ()), result, options))
    return asked
