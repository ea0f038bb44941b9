"""The plan made one query's frames: sources, the operator, and what its deliveries read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from headrace.declare.duration import microseconds
from headrace.declare.node import Port, SourceNode
from headrace.declare.watermark import Adaptive, Perfect, ProcessingTime, Punctuated
from headrace.plan import back, front
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers
from headrace.run import manifest as manifests

if TYPE_CHECKING:
    from headrace.run.manifest import Manifest

CODEC = 1
"""Version of the bytes that the kernel's state is made of."""

CLOCK = "headrace_clock"
"""Name of the clock among Spark's sources."""

PASS_GROUPS = 64


@dataclass(frozen=True)
class Built:
    """One query, ready to be started."""

    packed: DataFrame
    outlets: tuple[back.Outlet, ...]
    manifest: Manifest


def wanted(layers: Layers, made: front.Front) -> list[manifests.Wanted]:
    """Return the stateful steps as the manifest compares them."""
    steps = []
    for node in layers.programs:
        types = made.programs[node]
        steps.append(
            manifests.Wanted(
                name=node.name,
                where=node.where,
                layer=0,
                kind="window",
                window=_window(node.window),
                key={field.name: field.dataType.simpleString() for field in types.key},
                aggregates={
                    each["name"]: {
                        "function": each["function"],
                        "of": None
                        if each["input"] is None
                        else types.inputs[each["input"]].dataType.simpleString(),
                        "options": dict(each["options"]),
                    }
                    for each in types.aggregates
                },
                sources=tuple(source.name for source in node.sources),
            )
        )
    return steps


def build(
    kernel: Kernel,
    query: str,
    layers: Layers,
    made: front.Front,
    manifest: Manifest,
    *,
    checkpoint: str,
    manual: bool = False,
    drain: bool = False,
    align: timedelta = timedelta(0),
) -> Built:
    """Put the operator between front and back, and the clock beside it."""
    jvm = kernel.jvm
    groups = {
        name: kernel.group_numbers(step.program, step.groups, step.spread)
        for name, step in manifest.steps.items()
    }
    for node in layers.programs:
        made.schemas[Port(node)] = _output(made.programs[node], manifest.steps[node.name])
    specification = {
        "checkpoint": checkpoint,
        "manual": manual,
        "drain": drain,
        "align": microseconds(align),
        **_clock(layers, manifest, groups),
    }
    clock = jvm.headrace.clock.Clock.create(query, json.dumps(specification))
    layer = json.dumps(_layer(kernel, layers, made, manifest, groups))
    if layers.programs:
        ticks = (
            kernel.spark.readStream.format("headrace.clock.ClockSource")
            .option("query", query)
            .name(CLOCK)
            .load()
        )
        out = jvm.headrace.operator.Layer.apply(made.packed._jdf, ticks._jdf, layer, clock.maxima())
    else:
        out = jvm.headrace.operator.Passing.apply(made.packed._jdf, layer, clock.maxima())
    after = back.build(kernel, layers, DataFrame(out, kernel.spark), made.schemas)
    return Built(after.packed, tuple(after.outlets), manifest)


def _window(window: Any) -> dict[str, Any]:
    return {"kind": "tumbling", "size": microseconds(window.size), "offset": microseconds(window.offset)}


def _clock(layers: Layers, manifest: Manifest, groups: Mapping[str, list[int]]) -> dict[str, Any]:
    return {
        "sources": [
            {"name": source.name, "index": manifest.sources[source.name].index, "policy": _policy(source)}
            for source in layers.sources
        ],
        "programs": [
            {
                "id": manifest.steps[node.name].program,
                "sources": [source.name for source in node.sources],
                "groups": groups[node.name],
            }
            for node in layers.programs
        ],
    }


def _policy(source: SourceNode) -> dict[str, Any]:
    if source.watermark is None:
        # Nobody asks how far its time has come.
        return {"kind": "manual"}
    watermark = source.watermark
    if isinstance(watermark, ProcessingTime):
        lag, every = microseconds(watermark.lag), microseconds(watermark.every)
        return {"kind": "processing-time", "lag": lag, "every": every}
    if isinstance(watermark, Perfect):
        return {"kind": "perfect"}
    idle = None if watermark.idle is None else watermark.idle // timedelta(milliseconds=1)
    if isinstance(watermark, Punctuated):
        return {"kind": "punctuated", "idle": idle}
    if isinstance(watermark, Adaptive):
        at_most = microseconds(watermark.at_most)
        return {"kind": "adaptive", "completeness": watermark.completeness, "at_most": at_most, "idle": idle}
    return {"kind": "bounded", "lag": microseconds(watermark.lag), "idle": idle}


def _layer(
    kernel: Kernel, layers: Layers, made: front.Front, manifest: Manifest, groups: Mapping[str, list[int]]
) -> dict[str, Any]:
    ports = layers.ports
    programs = []
    for node in layers.programs:
        types = made.programs[node]
        step = manifest.steps[node.name]
        slots = _slots(types, step)
        programs.append(
            {
                "id": step.program,
                "name": node.name,
                "sources": [source.name for source in node.sources],
                "groups": groups[node.name],
                "window": dict(step.window),
                "key": types.key.jsonValue(),
                "inputs": types.inputs.jsonValue(),
                "row": types.row.jsonValue(),
                "aggregates": [dict(each) for each in slots],
                "port": ports[Port(node)],
                "latePort": ports[Port(node, "late")],
                "rejectedPort": ports[Port(node.sources[0], "rejected")],
                "output": made.schemas[Port(node)].jsonValue(),
                "late": types.late.jsonValue(),
            }
        )
    return {
        "partitions": manifest.partitions,
        "programs": programs,
        "passGroups": kernel.group_numbers(0, PASS_GROUPS, manifest.partitions),
        "exits": [
            {
                **exit_,
                **({"program": manifest.steps[exit_["program"].name].program} if "program" in exit_ else {}),
            }
            for exit_ in made.exits
        ],
    }


def _slots(types: front.ProgramTypes, step: manifests.StepState) -> list[Mapping[str, Any]]:
    """Return the aggregates in the order in which the state keeps them."""
    return sorted(types.aggregates, key=lambda each: step.aggregates[each["name"]]["slot"])


def _output(types: front.ProgramTypes, step: manifests.StepState) -> StructType:
    """Return the panes' schema with the aggregates in the order of their slots."""
    names = {each["name"] for each in types.aggregates}
    fields = list(types.output)
    first = next(place for place, field in enumerate(fields) if field.name in names)
    made = [types.output[each["name"]] for each in _slots(types, step)]
    return StructType([*fields[:first], *made, *fields[first + len(made) :]])
