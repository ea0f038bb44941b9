"""After the last operator: the rows of each port taken to their deliveries, in an order that replays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StructType

from headrace.declare.node import Node, Port, SourceNode, StatefulNode
from headrace.declare.sink import Delivery
from headrace.declare.table_node import plain, table_key
from headrace.declare.view import View
from headrace.plan import between, repeatable, tables
from headrace.plan.between import JSON, LEDGER, as_json
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers, is_rejected, of_rejected
from headrace.plan.rows import Frame, Rejection, Rows
from headrace.plan.weaving import REJECTED, Thread, Weaver


@dataclass(frozen=True)
class Outlet:
    """One column of what is handed over: rows for a delivery or a count, or lines of the ledger.

    Several outlets may feed one delivery, for example after a union.
    """

    name: str
    delivery: str | None
    counted: tuple[str, str] | None
    schema: StructType
    ledger: bool = False
    key: tuple[str, ...] | None = None
    """Of a table: the columns that tell its rows apart. A value of null deletes the row of the key."""


@dataclass
class Back:
    """What the deliver job reads, and what its columns are."""

    packed: DataFrame
    outlets: list[Outlet]


@dataclass
class _Weaver(Weaver):
    """The last stage: its rows go to outlets, and a row that is rejected joins those that were."""

    columns: list[Column] = field(default_factory=list)
    outlets: list[Outlet] = field(default_factory=list)

    @property
    def frame(self) -> Frame:
        """The one frame of the stage."""
        return self.frames[None]

    def reject(
        self,
        thread: Thread,
        node: Node,
        rejection: Rejection,
        program: StatefulNode | None = None,  # noqa: ARG002 - no step with state comes after this
    ) -> None:
        """Add a rejected row to the source's."""
        source = node.sources[0]
        port = Port(source, "rejected")
        reason = F.col(rejection.reason)
        failed = reason.isNotNull()
        struct = self.rejected(thread, source, rejection, reason)
        if source.topic.on_error == "fail":
            text = F.concat(F.lit(f"step {rejection.step} failed: "), reason)
            struct = F.when(failed, F.raise_error(text)).otherwise(struct)
        rows = self.frame.rows(F.when(failed, struct), failed, REJECTED)
        self.rows[port] = [*self.rows[port], (None, rows)]


def build(kernel: Kernel, layers: Layers, out: DataFrame, schemas: Mapping[Port, StructType]) -> Back:
    """Weave the way from the last operator's output to the deliveries."""
    # Whatever the shuffle did, rows of one task leave in one order: panes by the end of
    # their window, rows that passed through by their position; bytes decide ties.
    ordered = out.sortWithinPartitions("time", "source", "partition", "offset", "port", "payload")
    weaver = _Weaver(kernel, layers, layers.last, between.rejected)
    weaver.frames[None] = Frame(kernel, ordered, repeatable.promises(layers))
    between.arrive(weaver, schemas)
    names = layers.pipeline.step_names
    deliveries = dict(layers.pipeline.deliveries)
    labels = rejected_last(layers)
    nodes = layers.steps(layers.last)
    for rejected in (False, True):
        for node in nodes:
            if of_rejected(node) is rejected:
                weaver.step(node, names[node])
        for label in labels:
            if is_rejected(deliveries[label].port) is rejected:
                _deliver(weaver, label, deliveries[label])
    _count(weaver)
    packed = weaver.frame.frame.select(kernel.pack(F.struct(*weaver.columns)).alias("packed"))
    return Back(packed, weaver.outlets)


def rejected_last(layers: Layers) -> list[str]:
    """Return the deliveries in the order of their outlets: all other steps may still reject a row.

    Every run must number the outlets alike.
    """
    deliveries = layers.pipeline.deliveries
    return sorted(deliveries, key=lambda label: is_rejected(deliveries[label].port))


def _deliver(weaver: _Weaver, label: str, delivery: Delivery) -> None:
    for number, (_, rows) in enumerate(weaver.rows[delivery.port], start=1):
        if rows.before is not None:
            _upsert(weaver, label, delivery, rows)
            continue
        struct = F.col(rows.struct)
        alive = F.col(rows.alive)
        key, alive = _key(weaver, delivery, rows, alive, label)
        handed = F.struct(key.cast("binary").alias("key"), as_json(struct).alias("value"))
        weaver.columns.append(F.when(alive, handed).alias(f"outlet{len(weaver.columns)}"))
        name = label if number == 1 else f"{label}~{number}"
        weaver.outlets.append(Outlet(name, label, None, rows.schema))


def _upsert(weaver: _Weaver, label: str, delivery: Delivery, rows: Rows) -> None:
    """Hand a table over: the key of each change, and the row as it is now, or null where it is gone."""
    before, after = tables.netted(weaver.frame, rows)
    there, change = F.col(after.alive), F.col(before.alive) | F.col(after.alive)
    columns = table_key(delivery.port) or ()
    # The sink has the columns of the key, if perhaps in another order.
    names = [str(plain(each)) for each in delivery.sink.key_expressions()] or list(columns)
    parts = [
        F.when(there, F.col(after.struct)[name]).otherwise(F.col(before.struct)[name]).alias(name)
        for name in names
    ]
    if isinstance(delivery.sink, View):
        text = F.to_json(F.struct(*parts), JSON) if parts else F.lit("{}")
    elif len(parts) == 1:
        text = parts[0] if isinstance(rows.schema[names[0]].dataType, BinaryType) else parts[0].cast("string")
    else:
        text = F.to_json(F.struct(*parts), JSON) if parts else F.lit(None).cast("string")
    # Kafka deletes by key only. JSON says what text cannot: that there is no value, or no column.
    nothing = json.dumps(dict.fromkeys(names), separators=(",", ":"))
    key = F.coalesce(text.cast("binary"), F.lit(nothing).cast("binary"))
    value = F.when(there, as_json(F.col(after.struct)))
    handed = F.struct(key.alias("key"), value.alias("value"))
    weaver.columns.append(F.when(change, handed).alias(f"outlet{len(weaver.columns)}"))
    weaver.outlets.append(Outlet(label, label, None, rows.schema, key=columns))


def _key(weaver: _Weaver, delivery: Delivery, rows: Rows, alive: Column, label: str) -> tuple[Column, Column]:
    expressions = [(f"key{position}", each) for position, each in enumerate(delivery.sink.key_expressions())]
    if not expressions:
        return F.lit(None).cast("binary"), alive
    analysed = weaver.frame.analyse(rows, expressions, delivery.where)
    if analysed.chance is not None and delivery.sink.guarantee == "exactly-once":
        raise repeatable.refused(analysed.chance, label, delivery.where)
    columns = analysed.over(F.col(rows.struct))
    if len(columns) == 1 and not isinstance(delivery.sink, View):
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
    if is_rejected(delivery.port):
        # There is nowhere left to send the row to: it goes without a key.
        return made, alive
    weaver.reject(None, delivery.port.node, rejection)
    return made, computed


_COUNTED = {
    "out": "fired",
    "late": "late",
    "late_left": "late",
    "late_right": "late",
    "duplicate": "duplicate",
    "timed_out": "timed_out",
}


def _count(weaver: _Weaver) -> None:
    """Count what the steps gave off, delivered or not: nothing disappears without a number."""
    for port, number in weaver.layers.ports.items():
        if isinstance(port.node, StatefulNode):
            # What went into another step is counted there; here the rows are that reach this stage.
            if port in weaver.rows:
                _counter(weaver, F.col("port") == number, (_COUNTED[port.name], port.node.name))
        elif port.name == "rejected" and isinstance(port.node, SourceNode):
            for _, rows in weaver.rows[port]:
                _counter(weaver, F.col(rows.alive), ("rejected", port.node.name))
    line = F.when(F.col("port") == LEDGER, F.struct(_nothing().alias("key"), F.col("payload").alias("value")))
    weaver.columns.append(line.alias(f"outlet{len(weaver.columns)}"))
    weaver.outlets.append(Outlet("ledger", None, None, StructType(), ledger=True))


def _counter(weaver: _Weaver, counts: Column, counted: tuple[str, str]) -> None:
    struct = F.when(counts, F.struct(_nothing().alias("key"), _nothing().alias("value")))
    weaver.columns.append(struct.alias(f"outlet{len(weaver.columns)}"))
    name = f"{counted[0]} {counted[1]} {len(weaver.outlets)}"
    weaver.outlets.append(Outlet(name, None, counted, StructType()))


def _nothing() -> Column:
    return F.lit(None).cast("binary")
