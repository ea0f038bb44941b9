"""Event time on its way to a window: the field that the topic names, as it was read."""

from collections.abc import Iterator
from typing import TypeVar

from headrace.declare.expr import Call, Expression, Method
from headrace.declare.node import (
    Node,
    Port,
    Projection,
    SelectNode,
    SourceNode,
    WithColumnsNode,
)
from headrace.errors import DeclarationError, HeadraceError

_Error = TypeVar("_Error", bound=HeadraceError)


def check_event_time(port: Port, where: str) -> None:
    """Refuse a window after a step that makes something else of the column of the event time.

    Windows and the watermark go by the field as it was read, whatever is made of the column on the way: two
    times by one name would not be told apart by anybody who reads the pipeline. What a transform does is only
    known to the plan, which refuses the same.
    """
    for node in _before_panes(port.node):
        for projection in _projections(node):
            for source in node.sources:
                time = source.topic.time
                if time and projection.name.lower() == time.lower() and not _is(projection.expression, time):
                    raise time_replaced(source, node.where, where, DeclarationError)


def time_replaced(source: SourceNode, replaced: str, where: str, kind: type[_Error]) -> _Error:
    """Return the error about a time column that a step at `replaced` made something else of."""
    topic = source.topic
    return kind(
        f'"{topic.time}" is the event time of {source.name}, and is replaced at {replaced}: '
        "windows would go by the field as it was read all the same",
        where=where,
        cure="give the new column another name; for windows by another time, name its field "
        f'at {topic.where}: Topic("{topic.name}", {topic.schema.name}, time="...")',
    )


def _before_panes(node: Node) -> Iterator[Node]:
    """Yield the steps that rows have come through as they were read; results have a time of their own."""
    if _as_read(node):
        for parent in node.parents:
            yield from _before_panes(parent.node)
        yield node


def _as_read(node: Node) -> bool:
    """Tell whether some of a step's rows still have the time that they were read with."""
    return not node.retimes and (not node.parents or any(_as_read(parent.node) for parent in node.parents))


def _projections(node: Node) -> tuple[Projection, ...]:
    return node.projections if isinstance(node, SelectNode | WithColumnsNode) else ()


def _is(expression: Expression, column: str) -> bool:
    """Tell whether an expression is the column as it is."""
    if isinstance(expression, Method) and expression.method in {"alias", "name"}:
        return _is(expression.subject, column)
    plain = isinstance(expression, Call) and expression.function in {"col", "column"}
    return plain and expression.paths() == {(column,)}
