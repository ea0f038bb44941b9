"""`headrace plan FILE`: what would run, without running it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from headrace.declare.node import Node
    from headrace.plan.layers import Layers


@click.command()
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="The plan as JSON.")
@click.option("--quick", is_flag=True, help="Do not ask Spark about types; starts no JVM.")
def plan(file: str, as_json: bool, quick: bool) -> None:  # noqa: FBT001 - click passes flags so
    """Show the plan of the pipeline in FILE: steps, shuffles, guarantees, what may be lost."""
    from headrace.plan import checks, explain
    from headrace.plan.layers import Layers
    from headrace.run import pipeline_file

    layers = Layers(pipeline_file.load(file))
    checks.check(layers)
    python = None if quick else _ask_spark(layers)
    if as_json:
        shown = json.dumps(explain.describe(layers, python), indent=2) + "\n"
    else:
        shown = explain.text(layers, python)
    sys.stdout.write(shown)


def _ask_spark(layers: Layers) -> dict[Node, str]:
    """Let Spark analyse every expression: wrong types are errors at the user's line."""
    from headrace.run import session, types

    return types.check(layers, session.start("plan", master="local[1]"))[1]
