"""What a plan refuses, one function a rule."""

from __future__ import annotations

from collections.abc import Callable

from headrace.declare.node import StatefulNode
from headrace.declare.sink import Kafka
from headrace.errors import PlanError
from headrace.plan import repeatable
from headrace.plan.layers import Layers


def check(layers: Layers) -> None:
    """Apply every rule; the first that is broken raises."""
    for rule in RULES:
        rule(layers)


def retractions_consumed(layers: Layers) -> None:
    """A step over panes that are taken back must be able to take them back itself."""
    for node in layers.programs:
        for parent in node.parents:
            upstream = [each for each in parent.node.walk() if isinstance(each, StatefulNode)]
            before = next((each for each in upstream if each.retracts), None)
            if before is not None:
                raise PlanError(
                    f"{node.verb} {node.name!r} comes after {before.verb} {before.name!r}, whose panes are "
                    "taken back, and cannot take back what it made of them",
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


RULES: tuple[Callable[[Layers], None], ...] = (
    retractions_consumed,
    one_cluster,
    repeatable.check,
    repeatable.check_tables,
    repeatable.check_lookups,
)
