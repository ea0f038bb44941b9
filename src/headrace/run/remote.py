"""Remote tables before a run: whether somebody says how to connect, and whether they are as declared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from headrace.declare.lookup import LookupNode
from headrace.run.failure import asked

if TYPE_CHECKING:
    from headrace.plan.kernel import Kernel
    from headrace.plan.layers import Layers


def find(layers: Layers) -> None:
    """Make sure that everything is known which an address names, before a JVM is started to connect there."""
    for node in _lookups(layers):
        node.table.connection(starting=True)


def check(kernel: Kernel, layers: Layers) -> None:
    """Ask every remote table whether it is as it was declared, before the first row comes."""
    from headrace.plan.remote import specification

    for node in _lookups(layers):
        told = json.dumps(specification(node, layers.pipeline.name, starting=True))
        asked(lambda told=told: kernel.jvm.headrace.remote.Lookups.check(told))  # type: ignore[misc]


def _lookups(layers: Layers) -> Iterator[LookupNode]:
    return (node for node in layers.pipeline.nodes if isinstance(node, LookupNode))
