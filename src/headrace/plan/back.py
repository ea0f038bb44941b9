"""After the operator: the rows of each port taken to their deliveries, in an order that replays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StructType

from headrace.declare.node import Node, Port, SourceNode, WindowAggNode
from headrace.declare.sink import Delivery
from headrace.plan.front import REJECTED
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers
from headrace.plan.rows import Frame, Rejection, Rows

# Spark's own format cuts times to milliseconds, and drops fields that are null.
JSON = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


@dataclass(frozen=True)
class Outlet:
    """One column of what is handed over: rows for a delivery, or rows that are only counted.

    Several outlets may feed one delivery, for example after a union.
    """

    name: str
    delivery: str | None
    counted: tuple[str, str] | None
    schema: StructType


@dataclass
class Back:
    """What the deliver job reads, and what its columns are."""

    packed: DataFrame
    outlets: list[Outlet]


@dataclass
class _Weaver:
    kernel: Kernel
    layers: Layers
    frame: Frame
    rows: dict[Port, list[Rows]] = field(default_factory=dict)
    columns: list[Column] = field(default_factory=list)
    outlets: list[Outlet] = field(default_factory=list)


def build(kernel: Kernel, layers: Layers, out: DataFrame, schemas: Mapping[Port, StructType]) -> Back:
    """Weave the way from the operator's output to the deliveries."""
    # Whatever the shuffle did, rows of one task leave in one order: panes by the end of
    # their window, rows that passed through by their position; bytes decide ties.
    ordered = out.sortWithinPartitions("time", "source", "partition", "offset", "port", "payload")
    weaver = _Weaver(kernel, layers, Frame(kernel, ordered))
    _ports(weaver, schemas)
    names = layers.pipeline.step_names
    deliveries = dict(layers.pipeline.deliveries)
    of_rejected = {label for label, each in deliveries.items() if rejected(each.port)}
    nodes = layers.back
    last = [node for node in nodes if any(rejected(parent) for parent in node.parents)]
    for node in nodes:
        if node not in last:
            _step(weaver, node, names[node])
    for label, delivery in deliveries.items():
        if label not in of_rejected:
            _deliver(weaver, label, delivery)
    for node in last:
        _step(weaver, node, names[node])
    for label in of_rejected:
        _deliver(weaver, label, deliveries[label])
    _count(weaver)
    packed = weaver.frame.frame.select(kernel.pack(F.struct(*weaver.columns)).alias("packed"))
    return Back(packed, weaver.outlets)


def _ports(weaver: _Weaver, schemas: Mapping[Port, StructType]) -> None:
    for port, number in weaver.layers.ports.items():
        mine = F.col("port") == number
        struct = F.when(mine, weaver.kernel.unpack(F.col("payload"), schemas[port]))
        weaver.rows[port] = [weaver.frame.rows(struct, mine, schemas[port])]


def _step(weaver: _Weaver, node: Node, name: str) -> None:
    made = []
    like = weaver.rows[node.parents[0]][0].schema
    for parent in node.parents:
        for rows in list(weaver.rows[parent]):
            stepped, rejections = weaver.frame.step(node, rows, name, like)
            made.append(stepped)
            for rejection in rejections:
                _reject(weaver, node, rejection)
    weaver.rows[Port(node)] = made


def _reject(weaver: _Weaver, node: Node, rejection: Rejection) -> None:
    """Add a rejected row to the source's; it has no place in a topic, so it carries itself as JSON."""
    source = node.sources[0]
    port = Port(source, "rejected")
    reason = F.col(rejection.reason)
    struct = F.struct(
        F.lit(source.topic.name).alias("topic"),
        F.lit(None).cast("int").alias("partition"),
        F.lit(None).cast("bigint").alias("offset"),
        F.lit(None).cast("timestamp").alias("timestamp"),
        F.lit(None).cast("binary").alias("key"),
        _json(F.col(rejection.of.struct)).alias("value"),
        F.lit(rejection.step).alias("step"),
        reason.alias("reason"),
    )
    failed = reason.isNotNull()
    if source.topic.on_error == "fail":
        text = F.concat(F.lit(f"step {rejection.step} failed: "), reason)
        struct = F.when(failed, F.raise_error(text)).otherwise(struct)
    rows = weaver.frame.rows(F.when(failed, struct), failed, REJECTED)
    weaver.rows[port] = [*weaver.rows[port], rows]


def _deliver(weaver: _Weaver, label: str, delivery: Delivery) -> None:
    for number, rows in enumerate(weaver.rows[delivery.port], start=1):
        struct = F.col(rows.struct)
        alive = F.col(rows.alive)
        key, alive = _key(weaver, delivery, rows, alive, label)
        handed = F.struct(key.cast("binary").alias("key"), _json(struct).alias("value"))
        weaver.columns.append(F.when(alive, handed).alias(f"outlet{len(weaver.columns)}"))
        name = label if number == 1 else f"{label}~{number}"
        weaver.outlets.append(Outlet(name, label, None, rows.schema))


def _key(weaver: _Weaver, delivery: Delivery, rows: Rows, alive: Column, label: str) -> tuple[Column, Column]:
    expressions = [(f"key{position}", each) for position, each in enumerate(delivery.sink.key_expressions())]
    if not expressions:
        return F.lit(None).cast("binary"), alive
    analysed = weaver.frame.analyse(rows, expressions, delivery.where)
    columns = analysed.over(F.col(rows.struct))
    if len(columns) == 1:
        kind = analysed.schema[0].dataType
        key = columns[0] if isinstance(kind, BinaryType) else columns[0].cast("string")
    else:
        names = [each.output_name() or name for name, each in expressions]
        named = (column.alias(name) for column, name in zip(columns, names, strict=True))
        key = F.to_json(F.struct(*named), JSON)
    made, computed, rejection = weaver.frame.guarded(
        rows, key, may_fail=analysed.may_fail(), step=f"{label}.key"
    )
    if rejection is None:
        return key, alive
    if not rejected(delivery.port):
        _reject(weaver, delivery.port.node, rejection)
    return made, computed


def _count(weaver: _Weaver) -> None:
    """Count what the steps gave off, delivered or not: nothing disappears without a number."""
    for port, number in weaver.layers.ports.items():
        if isinstance(port.node, WindowAggNode):
            counted = ("fired" if port.name == "out" else "late", port.node.name)
            _counter(weaver, F.col("port") == number, counted)
        elif port.name == "rejected" and isinstance(port.node, SourceNode):
            for rows in weaver.rows[port]:
                _counter(weaver, F.col(rows.alive), ("rejected", port.node.name))


def _counter(weaver: _Weaver, counts: Column, counted: tuple[str, str]) -> None:
    nothing = F.lit(None).cast("binary")
    struct = F.when(counts, F.struct(nothing.alias("key"), nothing.alias("value")))
    weaver.columns.append(struct.alias(f"outlet{len(weaver.columns)}"))
    name = f"{counted[0]} {counted[1]} {len(weaver.outlets)}"
    weaver.outlets.append(Outlet(name, None, counted, StructType()))


def _json(struct: Column) -> Column:
    return F.to_json(struct, JSON).cast("binary")


def rejected(port: Port) -> bool:
    """Tell whether rows that could not be used leave here, as they are or after further steps."""
    return port.name == "rejected" or any(rejected(parent) for parent in port.node.parents)
