"""What a replayed epoch must compute again as it was: nothing ahead of exactly-once goes by chance.

Functions are known by name before Spark is asked, and by Spark's own word when it has analysed them: in real
Columns and in a ``transform``, only the latter can tell. Python functions are taken at their word: nobody can
look into them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from headrace.declare.expr import Call, Expression, Value
from headrace.declare.lookup import LookupNode
from headrace.declare.node import Node, SelectNode, StatefulNode, WhereNode, WithColumnsNode
from headrace.declare.table_fold import FoldNode
from headrace.declare.table_node import works_on_table
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

_CLOCKS = frozenset(
    {
        "curdate",
        "current_date",
        "current_time",
        "current_timestamp",
        "localtimestamp",
        "now",
        "unix_timestamp",
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


def check_lookups(layers: Layers) -> None:
    """Refuse a look-up ahead of a stateful step whose results are delivered exactly once.

    A replayed epoch asks again. Where the row only goes on to its delivery that is harmless: the task that it
    leaves by follows from its place in the topic, and has delivered it or not. But state that is made of
    another answer no longer fits what was delivered of the first one.
    """
    for label, delivery in layers.pipeline.deliveries.items():
        if delivery.sink.guarantee != "exactly-once":
            continue
        steps = list(delivery.port.node.walk())
        for node in steps:
            if not isinstance(node, LookupNode) or node.repeatable:
                continue
            keeps = next(
                (each for each in steps if isinstance(each, StatefulNode) and node in each.walk()), None
            )
            if keeps is not None:
                raise PlanError(
                    f"look-up {node.name!r} may find another row when an epoch is replayed, {keeps.verb} "
                    f"{keeps.name!r} keeps what comes of it, and delivery {label!r} is exactly-once",
                    where=node.where,
                    cure='look up after that step; or give the sink guarantee="at-least-once"; or write '
                    "repeatable=True if the table never changes what it once said of a key",
                )


def check_tables(layers: Layers) -> None:
    """Refuse what gives another value when a row of a table is taken back: it is computed again then."""
    for node in layers.pipeline.nodes:
        # A fold is computed by the kernel, which has no clock of its own.
        if not works_on_table(node) and not isinstance(node, FoldNode):
            continue
        for expression in _expressions(node):
            found = _named(expression) or _tells_the_time(expression)
            if found is not None:
                raise PlanError(
                    f"{found}() gives another value when a row of the table is taken back"
                    if works_on_table(node)
                    else f"{found}() has no value in a fold, which the kernel computes",
                    where=expression.where or node.where,
                    cure="compute it from the row; or in the stream before .latest(...) or .fold(...), "
                    "where a row is computed once",
                )


def _tells_the_time(expression: Expression) -> str | None:
    """Return a function in an expression whose value is that of the clock; some can do without brackets."""
    for part in expression.walk():
        if isinstance(part, Call) and part.function in _CLOCKS and not part.children:
            return part.function
        if isinstance(part, Call) and part.function == "expr":
            text = str(next((child.value for child in part.children if isinstance(child, Value)), ""))
            called = set(re.findall(r"(\w+)\s*\(\s*\)", text.lower())) & _CLOCKS
            named = set(re.findall(r"current_\w+|localtimestamp", text.lower())) & _CLOCKS
            if called or named:
                return str(min(called | named))
    return None


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
    elif isinstance(node, FoldNode):
        yield from (projection.expression for projection in (*node.initial, *node.steps))
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
