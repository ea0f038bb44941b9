"""Cutting a pipeline: which operator holds which stateful step, and what runs before, between and after them.

All stateful steps of one depth are in one operator, a *layer*. Stage 0 is before the first layer: there
every source row is decoded and taken through the stateless steps; what it leads to goes to a *program* of
a layer or to a *port* that passes it on. Stage k is behind layer k - 1. In the last stage the rows of the
ports go to the deliveries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from headrace.declare.node import Node, Port, SourceNode, StatefulNode
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
    def programs(self) -> tuple[StatefulNode, ...]:
        """The stateful steps, in the order in which they were declared."""
        return tuple(node for node in self.pipeline.nodes if isinstance(node, StatefulNode))

    @property
    def depth(self) -> int:
        """How many stateful operators Spark will run."""
        return max((self.layer(node) + 1 for node in self.programs), default=0)

    @property
    def last(self) -> int:
        """The stage of the deliveries; a pipeline without state passes through one shuffle, too."""
        return max(self.depth, 1)

    def layer(self, node: StatefulNode) -> int:
        """Return the layer that a stateful step is in: the number of such steps on the way to it."""
        return max((self.stage(parent) for parent in node.parents), default=0)

    def stage(self, port: Port) -> int:
        """Return the stage in which the rows of a port are there.

        Any step may still reject a row, so rejected ones are complete in the last stage only.
        """
        known = self._stages
        if port not in known:
            known[port] = self._stage(port)
        return known[port]

    @cached_property
    def _stages(self) -> dict[Port, int]:
        return {}

    def _stage(self, port: Port) -> int:
        node = port.node
        if port.name == "rejected":
            return self._last_of_pipeline
        if isinstance(node, SourceNode):
            return 0
        if isinstance(node, StatefulNode):
            return self.layer(node) + 1
        return max(self.stage(parent) for parent in node.parents)

    @cached_property
    def _last_of_pipeline(self) -> int:
        # Not by way of stage(): a rejected port asks for it.
        depths: dict[Node, int] = {}
        for node in self.pipeline.nodes:
            before = max((depths.get(parent.node, 0) for parent in node.parents), default=0)
            depths[node] = before + isinstance(node, StatefulNode)
        return max(1, *depths.values()) if depths else 1

    def steps(self, stage: int) -> tuple[Node, ...]:
        """Return the stateless steps of a stage, parents first; those of rejected rows come last."""
        nodes = [
            node
            for node in self.pipeline.nodes
            if not isinstance(node, SourceNode | StatefulNode) and self.stage(Port(node)) == stage
        ]
        return tuple(sorted(nodes, key=of_rejected))

    def layer_programs(self, layer: int) -> tuple[StatefulNode, ...]:
        """Return the stateful steps of a layer."""
        return tuple(node for node in self.programs if self.layer(node) == layer)

    @cached_property
    def needed(self) -> dict[Port, int]:
        """The last stage in which somebody needs the rows of a port."""
        needed: dict[Port, int] = {}

        def need(port: Port, stage: int) -> None:
            needed[port] = max(needed.get(port, 0), stage)

        for node in self.pipeline.nodes:
            stage = self.layer(node) if isinstance(node, StatefulNode) else None
            for parent in node.parents:
                need(parent, self.stage(Port(node)) if stage is None else stage)
        for delivery in self.pipeline.deliveries.values():
            need(delivery.port, self.last)
        for source in self.sources:
            need(Port(source, "rejected"), self.last)
        return needed

    def passed(self, stage: int) -> tuple[Port, ...]:
        """Return the ports whose rows go from this stage past the next operator; rejected rows always do."""
        return tuple(
            port
            for port, until in self.needed.items()
            if stage < until and (port.name == "rejected" or self.stage(port) <= stage)
        )

    def timed(self, port: Port) -> bool:
        """Tell whether rows that pass an operator need their event time after it."""
        return port.name != "rejected" and any(
            self.layer(node) > self.stage(port) for node in self.programs if _leads_to(port, node)
        )

    @cached_property
    def ports(self) -> dict[Port, int]:
        """Number of every port of the operators; 0 is none."""
        found = dict.fromkeys(Port(node, name) for node in self.programs for name in node.ports)
        for stage in range(self.last):
            found |= dict.fromkeys(self.passed(stage))
        return {port: number for number, port in enumerate(found, start=1)}


def of_rejected(node: Node) -> bool:
    """Tell whether a step works on rejected rows."""
    return any(map(is_rejected, node.parents))


def is_rejected(port: Port) -> bool:
    """Tell whether the rows of a port are rejected ones."""
    return port.name == "rejected" or of_rejected(port.node)


def _leads_to(port: Port, node: Node) -> bool:
    return any(
        parent == port or (not parent.node.stateful and _leads_to(port, parent.node))
        for parent in node.parents
    )
