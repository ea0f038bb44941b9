"""What a stateful step computes on: the verbs and expressions upstream of it, as one fingerprint."""

from __future__ import annotations

import hashlib

from headrace.declare.node import Node, Port, SourceNode
from headrace.plan.explain import does


def fingerprint(node: Node) -> str:
    """Return a text that is equal for steps whose input is made in the same way.

    Names of stateless steps, places in the file and the order in which steps were declared do not count.
    """
    return hashlib.sha256(" | ".join(map(_port, node.parents)).encode()).hexdigest()[:16]


def _port(port: Port) -> str:
    return f"{_node(port.node)}.{port.name}"


def _node(node: Node) -> str:
    if isinstance(node, SourceNode):
        return f"source {node.name}"
    # A step that keeps state is known by its name; what is before it is its own affair.
    if node.stateful:
        return f"{node.verb} {node.name}"
    return f"{does(node)} of ({', '.join(map(_port, node.parents))})"
