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
from headrace.declare.join import RIGHT, IntervalJoinNode, signed
from headrace.declare.join_table import LookupJoinNode
from headrace.declare.match import MatchNode
from headrace.declare.node import DedupNode, Port, SourceNode, StatefulNode, WindowAggNode, WindowNode
from headrace.declare.table_fold import FoldNode
from headrace.declare.table_join import NettedNode, TableJoinNode
from headrace.declare.table_node import (
    AFTER,
    ChangesNode,
    GroupNode,
    LatestNode,
    TableSourceNode,
    TableStep,
    TopicTableNode,
    is_table,
)
from headrace.declare.top import TopNode
from headrace.declare.trigger import moments, trigger_spec
from headrace.declare.watermark import Adaptive, Bounded, Perfect, ProcessingTime, Punctuated
from headrace.plan import back, between, front, pattern_spec
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers
from headrace.plan.lineage import fingerprint
from headrace.plan.programs import ProgramTypes
from headrace.plan.weaving import END, START
from headrace.run import manifest as manifests

if TYPE_CHECKING:
    from headrace.run.manifest import Manifest

CODEC = 1
"""Version of the bytes that the kernel's state is made of."""

CLOCK = "headrace_clock"
"""Name of the clock among Spark's sources."""

PASS_GROUPS = 64

_TIMELESS = (GroupNode, ChangesNode, TableJoinNode, NettedNode)
"""The steps that no tick reaches."""


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
        texts = _texts(node)
        steps.append(
            manifests.Wanted(
                name=node.name,
                where=node.where,
                layer=layers.layer(node),
                kind=node.verb,
                window=state_of(node),
                key={field.name: field.dataType.simpleString() for field in types.key},
                aggregates={
                    each["name"]: {
                        "function": each["function"],
                        "of": None
                        if each["input"] is None
                        else types.inputs[each["input"]].dataType.simpleString(),
                        "options": dict(each["options"]),
                        "text": texts[each["name"]],
                    }
                    for each in types.aggregates
                }
                | _row(node, types),
                sources=tuple(source.name for source in node.sources),
                upstream=fingerprint(node),
                rows=_held(node, types),
                takes_back=_takes_back(node),
                reads_whole=tuple(_first(node)),
            )
        )
    return steps


def _held(node: StatefulNode, types: ProgramTypes) -> tuple[tuple[str, ...], ...]:
    """Return the columns of the rows that a step holds as they came, each with its type."""
    if not isinstance(node, IntervalJoinNode | LookupJoinNode | TableJoinNode | MatchNode):
        return ()
    return tuple(
        tuple(f"{field.name} {field.dataType.simpleString()}" for field in side.row) for side in types.sides
    )


def declared(layers: Layers) -> list[manifests.Wanted]:
    """Return what the declaration alone says of the stateful steps; types are Spark's to say."""
    return [
        manifests.Wanted(
            name=node.name,
            where=node.where,
            layer=layers.layer(node),
            kind=node.verb,
            window=state_of(node),
            key=dict.fromkeys(_keys(node)),
            aggregates={name: {"text": text} for name, text in _texts(node).items()},
            sources=tuple(source.name for source in node.sources),
            upstream=fingerprint(node),
            takes_back=_takes_back(node),
            reads_whole=tuple(_first(node)),
        )
        for node in layers.programs
    ]


def _takes_back(node: StatefulNode) -> tuple[str, ...]:
    """Return the tables of which a step takes rows back: the steps with state right before it."""
    looks_up = isinstance(node, LookupJoinNode) and node.current
    if not looks_up and not isinstance(node, GroupNode | TableJoinNode):
        return ()
    found: dict[str, None] = {}
    for parent in filter(is_table, node.parents):
        before = parent.node
        # What nets has no rows of its own.
        while not before.stateful or isinstance(before, NettedNode):
            before = before.parents[0].node
        found[before.name] = None
    return tuple(found)


def _texts(node: StatefulNode) -> dict[str, str]:
    if isinstance(node, LatestNode):
        return {"row": "the row"}
    if isinstance(node, FoldNode):
        return {"state": "the state"}
    return node.slots


def _row(node: StatefulNode, types: ProgramTypes) -> dict[str, dict[str, Any]]:
    """Return what a table keeps of whole rows, as the manifest compares it."""
    if isinstance(node, LatestNode):
        kept = types.row
    elif isinstance(node, FoldNode):
        kept = StructType([types.output[AFTER].dataType[each.name] for each in node.initial])  # type: ignore[index]
    else:
        return {}
    made = {"function": node.verb, "of": kept.simpleString(), "options": {}}
    return {name: made | {"text": text} for name, text in _texts(node).items()}


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
        if isinstance(node, WindowAggNode):
            made.schemas[Port(node)] = _output(made.programs[node], manifest.steps[node.name])
    specification = {
        "checkpoint": checkpoint,
        "manual": manual,
        "drain": drain,
        "align": microseconds(align),
        **_clock(layers, manifest, groups),
    }
    clock = jvm.headrace.clock.Clock.create(query, json.dumps(specification))
    stage = made.stage
    for number in range(layers.last):
        described = json.dumps(_layer(kernel, layers, number, stage.exits, made, manifest, groups))
        if not layers.programs:
            out = jvm.headrace.operator.Passing.apply(stage.packed._jdf, described, clock.maxima())
        elif number == 0:
            ticks = (
                kernel.spark.readStream.format("headrace.clock.ClockSource")
                .option("query", query)
                .name(CLOCK)
                .load()
            )
            out = jvm.headrace.operator.Layer.apply(stage.packed._jdf, ticks._jdf, described, clock.maxima())
        else:
            out = jvm.headrace.operator.Layer.later(stage.packed._jdf, described)
        given = DataFrame(out, kernel.spark)
        if number + 1 < layers.last:
            stage = between.stage(between.weave(kernel, layers, number + 1, given, made.schemas))
    after = back.build(kernel, layers, given, made.schemas)
    return Built(after.packed, tuple(after.outlets), manifest)


def _keys(node: StatefulNode) -> tuple[str, ...]:
    stated = isinstance(node, WindowNode) and node.stated is not None
    return (*node.keys, START, END) if stated else node.keys


def state_of(node: StatefulNode) -> dict[str, Any]:  # noqa: PLR0911 - one for each kind of step
    """Return what a step's state is made by, as the manifest compares it: a change of it is another state."""
    if isinstance(node, WindowNode):
        panes = "one" if node.single else node.accumulate
        return {**node.window.spec(), "panes": panes, "moments": len(moments(node.trigger))}
    if isinstance(node, TopNode):
        # Keys that nobody meant to forget have no time at which they are looked at.
        return {"keep": "for ever" if node.keep is None else "for a time", "kind": "top"}
    if isinstance(node, IntervalJoinNode):
        within = f"{signed(node.lower)} to {signed(node.upper)}"
        return {"kind": f"{node.how} join", "on": ", ".join(node.keys), "within": within}
    if isinstance(node, TableJoinNode):
        on = ", ".join(f"{one} = {other}" for one, other in zip(node.keys, node.right_keys, strict=True))
        return {"kind": f"{node.how} join of tables", "on": on}
    if isinstance(node, LookupJoinNode):
        return {"kind": f"{node.how} join {node.text()}", "on": ", ".join(node.keys), "table": node.table}
    if isinstance(node, MatchNode):
        return {"kind": "match", "pattern": pattern_spec.state_of(node)}
    if isinstance(node, TableStep):
        return {"kind": node.verb}
    assert isinstance(node, DedupNode)  # noqa: S101 - there is no other
    return {"kind": "dedup", "ids": "by time"}


def _behaviour(  # noqa: PLR0911 - one for each kind of step
    node: StatefulNode, types: ProgramTypes
) -> dict[str, Any]:
    """Return what a step does with its state; all of it may change from run to run."""
    if isinstance(node, WindowNode):
        return {
            "window": node.window.spec(),
            "trigger": trigger_spec(node.trigger),
            "lateness": microseconds(node.lateness),
            "accumulate": node.accumulate,
        }
    if isinstance(node, TopNode):
        return {} if node.keep is None else {"within": microseconds(node.keep)}
    if isinstance(node, IntervalJoinNode):
        return {
            "interval": {
                "lower": microseconds(node.lower),
                "upper": microseconds(node.upper),
                "how": node.how,
                "slice": _slice(node),
            },
            "lateness": microseconds(node.lateness),
        }
    if isinstance(node, LookupJoinNode):
        lookup = {"current": node.current, "left": node.how == "left", "slice": _slice(node)}
        return {"lookup": lookup, "lateness": microseconds(node.lateness)}
    if isinstance(node, MatchNode):
        return {"matching": {**types.compiled, "slice": _slice(node)}}
    if isinstance(node, TableStep):
        kinds = {
            GroupNode: "groups",
            ChangesNode: "changes",
            FoldNode: "fold",
            TableJoinNode: "join",
            NettedNode: "netted",
        }
        kind = kinds.get(type(node), "latest")
        return {"table": {"kind": kind, "by_offset": isinstance(node, TopicTableNode), **types.compiled}}
    assert isinstance(node, DedupNode)  # noqa: S101 - there is no other
    return {"within": microseconds(node.within), "slice": _slice(node)}


_SLICES = 8
_LEAST_SLICE = 1_000


def _slice(node: IntervalJoinNode | LookupJoinNode | DedupNode | MatchNode) -> int:
    """Return how much of event time a step holds together: what is due is then let go without a look.

    A row is there for as long as it is held, and before that until the watermark has come to it.
    """
    waits = [timedelta(0)]
    for source in node.sources:
        watermark = source.watermark
        if isinstance(watermark, Adaptive):
            waits.append(watermark.at_most)
        elif isinstance(watermark, Bounded | ProcessingTime):
            waits.append(watermark.lag)
    kept = timedelta(0)
    if isinstance(node, IntervalJoinNode):
        kept = max(node.kept)
    elif isinstance(node, DedupNode):
        kept = 2 * node.within
    return max(microseconds(kept + max(waits)) // _SLICES, _LEAST_SLICE)


def _clock(layers: Layers, manifest: Manifest, groups: Mapping[str, list[int]]) -> dict[str, Any]:
    return {
        "sources": [
            {
                "name": source.name,
                "index": manifest.sources[source.name].index,
                # A partition of a table that is read to its end waits for nothing.
                "policy": _policy(source) | ({"idle": 0} if isinstance(source, TableSourceNode) else {}),
                "table": isinstance(source, TableSourceNode),
            }
            for source in layers.sources
        ],
        "programs": [
            {
                "id": manifest.steps[node.name].program,
                "layer": layers.layer(node),
                "sources": [source.name for source in node.sources],
                "groups": groups[node.name] if _timed(node) else [],
                "moments": [microseconds(each) for each in _moments(node)],
                "first": _first(node),
            }
            for node in layers.programs
        ],
    }


def _first(node: StatefulNode) -> list[str]:
    """Return the tables that are read to their ends before what a step joins with them begins."""
    if not isinstance(node, LookupJoinNode):
        return []
    return [source.name for source in node.parents[RIGHT].node.sources if isinstance(source, TableSourceNode)]


def _timed(node: StatefulNode) -> bool:
    """Tell whether a step wants to know how far time has come: what a table is does not depend on it."""
    return not isinstance(node, _TIMELESS) and not (isinstance(node, LookupJoinNode) and node.current)


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


def _moments(node: StatefulNode) -> tuple[timedelta, ...]:
    return moments(node.trigger) if isinstance(node, WindowNode) else ()


def _layer(
    kernel: Kernel,
    layers: Layers,
    number: int,
    exits: list[dict[str, Any]],
    made: front.Front,
    manifest: Manifest,
    groups: Mapping[str, list[int]],
) -> dict[str, Any]:
    ports = layers.ports
    programs = []
    for node in layers.layer_programs(number):
        types = made.programs[node]
        step = manifest.steps[node.name]
        programs.append(
            {
                "id": step.program,
                "name": node.name,
                "groups": groups[node.name],
                "chained": number > 0,
                **_behaviour(node, types),
                "columns": types.columns,
                "key": types.key.jsonValue(),
                "inputs": types.inputs.jsonValue(),
                "aggregates": [dict(each) for each in _slots(types, step)],
                "port": ports[Port(node)],
                "duplicatePort": ports.get(Port(node, "duplicate")),
                "timedOutPort": ports.get(Port(node, "timed_out")),
                "rejectedPort": ports[Port(node.sources[0], "rejected")],
                "output": made.schemas[Port(node)].jsonValue(),
                "sides": [
                    {
                        "row": side.row.jsonValue(),
                        "latePort": ports.get(Port(node, late)),
                        "late": side.late.jsonValue(),
                        "full": side.full,
                    }
                    for side, late in zip(types.sides, node.late_ports, strict=True)
                ],
            }
        )
    return {
        "partitions": manifest.partitions,
        "programs": programs,
        "passGroups": kernel.group_numbers(0, PASS_GROUPS, manifest.partitions),
        "exits": [
            {
                **exit_,
                **{
                    name: manifest.steps[exit_[name].name].program
                    for name in ("program", "rejects")
                    if name in exit_
                },
            }
            for exit_ in exits
        ],
    }


def _slots(types: ProgramTypes, step: manifests.StepState) -> list[Mapping[str, Any]]:
    """Return the aggregates in the order in which the state keeps them."""
    return sorted(types.aggregates, key=lambda each: step.aggregates[each["name"]]["slot"])


def _output(types: ProgramTypes, step: manifests.StepState) -> StructType:
    """Return the panes' schema with the aggregates in the order of their slots."""
    names = {each["name"] for each in types.aggregates}
    if not names:
        return types.output
    fields = list(types.output)
    first = next(place for place, field in enumerate(fields) if field.name in names)
    made = [types.output[each["name"]] for each in _slots(types, step)]
    return StructType([*fields[:first], *made, *fields[first + len(made) :]])
