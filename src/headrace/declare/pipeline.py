"""Pipelines: a name and what is delivered."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from headrace.declare.naming import matches
from headrace.declare.node import Node, SourceNode
from headrace.declare.sink import Delivery, Kafka
from headrace.declare.stream import Stream
from headrace.declare.table import Table
from headrace.declare.view import View
from headrace.errors import DeclarationError, caller

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, init=False, eq=False)
class Pipeline:
    """What runs as one: a name, and deliveries by name.

    ::

        pipeline = Pipeline("fraud", alerts=velocity.to(Kafka("alerts")), late=velocity.late.to(Kafka("l")))

    It is a value: nothing is registered and nothing runs until ``headrace run FILE``.
    """

    name: str
    deliveries: Mapping[str, Delivery]
    where: str = field(repr=False)

    def __init__(self, name: str, /, **deliveries: Delivery) -> None:
        where = caller()
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "deliveries", MappingProxyType(dict(deliveries)))
        object.__setattr__(self, "where", where)
        if not matches(_NAME, name):
            raise DeclarationError(
                f"{name!r} is no name for a pipeline",
                where=where,
                cure='write Pipeline("fraud", ...): a small letter, then small letters, digits, _ and -',
            )
        if not deliveries:
            raise DeclarationError(
                f'the pipeline "{name}" delivers nothing',
                where=where,
                cure='write Pipeline("...", alerts=stream.to(Kafka("alerts")))',
            )
        for label, delivery in deliveries.items():
            _check_delivery(label, delivery, where)
        _check_names(self, where)
        _check_topics(self, where)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All steps, parents first, each once."""
        found: dict[Node, None] = {}
        for delivery in self.deliveries.values():
            found |= dict.fromkeys(delivery.port.node.walk())
        return tuple(found)

    @cached_property
    def sources(self) -> tuple[SourceNode, ...]:
        """All sources, each once."""
        return tuple(node for node in self.nodes if isinstance(node, SourceNode))

    @cached_property
    def step_names(self) -> Mapping[Node, str]:
        """What each step is called: its name, numbered where branches would share one."""
        taken = {node.name for node in self.nodes if node.named}
        names: dict[Node, str] = {}
        for node in self.nodes:
            name, number = node.name, 2
            while not node.named and name in taken:
                name, number = f"{node.name.partition('#')[0]}#{number}", number + 1
            taken.add(name)
            names[node] = name
        return MappingProxyType(names)


def _check_delivery(label: str, delivery: object, where: str) -> None:
    if isinstance(delivery, Delivery):
        return
    if isinstance(delivery, Stream | Table):
        what = "stream" if isinstance(delivery, Stream) else "table"
        raise DeclarationError(
            f"{label} is a {what}, and goes nowhere yet",
            where=where,
            cure=f'call .to(...) on it: {label}=....to(Kafka("{label}"))',
        )
    raise DeclarationError(
        f"{label}={delivery!r} is no delivery",
        where=where,
        cure=f'write {label}=stream.to(Kafka("{label}"))',
    )


def _check_names(pipeline: Pipeline, where: str) -> None:
    taken: dict[str, Node] = {}
    for node in pipeline.nodes:
        if not node.named:
            continue
        other = taken.setdefault(node.name, node)
        if other is node:
            continue
        if isinstance(node, SourceNode) and isinstance(other, SourceNode):
            raise DeclarationError(
                f'two sources are called "{node.name}": at {other.where} and at {node.where}',
                where=where,
                cure="keep the stream in a variable and use it twice, or give one of them a name=",
            )
        raise DeclarationError(
            f'two steps are called "{node.name}": {other.verb} at {other.where}, {node.verb} at {node.where}',
            where=where,
            cure="rename one of them: the name is the identity of a step's state",
        )


def _check_topics(pipeline: Pipeline, where: str) -> None:
    read = {source.topic.name: source for source in pipeline.sources}
    written: dict[tuple[object, str], str] = {}
    guarantees: dict[str, tuple[str, str]] = {}
    views: dict[str, str] = {}
    for label, delivery in pipeline.deliveries.items():
        sink = delivery.sink
        if isinstance(sink, View):
            other = views.setdefault(sink.name.lower(), label)
            if other != label:
                raise DeclarationError(
                    f'{other} and {label} are one view, "{sink.name}"',
                    where=delivery.where or where,
                    cure="give one of them another name",
                )
        if not isinstance(sink, Kafka):
            continue
        if sink.topic in read:
            raise DeclarationError(
                f'{label} goes to "{sink.topic}", which the pipeline reads at {read[sink.topic].where}',
                where=delivery.where or where,
                cure="deliver to another topic: rows would go round for ever",
            )
        twin = written.setdefault((delivery.port, sink.topic), label)
        if twin != label:
            raise DeclarationError(
                f'{twin} and {label} deliver the same rows to "{sink.topic}"',
                where=delivery.where or where,
                cure="remove one of them",
            )
        first, guarantee = guarantees.setdefault(sink.topic, (label, sink.guarantee))
        if guarantee != sink.guarantee:
            raise DeclarationError(
                f'"{sink.topic}" gets {first} {guarantee} and {label} {sink.guarantee}',
                where=delivery.where or where,
                cure="give both the same guarantee, or another topic to one of them",
            )
