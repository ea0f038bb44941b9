"""Between two operators: what one gave, taken through the steps to the next."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StructField,
    StructType,
)

from headrace.declare.node import Port, SourceNode, StatefulNode, WindowNode
from headrace.declare.table_node import is_table
from headrace.plan import repeatable, tables
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers
from headrace.plan.rows import Frame, Rejection
from headrace.plan.weaving import TIMED, TIMED_ROW, Stage, Thread, Weaver

OUTPUTS = StructType(
    [
        StructField("port", IntegerType(), nullable=False),
        StructField("time", LongType(), nullable=False),
        StructField("source", IntegerType(), nullable=False),
        StructField("partition", IntegerType(), nullable=False),
        StructField("offset", LongType(), nullable=False),
        StructField("payload", BinaryType()),
    ]
)
"""The rows that leave an operator."""

TICKS, LEDGER = -1, -2
"""The ports of ticks for later layers, and of lines of the ledger."""

# Spark's own format cuts times to milliseconds, and drops fields that are null.
JSON = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


def weave(
    kernel: Kernel, layers: Layers, number: int, out: DataFrame, schemas: Mapping[Port, StructType]
) -> Weaver:
    """Weave the stage behind layer `number` - 1, which gave `out`."""
    weaver = Weaver(kernel, layers, number, rejected)
    weaver.frames[None] = Frame(kernel, out, repeatable.promises(layers))
    arrive(weaver, schemas)
    weaver.weave()
    for port in (TICKS, LEDGER):
        alone = F.when(F.col("port") == port, F.col("payload"))
        if port == TICKS:
            weaver.special_exit(alone, ticks=True)
        if port == LEDGER or number + 1 < layers.depth:
            weaver.special_exit(alone, port=port)
    return weaver


def stage(weaver: Weaver) -> Stage:
    """Make the stage's frame of packed rows; their place is the one that the operator gave them."""
    places = [F.col(name).alias(name) for name in ("source", "partition", "offset")]
    return weaver.stage(lambda _: [*places, F.lit(None).cast("timestamp").alias("event_time")])


def arrive(weaver: Weaver, schemas: Mapping[Port, StructType]) -> None:
    """Unpack the rows of every port that the operator before this stage has."""
    frame = weaver.frames[None]
    layers = weaver.layers
    passed = layers.passed(weaver.number - 1)
    for port, number in layers.ports.items():
        given = isinstance(port.node, StatefulNode) and layers.layer(port.node) == weaver.number - 1
        if not given and port not in passed:
            continue
        mine = F.col("port") == number
        unpacked = F.when(mine, weaver.kernel.unpack(F.col("payload"), schemas[port]))
        if not given and layers.timed(port):
            rows = frame.rows(unpacked, mine, schemas[port])
            time = frame.fresh("time")
            frame.add(**{time: F.col(rows.struct)[TIMED]})
            inner = schemas[port][TIMED_ROW].dataType
            assert isinstance(inner, StructType)  # noqa: S101 - the weaver made it so
            struct = F.when(F.col(rows.alive), F.col(rows.struct)[TIMED_ROW])
            passing = frame.rows(struct, F.col(rows.alive), inner).at(time)
            weaver.rows[port] = [(None, tables.apart(frame, passing) if is_table(port) else passing)]
            continue
        rows = frame.rows(unpacked, mine, schemas[port])
        if port.name != "rejected":
            time = frame.fresh("time")
            frame.add(**{time: F.when(mine, F.timestamp_micros(_time(port)))})
            rows = rows.at(time)
        weaver.rows[port] = [(None, tables.apart(frame, rows) if is_table(port) else rows)]


def _time(port: Port) -> Column:
    """Return when a row is: a pane just before the end of its window, to be in a window that has it."""
    pane = isinstance(port.node, WindowNode) and port.name == "out"
    return F.col("time") - 1 if pane else F.col("time")


def rejected(_thread: Thread, source: SourceNode, rejection: Rejection, reason: Column) -> Column:
    """Make a rejected row of what has no place in a topic any more: it carries itself as JSON."""
    return F.struct(
        F.lit(source.topic.name).alias("topic"),
        F.lit(None).cast("int").alias("partition"),
        F.lit(None).cast("bigint").alias("offset"),
        F.lit(None).cast("timestamp").alias("timestamp"),
        F.lit(None).cast("binary").alias("key"),
        as_json(F.col(rejection.of.struct)).alias("value"),
        F.lit(rejection.step).alias("step"),
        reason.alias("reason"),
    )


def as_json(struct: Column) -> Column:
    """Return a struct as a message."""
    return F.to_json(struct, JSON).cast("binary")
