"""Sinks: where rows go, and what is promised about their arrival."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from headrace.declare.expr import Expression, column
from headrace.declare.node import Port
from headrace.declare.recorded import captured
from headrace.declare.topic import check_partitions, check_topic_name, choose, client_options
from headrace.errors import caller

Guarantee = Literal["exactly-once", "at-least-once"]


@dataclass(frozen=True)
class Sink:
    """What all sinks have in common."""

    kind: ClassVar[str] = ""
    """The word for it in the plan."""

    guarantee: Guarantee = "at-least-once"

    def text(self) -> str:
        """Return the sink in words, for the plan."""
        raise NotImplementedError

    def key_expressions(self) -> tuple[Expression, ...]:
        """Return the expressions of the key, which must not fail for want of a column."""
        return ()

    def check(self, port: Port, where: str) -> None:
        """Refuse rows that this sink cannot take."""


@dataclass(frozen=True, init=False)
class Kafka(Sink):
    """A Kafka topic; values are the row's columns as JSON.

    `key` is one column's name, several, or an expression; without it rows are spread over the partitions
    in a fixed manner. One column gives its value as text, several give a JSON object. Exactly-once means
    one transaction per task and epoch: read the topic with ``isolation.level=read_committed``. What a replay
    would compute differently is refused ahead of it; Python functions are taken at their word.
    `partitions` is how many the topic is created with where that is asked for.
    """

    kind: ClassVar[str] = "kafka"

    topic: str = ""
    key: tuple[Expression, ...] = ()
    partitions: int | None = None
    # Passwords may be in there.
    options: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    where: str = field(default="", compare=False, repr=False)

    def __init__(
        self,
        topic: str,
        *,
        key: Any = None,
        guarantee: Guarantee = "exactly-once",
        partitions: int | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        where = caller()
        check_topic_name(topic, where)
        choose("guarantee", guarantee, get_args(Guarantee), where)
        check_partitions(f'Kafka("{topic}")', partitions, where)
        given = {
            "guarantee": guarantee,
            "topic": topic,
            "key": _key(key, where),
            "partitions": partitions,
            "options": client_options(options, f'Kafka("{topic}")', where),
            "where": where,
        }
        for attribute, value in given.items():
            object.__setattr__(self, attribute, value)

    def text(self) -> str:
        """Return ``Kafka "alerts" by card``."""
        by = f" by {', '.join(part.text() for part in self.key)}" if self.key else ""
        return f'Kafka "{self.topic}"{by}'

    def key_expressions(self) -> tuple[Expression, ...]:
        """Return the expressions of the key."""
        return self.key


@dataclass(frozen=True)
class Delivery:
    """Rows of a port on their way to a sink; `where` is the user's ``file:line``."""

    port: Port
    sink: Sink
    where: str = field(default="", compare=False)


def _key(key: Any, where: str) -> tuple[Expression, ...]:
    if key is None:
        return ()
    several = key if isinstance(key, Sequence) and not isinstance(key, str) else (key,)
    return tuple(column(each, where) if isinstance(each, str) else captured(each, where) for each in several)
