"""The graph that declarations form: immutable nodes, and the ports at which rows leave them.

A :class:`Stream <headrace.declare.stream.Stream>` is one port of one node. A node is known by its
identity: a stream that is used twice is one node, and is computed once. The nodes:

=================  =====================================  ==========================
node               verb                                   ports
=================  =====================================  ==========================
SourceNode         ``topic.stream(...)``                  ``out``, ``rejected``
WhereNode          ``.where(...)``                        ``out``
SelectNode         ``.select(...)``                       ``out``
WithColumnsNode    ``.with_columns(...)``                 ``out``
UnionNode          ``.union(...)``                        ``out``
TransformNode      ``.transform(...)``                    ``out``
WindowAggNode      ``.key_by().window().agg()``           ``out``, ``late``
WindowTopNode      ``.key_by().window().top()``           ``out``, ``late``
TopNode            ``.key_by().top(...)``                 ``out``, ``late`` with ``keep=``
DedupNode          ``.dedup(...)``                        ``out``, ``late``, ``duplicate``
IntervalJoinNode   ``.join(...)`` of two streams          ``out``, ``late_left``, ``late_right``
LookupJoinNode      ``.join(...)`` with a table            ``out``, ``late`` unless ``as_of=None``
LookupNode         ``.lookup(...)``                       ``out``
MatchNode          ``.key_by().match(...)``               ``out``, ``timed_out``, ``late``
=================  =====================================  ==========================

Those of tables are in :mod:`headrace.declare.table_node`.

Rows that a step rejects leave through the ``rejected`` port of the source that they came from.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any, ClassVar, Literal

from headrace.declare.aggregate import Aggregate
from headrace.declare.datatype import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    INTEGER,
    LONG,
    STRING,
    TIMESTAMP,
    DataType,
    Field,
    Nested,
)
from headrace.declare.expr import Attribute, Call, Expression, Method
from headrace.declare.topic import Topic
from headrace.declare.trigger import Accumulate, AtWatermark, Final, Trigger
from headrace.declare.watermark import Watermark
from headrace.declare.window import Global, Window

PortName = Literal["out", "late", "late_left", "late_right", "duplicate", "timed_out", "rejected"]

REJECTED: tuple[Field, ...] = (
    Field("topic", STRING),
    Field("partition", INTEGER),
    Field("offset", LONG),
    Field("timestamp", TIMESTAMP),
    Field("key", replace(BINARY, nullable=True)),
    Field("value", replace(BINARY, nullable=True)),
    Field("step", STRING),
    Field("reason", STRING),
)
"""The columns of every ``.rejected`` stream."""

LATE_BY = Field("late_by_seconds", DOUBLE)
"""The column that a ``.late`` stream has besides those of the window's input."""

WINDOW = Field("window", Nested((Field("start", TIMESTAMP), Field("end", TIMESTAMP))))
PANE = Field("pane", STRING)
PANE_INDEX = Field("pane_index", INTEGER)
PANE_LAST = Field("pane_last", BOOLEAN)
CHANGE = Field("change", INTEGER)
"""The sign of a pane where panes are taken back: -1 takes one back, +1 gives one."""

PANE_FIELDS: tuple[Field, ...] = (WINDOW, PANE, PANE_INDEX, PANE_LAST)
"""The columns that every pane has besides its keys and aggregates."""


@dataclass(frozen=True)
class Projection:
    """A column that a step makes: its name and its expression."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Port:
    """Where rows leave a node: `name` is out, late or rejected."""

    node: "Node"
    name: PortName = "out"

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the columns in order; None when only planning can tell."""
        return self.node.columns_of(self.name)

    def column_type(self, column: str) -> DataType | None:
        """Return the type of a column; None when only planning can tell."""
        return self.node.type_of(column, self.name)

    @property
    def stem(self) -> str:
        """What the default names of the steps after this port begin with."""
        return self.node.stem if self.name == "out" else f"{self.node.name}.{self.name}"

    @property
    def has_event_time(self) -> bool:
        """Whether rows have a time of their own."""
        return (
            self.name != "rejected"
            and all(source.timed for source in self.node.sources)
            and not self._timeless
        )

    @property
    def _timeless(self) -> bool:
        return any(node.timeless for node in self.node.walk())

    @property
    def has_watermark(self) -> bool:
        """Whether all sources upstream say how far event time has come."""
        return self.name != "rejected" and all(source.watermark for source in self.node.sources)

    def text(self) -> str:
        """Return the node's name, with the port unless it is out."""
        return self.node.name if self.name == "out" else f"{self.node.name}.{self.name}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """One step.

    `name` is the user's, or made of the stem and the verb (``payments.where``, ``payments.where#2``);
    stateful steps and sources always have one of the user's. `where` is the user's ``file:line``.
    `parents` are the ports that rows come from.
    """

    verb: ClassVar[str] = ""
    stateful: ClassVar[bool] = False
    retimes: ClassVar[bool] = False
    """Whether results have a time of their own, which is no column's."""

    name: str
    where: str
    parents: tuple[Port, ...] = ()
    named: bool = True

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns of the ``out`` port; None when only planning can tell."""
        raise NotImplementedError

    @property
    def stem(self) -> str:
        """What the default names of the steps after this one begin with."""
        return self.parents[0].stem

    @property
    def timeless(self) -> bool:
        """Whether the rows that it gives are of no time."""
        return False

    @property
    def ports(self) -> tuple[PortName, ...]:
        """The ports that this node has."""
        return ("out",)

    def columns_of(self, port: PortName) -> tuple[str, ...] | None:
        """Return the columns of a port."""
        return tuple(field.name for field in REJECTED) if port == "rejected" else self.columns

    def type_of(self, column: str, port: PortName = "out") -> DataType | None:
        """Return the type of a column of a port; None when only planning can tell."""
        if port == "rejected":
            return next((field.type for field in REJECTED if field.name == column), None)
        return self._type(column)

    def _type(self, column: str) -> DataType | None:
        return self.parents[0].column_type(column)

    @cached_property
    def sources(self) -> tuple["SourceNode", ...]:
        """The sources upstream, each once, in the order of the parents."""
        found: dict[SourceNode, None] = {}
        for parent in self.parents:
            found |= dict.fromkeys(parent.node.sources)
        return tuple(found)

    @cached_property
    def rejected(self) -> Port:
        """The port through which rows leave that this step, or one before it, rejects."""
        upstream = tuple(dict.fromkeys(parent.node.rejected for parent in self.parents))
        if len(upstream) == 1:
            return upstream[0]
        parents = tuple(Port(source, "rejected") for source in self.sources)
        return Port(UnionNode(name=f"{self.stem}.rejected", where=self.where, parents=parents, named=False))

    def walk(self) -> Iterator["Node"]:
        """Yield all nodes upstream and this one, parents first, each once."""
        seen: dict[Node, None] = {}
        _visit(self, seen)
        yield from seen


@dataclass(frozen=True, eq=False, kw_only=True)
class SourceNode(Node):
    """A topic being read; `watermark` is None for streams that need no event time."""

    verb: ClassVar[str] = "source"

    topic: Topic
    watermark: Watermark | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields of the record."""
        return self.topic.schema.names

    @property
    def timed(self) -> bool:
        """Whether its rows have an event time."""
        return self.topic.time is not None

    @property
    def stem(self) -> str:
        """The source's name."""
        return self.name

    @property
    def ports(self) -> tuple[PortName, ...]:
        """Rows that were read, and rows that are not good."""
        return ("out", "rejected")

    @cached_property
    def sources(self) -> tuple["SourceNode", ...]:
        """This one."""
        return (self,)

    @cached_property
    def rejected(self) -> Port:
        """The port of the rows that were not good, here or in a step after this one."""
        return Port(self, "rejected")

    def _type(self, column: str) -> DataType | None:
        field = self.topic.schema.field(column)
        return field.type if field else None


@dataclass(frozen=True, eq=False, kw_only=True)
class WhereNode(Node):
    """Keeps the rows for which `condition` is true; null drops a row, as in SQL."""

    verb: ClassVar[str] = "where"

    condition: Expression

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Those of the parent."""
        return self.parents[0].columns


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectNode(Node):
    """Makes each row of these columns and no others; all expressions see the parent's columns."""

    verb: ClassVar[str] = "select"

    projections: tuple[Projection, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the projections."""
        return tuple(projection.name for projection in self.projections)

    def _type(self, column: str) -> DataType | None:
        made = next((each for each in self.projections if each.name == column), None)
        return type_of(made.expression, self.parents[0]) if made else None


@dataclass(frozen=True, eq=False, kw_only=True)
class WithColumnsNode(Node):
    """Adds or replaces columns; a replaced one keeps its place, and all expressions see the parent's."""

    verb: ClassVar[str] = "with_columns"

    projections: tuple[Projection, ...]

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Those of the parent and the new ones after them."""
        before = self.parents[0].columns
        if before is None:
            return None
        return (*before, *(each.name for each in self.projections if each.name not in before))

    def _type(self, column: str) -> DataType | None:
        made = next((each for each in self.projections if each.name == column), None)
        return type_of(made.expression, self.parents[0]) if made else self.parents[0].column_type(column)


@dataclass(frozen=True, eq=False, kw_only=True)
class UnionNode(Node):
    """The rows of all parents; columns are matched by name, and ordered as in the first."""

    verb: ClassVar[str] = "union"

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Those of the first parent, or of the first that knows."""
        known = (parent.columns for parent in self.parents)
        return next((columns for columns in known if columns is not None), None)

    def _type(self, column: str) -> DataType | None:
        types = [parent.column_type(column) for parent in self.parents]
        known = [each for each in types if each is not None]
        if not types or len(known) < len(types):
            return None
        return known[0].with_nullable(any(each.nullable for each in known))


@dataclass(frozen=True, eq=False, kw_only=True)
class TransformNode(Node):
    """Rows as the user's function on DataFrames makes them; `declared` are the columns, if given."""

    verb: ClassVar[str] = "transform"

    function: Callable[[Any], Any]
    declared: tuple[str, ...] | None = None

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Those declared."""
        return self.declared

    def _type(self, column: str) -> DataType | None:  # noqa: ARG002
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class StatefulNode(Node):
    """A step with state; `name` is the identity of the state, `keys` are what it is kept by."""

    stateful: ClassVar[bool] = True

    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...] = ()

    @property
    def ports(self) -> tuple[PortName, ...]:
        """Results, and rows that came too late."""
        return ("out", *self.late_ports)

    @property
    def late_ports(self) -> tuple[PortName, ...]:
        """The port by which the late rows of each parent leave."""
        return ("late",)

    def keys_of(self, side: int) -> tuple[str, ...]:  # noqa: ARG002 - one that joins tells its sides apart
        """Return the columns of a parent's rows that hold the keys."""
        return self.keys

    @property
    def retracts(self) -> bool:
        """Whether rows are taken back: they have the column change."""
        return False

    @property
    def slots(self) -> dict[str, str]:
        """What the state of a key is made of, each by its name and in words."""
        return {each.name: each.text() for each in self.aggregates}

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What is computed of a row, keys aside."""
        return tuple(each.input for each in self.aggregates if each.input is not None)

    def columns_of(self, port: PortName) -> tuple[str, ...] | None:
        """Return the columns of a port; those of late rows are their input's and how late the row was."""
        if port not in self.late_ports:
            return super().columns_of(port)
        before = self.parents[self.late_ports.index(port)].columns
        return None if before is None else (*before, LATE_BY.name)

    def type_of(self, column: str, port: PortName = "out") -> DataType | None:
        """Return the type of a column of a port."""
        if port in self.late_ports:
            before = self.parents[self.late_ports.index(port)]
            return LATE_BY.type if column == LATE_BY.name else before.column_type(column)
        return super().type_of(column, port)


@dataclass(frozen=True, eq=False, kw_only=True)
class WindowNode(StatefulNode):
    """Something made per key and window; without keys of all rows."""

    verb: ClassVar[str] = "window"
    retimes: ClassVar[bool] = True

    window: Window
    trigger: Trigger
    lateness: timedelta
    accumulate: Accumulate
    stated: tuple[Expression, Expression] | None = None
    """Start and end of a custom window."""

    @property
    def made(self) -> tuple[str, ...] | None:
        """The columns that are made of the rows; None when only planning can tell."""
        raise NotImplementedError

    def made_type(self, column: str) -> DataType | None:
        """Return the type of such a column; None when only planning can tell."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The keys, window, what is made, pane, pane_index, pane_last, and change when retracting."""
        if self.made is None:
            return None
        change = (CHANGE.name,) if self.retracts else ()
        return (*self.keys, WINDOW.name, *self.made, PANE.name, PANE_INDEX.name, PANE_LAST.name, *change)

    @property
    def retracts(self) -> bool:
        """Whether panes are taken back before they are given anew."""
        return self.accumulate == "retracting"

    @property
    def timeless(self) -> bool:
        """The panes of a global window are of no time: theirs never ends."""
        return isinstance(self.window, Global)

    @property
    def single(self) -> bool:
        """Whether a key's window gives one pane and no other."""
        once = isinstance(self.trigger, AtWatermark) and self.trigger.early is None and not self.lateness
        return once or isinstance(self.trigger, Final)

    @property
    def stem(self) -> str:
        """The step's name."""
        return self.name

    def _type(self, column: str) -> DataType | None:
        if column in self.keys:
            return self.parents[0].column_type(column)
        fixed = next((field.type for field in (*PANE_FIELDS, CHANGE) if field.name == column), None)
        return self.made_type(column) if fixed is None else fixed


@dataclass(frozen=True, eq=False, kw_only=True)
class WindowAggNode(WindowNode):
    """Aggregates per key and window."""

    @property
    def made(self) -> tuple[str, ...]:
        """The names of the aggregates."""
        return tuple(aggregate.name for aggregate in self.aggregates)

    def made_type(self, column: str) -> DataType | None:
        """Return the type of a count; of other aggregates only planning can tell."""
        made = next((each for each in self.aggregates if each.name == column), None)
        counts = {"count", "count_distinct", "approx_count_distinct"}
        return LONG if made is not None and made.function in counts else None


@dataclass(frozen=True, eq=False, kw_only=True)
class DedupNode(StatefulNode):
    """Lets the first row of each id pass, and no other within so long of it in event time."""

    verb: ClassVar[str] = "dedup"

    within: timedelta

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Those of the parent."""
        return self.parents[0].columns

    @property
    def ports(self) -> tuple[PortName, ...]:
        """First rows, rows that came too late to tell, and duplicates."""
        return ("out", "late", "duplicate")


def type_of(expression: Expression, port: Port) -> DataType | None:
    """Return the type of a column, or of a field in it, that `expression` plainly names; else None."""
    if isinstance(expression, Method) and expression.method in {"alias", "name"}:
        return type_of(expression.subject, port)
    plain = isinstance(expression, Attribute) or (
        isinstance(expression, Call) and expression.function in {"col", "column"}
    )
    paths = expression.paths() if plain else None
    if not paths or len(paths) != 1:
        return None
    root, *rest = next(iter(paths))
    found = port.column_type(root)
    nullable = False
    for name in rest:
        field = found.field(name) if isinstance(found, Nested) else None
        if found is None or field is None:
            return None
        nullable = nullable or found.nullable
        found = field.type
    return found.with_nullable(found.nullable or nullable) if found else None


def step_name(verb: str, parents: tuple[Port, ...]) -> str:
    """Return the default name of a step: its stem, its verb, and a number from the second on.

    Only steps upstream are counted, so that a step added elsewhere renames nothing.
    """
    stem = parents[0].stem
    upstream = {node for parent in parents for node in parent.node.walk()}
    same = sum(1 for node in upstream if node.verb == verb and not node.named and _starts(node, stem))
    return f"{stem}.{verb}" if same == 0 else f"{stem}.{verb}#{same + 1}"


def _starts(node: Node, stem: str) -> bool:
    return bool(node.parents) and node.parents[0].stem == stem


def _visit(node: Node, seen: dict[Node, None]) -> None:
    if node in seen:
        return
    for parent in node.parents:
        _visit(parent.node, seen)
    seen[node] = None
