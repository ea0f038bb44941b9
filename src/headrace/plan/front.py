"""Before the operator: a source's rows decoded, taken through the steps, packed for their exits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from headrace.declare.duration import microseconds
from headrace.declare.expr import column
from headrace.declare.node import LATE_BY, PANE, PANE_INDEX, WINDOW, Node, Port, SourceNode, WindowAggNode
from headrace.declare.watermark import Punctuated
from headrace.errors import PlanError
from headrace.plan.columns import to_column
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers
from headrace.plan.rows import Frame, Rejection, Rows

REJECTED = StructType(
    [
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("timestamp", TimestampType()),
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("step", StringType()),
        StructField("reason", StringType()),
    ]
)
_FIXED_FIELDS = 4


@dataclass(frozen=True)
class ProgramTypes:
    """What Spark made of a stateful step: the types that its state and its panes have."""

    key: StructType
    inputs: StructType
    row: StructType
    aggregates: tuple[Mapping[str, Any], ...]
    output: StructType
    late: StructType


@dataclass
class Front:
    """All that stands before the operator."""

    packed: DataFrame
    exits: list[dict[str, Any]]
    programs: dict[WindowAggNode, ProgramTypes]
    schemas: dict[Port, StructType]


@dataclass
class _Exit:
    """A nullable struct of the packed row: a way on for rows of one source."""

    source: SourceNode
    struct: Column
    leads_to: WindowAggNode | Port


@dataclass
class _Weaver:
    kernel: Kernel
    layers: Layers
    frames: dict[SourceNode, Frame] = field(default_factory=dict)
    rows: dict[Port, list[tuple[SourceNode, Rows]]] = field(default_factory=dict)
    exits: list[_Exit] = field(default_factory=list)
    programs: dict[WindowAggNode, ProgramTypes] = field(default_factory=dict)
    schemas: dict[Port, StructType] = field(default_factory=dict)


def build(
    kernel: Kernel, layers: Layers, raw: Mapping[SourceNode, DataFrame], indices: Mapping[str, int]
) -> Front:
    """Weave the frames of all sources into one of packed rows."""
    weaver = _Weaver(kernel, layers)
    for source in layers.sources:
        _decode(weaver, source, raw[source])
    names = layers.pipeline.step_names
    for node in layers.front:
        _step(weaver, node, names[node])
    for program in layers.programs:
        _program(weaver, program)
    for port in layers.passed:
        if port.name == "rejected":
            weaver.schemas[port] = REJECTED
            continue
        for source, rows in weaver.rows[port]:
            weaver.exits.append(_Exit(source, F.when(F.col(rows.alive), F.col(rows.struct)), port))
            weaver.schemas[port] = rows.schema
    return Front(_pack(weaver, indices), _numbered(weaver), weaver.programs, weaver.schemas)


def _decode(weaver: _Weaver, source: SourceNode, raw: DataFrame) -> None:
    topic = source.topic
    schema = StructType.fromJson(topic.schema.schema_json())
    specification: dict[str, object] = {}
    if topic.time is not None:
        specification["time"] = topic.time
        if source.watermark is not None and source.watermark.ahead is not None:
            specification["ahead_micros"] = microseconds(source.watermark.ahead)
    # Kafka's names are kept apart from the user's: theirs live inside the struct.
    kept = raw.select(
        *(
            F.col(name).alias(f"__{name}")
            for name in ("topic", "partition", "offset", "timestamp", "key", "value")
        )
    )
    frame = Frame(weaver.kernel, kept)
    frame.add(__decoded=weaver.kernel.decode_json(F.col("__value"), schema, **specification))
    frame.add(__undecoded=F.col("__decoded")["error"])
    rows = frame.rows(F.col("__decoded")["value"], F.col("__undecoded").isNull(), schema)
    frame.add(
        __event_time=F.when(F.col(rows.alive), F.col(rows.struct)[topic.time])
        if topic.time is not None
        else F.lit(None).cast("timestamp")
    )
    weaver.frames[source] = frame
    weaver.rows[Port(source)] = [(source, rows)]
    _reject(weaver, source, Rejection(source.name, "__undecoded", rows))


def _reject(weaver: _Weaver, source: SourceNode, rejection: Rejection) -> None:
    reason = F.col(rejection.reason)
    if source.topic.on_error == "fail":
        text = F.concat(F.lit(f"step {rejection.step} of topic {source.topic.name} failed: "), reason)
        reason = F.when(reason.isNotNull(), F.raise_error(text))
    struct = F.struct(
        *(
            F.col(f"__{name}").alias(name)
            for name in ("topic", "partition", "offset", "timestamp", "key", "value")
        ),
        F.lit(rejection.step).alias("step"),
        reason.cast("string").alias("reason"),
    )
    weaver.exits.append(
        _Exit(source, F.when(F.col(rejection.reason).isNotNull(), struct), Port(source, "rejected"))
    )


def _step(weaver: _Weaver, node: Node, name: str) -> None:
    made: list[tuple[SourceNode, Rows]] = []
    like = weaver.rows[node.parents[0]][0][1].schema
    for parent in node.parents:
        for source, rows in weaver.rows[parent]:
            stepped, rejections = weaver.frames[source].step(node, rows, name, like)
            made.append((source, stepped))
            for rejection in rejections:
                _reject(weaver, source, rejection)
    weaver.rows[Port(node)] = made


def _program(weaver: _Weaver, node: WindowAggNode) -> None:
    [parent] = node.parents
    for source, rows in weaver.rows[parent]:
        frame = weaver.frames[source]
        inputs = [
            (f"input{position}", aggregate.input)
            for position, aggregate in enumerate(node.aggregates)
            if aggregate.input is not None
        ]
        keys = frame.analyse(rows, [(name, column(f"`{name}`")) for name in node.keys], node.where)
        taken = frame.analyse(rows, inputs, node.where) if inputs else None
        types = _types(weaver.kernel, node, rows.schema, keys.schema, taken.schema if taken else StructType())
        known = weaver.programs.setdefault(node, types)
        if known.output.simpleString() != types.output.simpleString():
            raise PlanError(
                f"window {node.name!r} would have {types.output.simpleString()} from source {source.name!r} "
                f"and {known.output.simpleString()} from another",
                where=node.where,
                cure="cast the columns to one type before the union",
            )
        struct = F.col(rows.struct)
        made = (
            F.struct(
                *(each.alias(kind.name) for each, kind in zip(taken.over(struct), taken.schema, strict=True))
            )
            if taken
            else F.struct()
        )
        value, computed, rejection = frame.guarded(
            rows, made, may_fail=bool(taken and taken.may_fail()), step=node.name
        )
        if rejection:
            _reject(weaver, source, rejection)
        key = F.struct(
            *(each.alias(kind.name) for each, kind in zip(keys.over(struct), keys.schema, strict=True))
        )
        row = F.struct(
            F.col("__event_time").alias("time"), key.alias("key"), value.alias("inputs"), struct.alias("row")
        )
        weaver.exits.append(_Exit(source, F.when(computed, row), node))
    types = weaver.programs[node]
    weaver.schemas[Port(node)] = types.output
    weaver.schemas[Port(node, "late")] = types.late


def _types(
    kernel: Kernel, node: WindowAggNode, row: StructType, key: StructType, inputs: StructType
) -> ProgramTypes:
    """Ask Spark for the types of the aggregates: they are what a batch query would give."""
    empty = kernel.empty(row)
    asked = []
    for aggregate in node.aggregates:
        if aggregate.input is None:
            asked.append(F.count("*").alias(aggregate.name))
            continue
        function = getattr(F, aggregate.function)
        asked.append(function(to_column(aggregate.input, row.names)).alias(aggregate.name))
    try:
        results = empty.agg(*asked).schema
    except Exception as refused:
        from headrace.plan.kernel import refusal

        raise refusal(refused, node.where) from refused
    described = []
    position = 0
    for aggregate, result in zip(node.aggregates, results, strict=True):
        described.append(
            {
                "name": aggregate.name,
                "function": aggregate.function,
                "input": None if aggregate.input is None else position,
                "type": result.dataType.jsonValue(),
                "options": dict(aggregate.options),
            }
        )
        position += aggregate.input is not None
    window = StructType([StructField("start", TimestampType()), StructField("end", TimestampType())])
    output = StructType(
        [
            *key,
            StructField(WINDOW.name, window),
            *results,
            StructField(PANE.name, StringType()),
            StructField(PANE_INDEX.name, IntegerType()),
        ]
    )
    late = StructType([*row, StructField(LATE_BY.name, DoubleType())])
    return ProgramTypes(key, inputs, row, tuple(described), output, late)


def _pack(weaver: _Weaver, indices: Mapping[str, int]) -> DataFrame:
    """Make one frame of all sources: every exit has its place in every source's struct."""
    whole: DataFrame | None = None
    for source in weaver.layers.sources:
        frame = weaver.frames[source]
        places = []
        for number, exit_ in enumerate(weaver.exits):
            if exit_.source is source:
                places.append(exit_.struct.alias(f"exit{number}"))
            else:
                # Another source's way on: null here, and Front never looks at its type.
                places.append(F.lit(None).cast("binary").alias(f"exit{number}"))
        packed = frame.frame.select(
            weaver.kernel.pack(
                F.struct(
                    F.lit(indices[source.name]).alias("source"),
                    F.col("__partition").alias("partition"),
                    F.col("__offset").alias("offset"),
                    _clock_time(weaver, source).alias("event_time"),
                    *places,
                )
            ).alias("packed")
        )
        whole = packed if whole is None else whole.union(packed)
    if whole is None:
        raise PlanError("the pipeline reads nothing", where=weaver.layers.pipeline.where)
    return whole


def _clock_time(weaver: _Weaver, source: SourceNode) -> Column:
    """What moves the source's clock: the rows' own times, or only what marked rows say."""
    time = F.col("__event_time")
    if not isinstance(source.watermark, Punctuated):
        return time
    [(_, rows)] = weaver.rows[Port(source)]
    marker = F.col(rows.struct)[source.watermark.column]
    if isinstance(rows.schema[source.watermark.column].dataType, BooleanType):
        return F.when(F.col(rows.alive) & marker, time)
    # Against the row's own time, not the wall clock: a replayed epoch must believe the same markers.
    return F.when(F.col(rows.alive) & (marker <= time + F.lit(source.watermark.ahead)), marker)


def _numbered(weaver: _Weaver) -> list[dict[str, Any]]:
    ports = weaver.layers.ports
    numbered: list[dict[str, Any]] = []
    for position, exit_ in enumerate(weaver.exits):
        place: dict[str, Any] = {"ordinal": _FIXED_FIELDS + position}
        if isinstance(exit_.leads_to, Port):
            place["port"] = ports[exit_.leads_to]
        else:
            place["program"] = exit_.leads_to
        numbered.append(place)
    return numbered
