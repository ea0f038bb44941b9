"""What a plan refuses, one function a rule."""

from __future__ import annotations

from collections.abc import Callable

from headrace.declare.node import WindowAggNode
from headrace.declare.sink import Kafka
from headrace.errors import PlanError
from headrace.plan import repeatable
from headrace.plan.layers import Layers


def check(layers: Layers) -> None:
    """Apply every rule; the first that is broken raises."""
    for rule in RULES:
        rule(layers)


def no_window_after_a_window(layers: Layers) -> None:
    """One layer is what this version runs; a window over windows needs a second."""
    for node in layers.programs:
        for parent in node.parents:
            before = next((each for each in parent.node.walk() if isinstance(each, WindowAggNode)), None)
            if before is not None:
                raise PlanError(
                    f"window {node.name!r} is computed over the results of window {before.name!r}, "
                    "which this version cannot run",
                    where=node.where,
                    cure=f"deliver {before.name!r} to a topic and window that topic in a second pipeline",
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


RULES: tuple[Callable[[Layers], None], ...] = (no_window_after_a_window, one_cluster, repeatable.check)
