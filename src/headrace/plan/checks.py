"""What a plan refuses, one function a rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from headrace.declare.expr import Call, Expression, Value
from headrace.declare.node import (
    Node,
    SelectNode,
    WhereNode,
    WindowAggNode,
    WithColumnsNode,
)
from headrace.declare.sink import Kafka
from headrace.errors import PlanError
from headrace.plan.layers import Layers

# A replayed epoch must give the same rows. `current_timestamp` and its kin are not here:
# Spark logs an epoch's time and replays it.
NOT_REPEATABLE = frozenset(
    {
        "input_file_name",
        "monotonically_increasing_id",
        "rand",
        "randn",
        "random",
        "randstr",
        "reflect",
        "shuffle",
        "spark_partition_id",
        "uniform",
        "uuid",
    }
)


def check(layers: Layers) -> None:
    """Apply every rule; the first that is broken raises."""
    for rule in RULES:
        rule(layers)


def retractions_consumed(layers: Layers) -> None:
    """A step over panes that are taken back must be able to take them back itself."""
    for node in layers.programs:
        for parent in node.parents:
            upstream = [each for each in parent.node.walk() if isinstance(each, WindowAggNode)]
            before = next((each for each in upstream if each.retracts), None)
            if before is not None:
                raise PlanError(
                    f"{node.verb} {node.name!r} comes after window {before.name!r}, whose panes are taken "
                    "back, and cannot take back what it made of them",
                    where=node.where,
                    cure=f"give {before.name!r} another accumulate=, or window its input itself",
                )


def one_cluster(layers: Layers) -> None:
    """A transaction belongs to one cluster."""
    sinks = [
        (label, delivery)
        for label, delivery in layers.pipeline.deliveries.items()
        if isinstance(delivery.sink, Kafka)
    ]
    for label, delivery in sinks[1:]:
        first_label, first = sinks[0]
        if getattr(delivery.sink, "options", {}) != getattr(first.sink, "options", {}):
            raise PlanError(
                f"deliveries {first_label!r} and {label!r} give different Kafka options, "
                "and one pipeline writes to one cluster",
                where=delivery.where,
                cure="put the options into [kafka.options] of headrace.toml, or make two pipelines",
            )


def repeatable(layers: Layers) -> None:
    """Nothing ahead of an exactly-once delivery may give another answer when an epoch is replayed."""
    for label, delivery in layers.pipeline.deliveries.items():
        if delivery.sink.guarantee != "exactly-once":
            continue
        for node in delivery.port.node.walk():
            for expression in _expressions(node):
                function = _not_repeatable(expression)
                if function:
                    raise PlanError(
                        f"{function}() gives another value when an epoch is replayed, "
                        f"and delivery {label!r} is exactly-once",
                        where=expression_place(expression) or node.where,
                        cure="compute it from the row, for example a hash of its key, "
                        'or give the sink guarantee="at-least-once"',
                    )


def expression_place(expression: Expression) -> str:
    """Return the user's file and line of an expression, if it is known."""
    return getattr(expression, "where", "") or ""


def _expressions(node: Node) -> Iterator[Expression]:
    if isinstance(node, WhereNode):
        yield node.condition
    elif isinstance(node, SelectNode | WithColumnsNode):
        yield from (projection.expression for projection in node.projections)
    elif isinstance(node, WindowAggNode):
        yield from (aggregate.input for aggregate in node.aggregates if aggregate.input is not None)
    # What a transform does is only known once Spark has analysed it.


def _not_repeatable(expression: Expression) -> str | None:
    for part in expression.walk():
        if not isinstance(part, Call):
            continue
        if part.function in NOT_REPEATABLE:
            return str(part.function)
        if part.function == "expr":
            text = next((child.value for child in part.children if isinstance(child, Value)), "")
            named = {word.lower() for word in re.findall(r"(\w+)\s*\(", str(text))}
            found = sorted(named & NOT_REPEATABLE)
            if found:
                return str(found[0])
    return None


RULES: tuple[Callable[[Layers], None], ...] = (retractions_consumed, one_cluster, repeatable)
