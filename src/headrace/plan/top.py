"""What Spark says of a ranking: the columns that are kept of a row, and what rows are ordered by."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, StructField, StructType

from headrace.declare.expr import Call, Expression, Given, Method, column
from headrace.declare.node import Projection
from headrace.declare.top import SLOT, TopNode, WindowTopNode, check_names
from headrace.errors import PlanError
from headrace.plan.aggregates import Asked
from headrace.plan.columns import to_column
from headrace.plan.kernel import Kernel

FUNCTION = "top"
"""What the kernel calls an aggregate whose result is rows."""


def first_rows(kernel: Kernel, node: WindowTopNode | TopNode, row: StructType) -> Asked:
    """Return a ranking as an aggregate: of the columns that are shown, then those only ordered by."""
    where = node.where
    shown = _shown(node, row)
    columns = [to_column(each.expression, row.names, where).alias(each.name) for each in shown]
    order = []
    for number, each in enumerate(node.ranking.by):
        by, direction = kernel.sorted(to_column(each.written, row.names, where), where)
        place = next((at for at, one in enumerate(shown) if _same(one.expression, each.by)), len(columns))
        if place == len(columns):
            columns.append(by.alias(f"__by{number}"))
        order.append((place, direction))
    types = kernel.analyse(row, columns, where).schema
    for (place, _), each in zip(order, node.ranking.by, strict=True):
        kind = types[place].dataType
        if not kernel.sorts(kind):
            raise PlanError(
                f"top of {node.name!r} is by {each.by.text()}, which is {kind.simpleString()}: "
                "its values cannot be compared",
                where=where,
                cure="order by a part of it",
            )
    options: dict[str, float | bool | str] = {
        "rows": node.ranking.rows,
        "order": ",".join(f"{place} {direction}" for place, direction in order),
    }
    made = StructType(list(types)[: len(shown)])
    struct = Call("struct", tuple(Given(each, where=where) for each in columns), where=where)
    return Asked(SLOT, FUNCTION, struct, StructField(SLOT, ArrayType(made)), options)


def _shown(node: WindowTopNode | TopNode, row: StructType) -> list[Projection]:
    if node.ranking.shown is not None:
        return list(node.ranking.shown)
    names = [name for name in row.names if name not in node.keys]
    check_names(node.keys, node.taken, names, node.where, PlanError)
    return [Projection(name, column(f"`{name}`")) for name in names]


def _same(shown: Expression, by: Expression) -> bool:
    """Tell whether two expressions are plainly one: a column that is shown is not sent once more."""
    if isinstance(shown, Method) and shown.method in {"alias", "name"}:
        return _same(shown.subject, by)
    columns = [isinstance(each, Call) and each.function in {"col", "column"} for each in (shown, by)]
    return shown.paths() == by.paths() if all(columns) else shown == by
