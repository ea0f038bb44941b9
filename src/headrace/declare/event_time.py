"""Event time on its way to a window: the field that the topic names, as it was read."""

from headrace.declare.expr import Call, Expression, Method
from headrace.declare.node import Node, Port, Projection, SelectNode, WithColumnsNode
from headrace.errors import DeclarationError


def check_event_time(port: Port, where: str) -> None:
    """Refuse a window after a step that makes something else of the column of the event time.

    Windows and the watermark go by the field as it was read, whatever is made of the column on the way: two
    times by one name would not be told apart by anybody who reads the pipeline.
    """
    for node in port.node.walk():
        for projection in _projections(node):
            for source in node.sources:
                time = source.topic.time
                if time and projection.name.lower() == time.lower() and not _is(projection.expression, time):
                    raise DeclarationError(
                        f'"{time}" is the event time of {source.name}, and is replaced at {node.where}: '
                        "windows would go by the field as it was read all the same",
                        where=where,
                        cure=f"give the new column another name; for windows by another time, name its field "
                        f'at {source.topic.where}: Topic("{source.topic.name}", time="...")',
                    )


def _projections(node: Node) -> tuple[Projection, ...]:
    return node.projections if isinstance(node, SelectNode | WithColumnsNode) else ()


def _is(expression: Expression, column: str) -> bool:
    """Tell whether an expression is the column as it is."""
    if isinstance(expression, Method) and expression.method in {"alias", "name"}:
        return _is(expression.subject, column)
    plain = isinstance(expression, Call) and expression.function in {"col", "column"}
    return plain and expression.paths() == {(column,)}
