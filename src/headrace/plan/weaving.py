"""One stage woven: its rows taken through its steps, to programs and ports of the next operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from headrace.declare.event_time import time_replaced
from headrace.declare.expr import column
from headrace.declare.join import RIGHT, IntervalJoinNode
from headrace.declare.join_table import LookupJoinNode, VersionsNode
from headrace.declare.lookup import LookupNode
from headrace.declare.match import MatchNode
from headrace.declare.node import Node, Port, SourceNode, StatefulNode, WindowNode
from headrace.declare.table_join import TableJoinNode
from headrace.declare.table_node import TableStep
from headrace.declare.top import TopNode, WindowTopNode
from headrace.errors import PlanError
from headrace.plan import joins, lookups, patterns, remote, table_joins, tables
from headrace.plan.aggregates import ask
from headrace.plan.kernel import Kernel
from headrace.plan.keys import told_apart
from headrace.plan.layers import Layers, is_rejected
from headrace.plan.programs import Entered, ProgramTypes, types_of
from headrace.plan.rows import Frame, Rejection, Rows
from headrace.plan.top import first_rows

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
START, END = "__start", "__end"
"""The fields of a key that are the bounds of a custom window."""

TIMED, TIMED_ROW = "time", "row"
"""The fields of a row that passes an operator together with its event time."""

_FIXED_FIELDS = 4

Thread = SourceNode | None
"""What tells the frames of a stage apart: the source before the first operator, nothing after it."""


@dataclass
class Stage:
    """A stage: its rows packed for the operator, and where each exit of a packed row leads."""

    packed: DataFrame
    exits: list[dict[str, Any]]


@dataclass
class _Exit:
    """A nullable struct of the packed row: a way on for rows of one frame."""

    thread: Thread
    content: Column
    leads_to: StatefulNode | Port | None
    rejects: StatefulNode | None = None
    side: int = 0


@dataclass
class Weaver:
    """What has been woven of one stage."""

    kernel: Kernel
    layers: Layers
    number: int
    rejected: Callable[[Thread, SourceNode, Rejection, Column], Column]
    """Makes the struct of a rejected row, given why it is one."""
    frames: dict[Thread, Frame] = field(default_factory=dict)
    rows: dict[Port, list[tuple[Thread, Rows]]] = field(default_factory=dict)
    exits: list[_Exit] = field(default_factory=list)
    programs: dict[StatefulNode, ProgramTypes] = field(default_factory=dict)
    schemas: dict[Port, StructType] = field(default_factory=dict)
    special: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Exits that lead to no port of the pipeline: what the operator is told of them."""

    def weave(self) -> None:
        """Take the rows through the stage's steps, to the next layer's programs and past it."""
        names = self.layers.pipeline.step_names
        for node in self.layers.steps(self.number):
            self.step(node, names[node])
        for node in self.layers.layer_programs(self.number):
            self._program(node)
        for port in self.layers.passed(self.number):
            self._pass(port)

    def step(self, node: Node, name: str) -> None:
        """Take rows through a stateless step."""
        if isinstance(node, VersionsNode):
            self.rows[Port(node)] = [
                (thread, lookups.versions(self.frames[thread], node, rows))
                for thread, rows in self.rows[node.parents[0]]
            ]
            return
        made: list[tuple[Thread, Rows]] = []
        like = self.rows[node.parents[0]][0][1].schema
        for parent in node.parents:
            for thread, rows in list(self.rows[parent]):
                if isinstance(node, LookupNode):
                    pipeline = self.layers.pipeline.name
                    stepped, rejection = remote.look_up(self.frames[thread], node, rows, name, pipeline)
                    rejections = [rejection]
                else:
                    stepped, rejections = self.frames[thread].step(node, rows, name, like)
                if rejections and is_rejected(parent):
                    raise _fails_on_rejected(node, name)
                before = None
                if rows.before is not None:
                    # What fails on a row failed when that row came, and was rejected then.
                    before, _ = self.frames[thread].step(node, rows.before, name, like)
                    before = before.at(rows.time)
                made.append((thread, replace(stepped, time=rows.time, before=before)))
                for rejection in rejections:
                    self.reject(thread, node, rejection)
        self.rows[Port(node)] = made

    def reject(
        self, thread: Thread, node: Node, rejection: Rejection, program: StatefulNode | None = None
    ) -> None:
        """Send a rejected row on to its source's port; `program` is the step that it came to."""
        source = thread or node.sources[0]
        reason = F.col(rejection.reason)
        if source.topic.on_error == "fail":
            text = F.concat(F.lit(f"step {rejection.step} of topic {source.topic.name} failed: "), reason)
            reason = F.when(reason.isNotNull(), F.raise_error(text))
        struct = self.rejected(thread, source, rejection, reason.cast("string"))
        failed = F.col(rejection.reason).isNotNull()
        self.exits.append(_Exit(thread, F.when(failed, struct), Port(source, "rejected"), program))

    def _pass(self, port: Port) -> None:
        if port.name == "rejected":
            self.schemas[port] = REJECTED
            # What was rejected before this stage passes it as it is.
            for thread, rows in self.rows.get(port, []):
                self.exits.append(_Exit(thread, F.when(F.col(rows.alive), F.col(rows.struct)), port))
            return
        for thread, each in self.rows[port]:
            rows = tables.paired(self.frames[thread], each) if each.before is not None else each
            content = F.col(rows.struct)
            schema = rows.schema
            if self.layers.timed(port):
                content = F.struct(F.col(rows.time).alias(TIMED), content.alias(TIMED_ROW))
                schema = StructType(
                    [StructField(TIMED, TimestampType()), StructField(TIMED_ROW, rows.schema)]
                )
            self.exits.append(_Exit(thread, F.when(F.col(rows.alive), content), port))
            self.schemas[port] = schema

    def _program(self, node: StatefulNode) -> None:
        if isinstance(node, TableJoinNode):
            self.programs[node] = table_joins.lead(self, node)
            self.schemas |= self.programs[node].schemas(node)
            return
        if isinstance(node, TableStep):
            [parent] = node.parents
            for thread, rows in self.rows[parent]:
                if thread is not None:
                    _check_time(self.frames[thread], thread, node)
                self._known(node, tables.lead(self, node, thread, rows), thread)
            self.schemas |= self.programs[node].schemas(node)
            return
        sides = []
        for side, parent in enumerate(node.parents):
            entered: list[Entered] = []
            for thread, rows in self.rows[parent]:
                entered.append(self._enter(node, side, parent, thread, rows))
                _check_same(node, thread, entered[0], entered[-1])
            sides.append(entered[0].or_null(entered[1:]))
        self.programs[node] = types_of(node, sides)
        self.schemas |= self.programs[node].schemas(node)

    def _enter(self, node: StatefulNode, side: int, parent: Port, thread: Thread, rows: Rows) -> Entered:
        """Lead the rows of a parent to an input of a step."""
        frame = self.frames[thread]
        if thread is not None:
            _check_time(frame, thread, node)
        if isinstance(node, LookupJoinNode) and side == RIGHT:
            return lookups.lead(self, node, thread, rows)
        if isinstance(node, MatchNode):
            return patterns.lead(self, node, thread, rows)
        asked = (
            [first_rows(self.kernel, node, rows.schema)]
            if isinstance(node, WindowTopNode | TopNode)
            else ask(self.kernel, node, rows.schema)
        )
        inputs = [(f"input{place}", each.input) for place, each in enumerate(asked) if each.input is not None]
        named = [(name, column(f"`{of}`")) for name, of in zip(node.keys, node.keys_of(side), strict=True)]
        keys = frame.analyse(rows, named, node.where) if named else None
        taken = frame.analyse_step(rows, inputs, node) if inputs else None
        struct = F.col(rows.struct)
        computed_inputs = (
            F.struct(
                *(each.alias(kind.name) for each, kind in zip(taken.over(struct), taken.schema, strict=True))
            )
            if taken
            else F.struct()
        )
        may_fail = bool(taken and taken.may_fail())
        key_schema = keys.schema if keys else StructType()
        key_columns = (
            [
                told_apart(each, kind, node).alias(kind.name)
                for each, kind in zip(keys.over(struct), keys.schema, strict=True)
            ]
            if keys
            else []
        )
        if isinstance(node, WindowNode) and node.stated is not None:
            bounds = self._bounds(frame, rows, node)
            made = F.struct(computed_inputs.alias("inputs"), *bounds)
            value, computed, rejection = frame.guarded(rows, made, may_fail=True, step=node.name)
            key_columns += [value[name].alias(name) for name in (START, END)]
            key_schema = StructType(
                [*key_schema, *(StructField(name, TimestampType()) for name in (START, END))]
            )
            value = value["inputs"]
        else:
            value, computed, rejection = frame.guarded(
                rows, computed_inputs, may_fail=may_fail, step=node.name
            )
        if rejection:
            self.reject(thread, parent.node, rejection, node)
        row = F.struct(
            F.col(rows.time).alias("time"),
            F.struct(*key_columns).alias("key"),
            value.alias("inputs"),
            _travelling(node, side, rows).alias("row"),
        )
        self.exits.append(_Exit(thread, F.when(computed, row), node, side=side))
        return Entered(rows.schema, key_schema, taken.schema if taken else StructType(), tuple(asked))

    def lead(self, thread: Thread, content: Column, node: StatefulNode, side: int = 0) -> None:
        """Lead rows of a frame to a step's program: struct<time, key, inputs, row>, null for none."""
        self.exits.append(_Exit(thread, content, node, side=side))

    def _known(self, node: StatefulNode, types: ProgramTypes, thread: Thread) -> None:
        known = self.programs.setdefault(node, types)
        if known.output.simpleString() != types.output.simpleString():
            from_ = f"source {thread.name!r}" if thread else "one side of a union"
            raise PlanError(
                f"{node.verb} {node.name!r} would have {types.output.simpleString()} from {from_} "
                f"and {known.output.simpleString()} from another",
                where=node.where,
                cure="cast the columns to one type before the union",
            )

    def _bounds(self, frame: Frame, rows: Rows, node: WindowNode) -> list[Column]:
        """Return the bounds of a custom window; a row without good ones fails."""
        stated = list(zip((START, END), node.stated or (), strict=True))
        analysed = frame.analyse_step(rows, stated, node)
        for (name, expression), kind in zip(stated, analysed.schema, strict=True):
            if not isinstance(kind.dataType, TimestampType):
                raise PlanError(
                    f"the {name.strip('_')} of the window, {expression.text()}, "
                    f"is {kind.dataType.simpleString()}",
                    where=node.where,
                    cure="give an expression that is a timestamp",
                )
        start, end = analysed.over(F.col(rows.struct))
        wrong = start.isNull() | end.isNull() | (end <= start)
        told = F.concat(
            F.lit("the window of the row is ["),
            F.coalesce(start.cast("string"), F.lit("null")),
            F.lit(", "),
            F.coalesce(end.cast("string"), F.lit("null")),
            F.lit(")"),
        )
        checked = F.when(wrong, F.raise_error(told).cast("timestamp")).otherwise(start)
        return [checked.alias(START), end.alias(END)]

    def stage(self, fixed: Callable[[Thread], list[Column]]) -> Stage:
        """Make one frame of all: every exit has its place in every frame's struct.

        `fixed` are source, partition, offset and the event time that the clock shall see.
        """
        whole: DataFrame | None = None
        for thread, frame in self.frames.items():
            places = []
            for number, exit_ in enumerate(self.exits):
                # Another frame's way on is null here, and the operator never looks at its type.
                content = exit_.content if exit_.thread is thread else F.lit(None).cast("binary")
                places.append(content.alias(f"exit{number}"))
            row = F.struct(*fixed(thread), *places)
            packed = frame.frame.select(self.kernel.pack(row).alias("packed"))
            whole = packed if whole is None else whole.union(packed)
        if whole is None:
            raise PlanError("the pipeline reads nothing", where=self.layers.pipeline.where)
        return Stage(whole, self._numbered())

    def _numbered(self) -> list[dict[str, Any]]:
        ports = self.layers.ports
        numbered: list[dict[str, Any]] = []
        for position, exit_ in enumerate(self.exits):
            place: dict[str, Any] = {"ordinal": _FIXED_FIELDS + position}
            if exit_.leads_to is None:
                place |= self.special[position]
            elif isinstance(exit_.leads_to, Port):
                place["port"] = ports[exit_.leads_to]
            else:
                place |= {"program": exit_.leads_to, "side": exit_.side}
            if exit_.rejects is not None:
                place["rejects"] = exit_.rejects
            numbered.append(place)
        return numbered

    def special_exit(self, content: Column, **told: Any) -> None:
        """Lead bytes on that are no rows of the pipeline: ticks, and lines of the ledger."""
        self.special[len(self.exits)] = told
        self.exits.append(_Exit(None, content, None))


def _travelling(node: StatefulNode, side: int, rows: Rows) -> Column:
    """Return what of a row comes to a step beside its key."""
    struct = F.col(rows.struct)
    if not isinstance(node, IntervalJoinNode | LookupJoinNode):
        return struct
    return F.struct(*(struct[name].alias(name) for name in joins.travels(node, side, rows.schema)))


def _check_same(node: StatefulNode, thread: Thread, known: Entered, now: Entered) -> None:
    """Refuse rows of several types for one input."""
    if known.text() != now.text():
        from_ = f"source {thread.name!r}" if thread else "one side of a union"
        raise PlanError(
            f"{node.verb} {node.name!r} would have {now.text()} from {from_} and {known.text()} from another",
            where=node.where,
            cure="cast the columns to one type before the union",
        )


def _check_time(frame: Frame, source: SourceNode, node: StatefulNode) -> None:
    """Refuse what `check_event_time` refuses, of transforms."""
    time = (source.topic.time or "").lower()
    for step in node.walk():
        if time in (name.lower() for name in frame.transformed.get(step, ())):
            raise time_replaced(source, step.where, node.where, PlanError)


def _fails_on_rejected(node: Node, name: str) -> PlanError:
    return PlanError(
        f"step {name} computes something that may fail, on rejected rows: a row that it rejects again has "
        "nowhere to go",
        where=node.where,
        cure="compute what gives null instead: .try_cast(...) for .cast(...), F.try_add, F.try_divide, "
        "F.try_element_at, F.try_to_timestamp and the like; or deliver the rows as they are",
    )
