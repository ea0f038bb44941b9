"""Cutting a pipeline: what runs before the stateful operator, in it, and after it.

One operator holds all stateful steps of one depth. Before it, every source row is
decoded and taken through the stateless steps; what the row leads to goes to a
*program* of the operator or to a *port* that passes it through. After the
operator, the rows of each port go on to the deliveries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from headrace.declare.node import Node, Port, SourceNode, WindowAggNode
from headrace.declare.pipeline import Pipeline


@dataclass(frozen=True)
class Layers:
    """A pipeline in the parts that become one Spark query."""

    pipeline: Pipeline

    @cached_property
    def sources(self) -> tuple[SourceNode, ...]:
        """The topics being read, each once."""
        return self.pipeline.sources

    @cached_property
    def front(self) -> tuple[Node, ...]:
        """The stateless steps before the operator, parents first."""
        return tuple(
            node
            for node in self.pipeline.nodes
            if not isinstance(node, SourceNode | WindowAggNode) and not self._after(node)
        )

    @cached_property
    def programs(self) -> tuple[WindowAggNode, ...]:
        """The stateful steps, in the order in which they were declared."""
        return tuple(node for node in self.pipeline.nodes if isinstance(node, WindowAggNode))

    @cached_property
    def back(self) -> tuple[Node, ...]:
        """The stateless steps after the operator, parents first; those of rejected rows come last.

        Every other step may still reject a row, and that row takes the same way.
        """
        nodes = [node for node in self.pipeline.nodes if self._after(node) and not node.stateful]
        return tuple(sorted(nodes, key=_of_rejected))

    @cached_property
    def passed(self) -> tuple[Port, ...]:
        """Ports before the operator whose rows pass through it; the rejected rows of every source do."""
        wanted = [delivery.port for delivery in self.pipeline.deliveries.values()]
        wanted += [parent for node in self.back for parent in node.parents]
        ports = dict.fromkeys(port for port in wanted if self._before(port))
        ports |= dict.fromkeys(Port(source, "rejected") for source in self.sources)
        return tuple(ports)

    @cached_property
    def ports(self) -> dict[Port, int]:
        """Number of every port of the operator; 0 is none."""
        stateful = [Port(node, name) for node in self.programs for name in node.ports]
        return {port: number for number, port in enumerate([*stateful, *self.passed], start=1)}

    @property
    def depth(self) -> int:
        """How many stateful operators Spark will run."""
        return 1 if self.programs else 0

    def _after(self, node: Node) -> bool:
        return any(
            parent.name != "out" or parent.node.stateful or self._after(parent.node)
            for parent in node.parents
        )

    def _before(self, port: Port) -> bool:
        if port.node.stateful:
            return False
        return port.name == "rejected" or not self._after(port.node)


def _of_rejected(node: Node) -> bool:
    return any(parent.name == "rejected" or _of_rejected(parent.node) for parent in node.parents)
