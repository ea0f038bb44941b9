"""Before the first operator: a source's rows decoded and taken through the steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, StructType

from headrace.declare.duration import microseconds
from headrace.declare.node import Port, SourceNode, StatefulNode
from headrace.declare.table_node import TableSourceNode
from headrace.declare.watermark import Punctuated
from headrace.plan import between, repeatable, tables
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers
from headrace.plan.programs import ProgramTypes
from headrace.plan.rows import Frame, Rejection
from headrace.plan.tombstones import decode_table
from headrace.plan.weaving import Stage, Thread, Weaver

TIME = "__event_time"
_RAW = ("topic", "partition", "offset", "timestamp", "key", "value")


@dataclass
class Front:
    """The stage before the first operator, and the types of everything after it."""

    stage: Stage
    programs: dict[StatefulNode, ProgramTypes]
    schemas: dict[Port, StructType]


def build(
    kernel: Kernel, layers: Layers, raw: Mapping[SourceNode, DataFrame], indices: Mapping[str, int]
) -> Front:
    """Weave the frames of all sources into one of packed rows."""
    weaver = Weaver(kernel, layers, 0, _rejected)
    for source in layers.sources:
        _decode(weaver, source, raw[source])
    weaver.weave()

    def fixed(thread: Thread) -> list[Column]:
        index = indices[thread.name] if thread else 0
        return [
            F.lit(index).alias("source"),
            F.col("__partition").alias("partition"),
            F.col("__offset").alias("offset"),
            _clock_time(weaver, thread).alias("event_time"),
        ]

    made = Front(weaver.stage(fixed), weaver.programs, weaver.schemas)
    for number in range(1, layers.depth):
        # Over an empty frame, for the types alone: what runs is woven when the operator before it is there.
        later = between.weave(kernel, layers, number, kernel.empty(between.OUTPUTS), made.schemas)
        made.programs |= later.programs
        made.schemas |= later.schemas
    return made


def _decode(weaver: Weaver, source: SourceNode, raw: DataFrame) -> None:
    topic = source.topic
    schema = StructType.fromJson(topic.schema.schema_json())
    specification: dict[str, Any] = {}
    if topic.time is not None:
        specification["time"] = topic.time
        if source.watermark is not None and source.watermark.ahead is not None:
            specification["ahead_micros"] = microseconds(source.watermark.ahead)
    # Kafka's names are kept apart from the user's: theirs live inside the struct.
    kept = raw.select(*(F.col(name).alias(f"__{name}") for name in _RAW))
    frame = Frame(weaver.kernel, kept, repeatable.promises(weaver.layers))
    decoded = weaver.kernel.decode_json(F.col("__value"), schema, **specification)
    if isinstance(source, TableSourceNode):
        decode_table(frame, source, decoded, schema)
    else:
        frame.add(__decoded=decoded)
        frame.add(__undecoded=F.col("__decoded")["error"])
    read = F.col("__undecoded").isNull()
    if isinstance(source, TableSourceNode):
        read &= F.col(tables.TOMBSTONE).isNull()
    rows = frame.rows(F.col("__decoded")["value"], read, schema)
    time = F.lit(None).cast("timestamp")
    if isinstance(source, TableSourceNode):
        time = F.when(F.col("__undecoded").isNull(), F.col("__timestamp"))
    if topic.time is not None:
        time = F.when(F.col(rows.alive), F.col(rows.struct)[topic.time]).otherwise(time)
    frame.add(**{TIME: time})
    weaver.frames[source] = frame
    weaver.rows[Port(source)] = [(source, rows.at(TIME))]
    weaver.reject(source, source, Rejection(source.name, "__undecoded", rows))


def _rejected(_thread: Thread, _source: SourceNode, rejection: Rejection, reason: Column) -> Column:
    """Make a rejected row of the message as it lies in its topic."""
    return F.struct(
        *(F.col(f"__{name}").alias(name) for name in _RAW),
        F.lit(rejection.step).alias("step"),
        reason.alias("reason"),
    )


def _clock_time(weaver: Weaver, source: Thread) -> Column:
    """What moves the source's clock: the rows' own times, or only what marked rows say."""
    time = F.col(TIME)
    if source is None or not isinstance(source.watermark, Punctuated):
        return time
    [(_, rows)] = weaver.rows[Port(source)]
    marker = F.col(rows.struct)[source.watermark.column]
    if isinstance(rows.schema[source.watermark.column].dataType, BooleanType):
        return F.when(F.col(rows.alive) & marker, time)
    # Against the row's own time, not the wall clock: a replayed epoch must believe the same markers.
    return F.when(F.col(rows.alive) & (marker <= time + F.lit(source.watermark.ahead)), marker)
