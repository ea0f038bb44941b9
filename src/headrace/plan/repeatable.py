"""What a replayed epoch must compute again as it was: nothing ahead of exactly-once goes by chance.

Functions are known by name before Spark is asked, and by Spark's own word when it has analysed them: in real
Columns and in a ``transform``, only the latter can tell. Python functions are taken at their word: nobody can
look into them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from headrace.declare.expr import Call, Expression, Value
from headrace.declare.node import Node, SelectNode, StatefulNode, WhereNode, WithColumnsNode
from headrace.errors import PlanError
from headrace.plan.layers import Layers

# `current_timestamp` and its kin are not here: Spark logs an epoch's time and replays it.
NOT_REPEATABLE = frozenset(
    {
        "input_file_name",
        "java_method",
        "monotonically_increasing_id",
        "rand",
        "randn",
        "random",
        "randstr",
        "reflect",
        "shuffle",
        "spark_partition_id",
        "try_reflect",
        "uniform",
        "uuid",
    }
)


def promises(layers: Layers) -> dict[Node, str]:
    """Return the steps ahead of an exactly-once delivery, each with the name of the first such delivery."""
    found: dict[Node, str] = {}
    for label, delivery in layers.pipeline.deliveries.items():
        if delivery.sink.guarantee == "exactly-once":
            for node in delivery.port.node.walk():
                found.setdefault(node, label)
    return found


def check(layers: Layers) -> None:
    """Refuse by name what is ahead of an exactly-once delivery, in its steps and in its key."""
    for node, label in promises(layers).items():
        for expression in _expressions(node):
            _refuse_named(expression, label, node.where)
    for label, delivery in layers.pipeline.deliveries.items():
        if delivery.sink.guarantee == "exactly-once":
            for key in delivery.sink.key_expressions():
                _refuse_named(key, label, delivery.where)


def refused(function: str, label: str, where: str) -> PlanError:
    """Return the error about a function that goes by chance."""
    return PlanError(
        f"{function}() gives another value when an epoch is replayed, and delivery {label!r} is exactly-once",
        where=where,
        cure="compute it from the row, for example a hash of its key, "
        'or give the sink guarantee="at-least-once"',
    )


def _refuse_named(expression: Expression, label: str, where: str) -> None:
    function = _named(expression)
    if function is not None:
        raise refused(function, label, expression.where or where)


def _expressions(node: Node) -> Iterator[Expression]:
    if isinstance(node, WhereNode):
        yield node.condition
    elif isinstance(node, SelectNode | WithColumnsNode):
        yield from (projection.expression for projection in node.projections)
    elif isinstance(node, StatefulNode):
        yield from node.expressions


def _named(expression: Expression) -> str | None:
    for part in expression.walk():
        if not isinstance(part, Call):
            continue
        if part.function in NOT_REPEATABLE:
            return part.function
        if part.function in {"expr", "call_function"}:
            text = str(next((child.value for child in part.children if isinstance(child, Value)), ""))
            called = text if part.function == "call_function" else " ".join(re.findall(r"(\w+)\s*\(", text))
            found = sorted(set(called.lower().split()) & NOT_REPEATABLE)
            if found:
                return found[0]
    return None
