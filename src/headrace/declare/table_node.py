"""The steps that make tables, and which columns tell the rows of a table apart.

====================  ===============================  =========
node                  verb                             ports
====================  ===============================  =========
TableSourceNode       the topic of ``topic.table()``   ``rejected``
TopicTableNode        ``topic.table()``                ``out``
LatestNode            ``stream.latest(...)``           ``out``
FoldNode              ``stream.fold(...)``             ``out``
GroupNode             ``.group_by().agg()``            ``out``
TableJoinNode         ``table.join(...)``              ``out``
NettedNode            behind a join that moves rows    ``out``
ChangesNode           ``table.changes()``              ``out``, a stream
====================  ===============================  =========

What leaves the ``out`` port of a table's step, and each where, select and with_columns after it, are changes:
for each key at most one an epoch, the row before it and the row after it.
"""

from dataclasses import dataclass
from typing import ClassVar

from headrace.declare.datatype import LONG, STRING, DataType, Field, Nested
from headrace.declare.expr import Call, Expression, Method
from headrace.declare.node import (
    Node,
    Port,
    PortName,
    SelectNode,
    SourceNode,
    StatefulNode,
    WhereNode,
    WithColumnsNode,
)

OP, BEFORE, AFTER, SEQUENCE = "op", "before", "after", "sequence"
CHANGE_COLUMNS = (OP, BEFORE, AFTER, SEQUENCE)
"""The columns that ``changes()`` gives behind those of the key."""

RETRACTABLE = ("count", "sum", "avg", "min", "max", "bool_and", "bool_or", "count_distinct")
"""The aggregates that can take rows back."""

KEEPING_VALUES = ("min", "max", "bool_and", "bool_or", "count_distinct")
"""Those of them that keep every value with how often it is there."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TableSourceNode(SourceNode):
    """A topic read as a table: null values are deletes, and rows without a time field have Kafka's.

    Its rows lead to its TopicTableNode, and as versions to joins as of event time.
    """

    @property
    def timed(self) -> bool:
        """Always: there is Kafka's timestamp."""
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class TableStep(StatefulNode):
    """A step with state that works on a table or makes one; tables have no lateness."""

    @property
    def ports(self) -> tuple[PortName, ...]:
        """Results."""
        return ("out",)

    @property
    def primary_key(self) -> tuple[str, ...] | None:
        """The columns that tell the rows of this table apart; None for what is no table."""
        return self.keys

    @property
    def grows(self) -> str:
        """What the state holds, in words: how large it may become."""
        raise NotImplementedError

    @property
    def stem(self) -> str:
        """The step's name."""
        return self.name


@dataclass(frozen=True, eq=False, kw_only=True)
class LatestNode(TableStep):
    """The last row of each key by event time."""

    verb: ClassVar[str] = "latest"

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Those of the parent."""
        return self.parents[0].columns

    @property
    def grows(self) -> str:
        """A row a key."""
        return "one row for each key"


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicTableNode(LatestNode):
    """The last record of each key in the order of its topic; a tombstone deletes."""

    verb: ClassVar[str] = "table"


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupNode(TableStep):
    """Groups of rows with their aggregates; without keys, all rows as one group.

    Rows of a table are taken back when they change; rows of a stream stay.
    """

    verb: ClassVar[str] = "group_by"

    @property
    def columns(self) -> tuple[str, ...]:
        """The keys and the aggregates."""
        return (*self.keys, *(aggregate.name for aggregate in self.aggregates))

    @property
    def grows(self) -> str:
        """A group, and the values of what keeps values."""
        kept = [
            each.text()
            for each in self.aggregates
            if (each.function in KEEPING_VALUES if works_on_table(self) else each.takes.limited)
        ]
        values = f", with every value of {', '.join(kept)}" if kept else ""
        return f"{'one row for each group' if self.keys else 'one row'}{values}"

    def _type(self, column: str) -> DataType | None:
        if column in self.keys:
            return self.parents[0].column_type(column)
        made = next((each for each in self.aggregates if each.name == column), None)
        return LONG if made is not None and made.function in {"count", "count_distinct"} else None


@dataclass(frozen=True, eq=False, kw_only=True)
class ChangesNode(TableStep):
    """The changes of a table as rows of a stream."""

    verb: ClassVar[str] = "changes"

    @property
    def primary_key(self) -> None:
        """It is a stream."""
        return

    @property
    def columns(self) -> tuple[str, ...]:
        """The key, op, before, after and sequence."""
        return (*self.keys, *CHANGE_COLUMNS)

    @property
    def grows(self) -> str:
        """A number a key, for ever."""
        return "one number for each key that ever was"

    def _type(self, column: str) -> DataType | None:
        if column in {OP, SEQUENCE}:
            return STRING if column == OP else LONG
        parent = self.parents[0]
        if column not in {BEFORE, AFTER}:
            return parent.column_type(column)
        types = [(name, parent.column_type(name)) for name in parent.columns or ()]
        fields = tuple(Field(name, kind) for name, kind in types if kind is not None)
        return Nested(fields, nullable=True) if fields and len(fields) == len(types) else None


def table_key(port: Port) -> tuple[str, ...] | None:
    """Return the columns that tell the rows of a table apart, as they are called here; None for a stream.

    A table may have none: it has one row at most.
    """
    node = port.node
    if port.name != "out":
        return None
    if isinstance(node, TableStep):
        return node.primary_key
    if not isinstance(node, WhereNode | SelectNode | WithColumnsNode):
        return None
    key = table_key(node.parents[0])
    if key is None or not isinstance(node, SelectNode):
        return key
    names = {plain(each.expression): each.name for each in reversed(node.projections)}
    return tuple(names[column] for column in key)


def is_table(port: Port) -> bool:
    """Tell whether what leaves a port are changes of a table."""
    return table_key(port) is not None


def works_on_table(node: Node) -> bool:
    """Tell whether what comes to a step are changes of a table."""
    return any(is_table(parent) for parent in node.parents)


def plain(expression: Expression) -> str | None:
    """Return the column that an expression is without any change of it; None if it computes."""
    if isinstance(expression, Method) and expression.method in {"alias", "name"}:
        return plain(expression.subject)
    if not (isinstance(expression, Call) and expression.function in {"col", "column"}):
        return None
    paths = expression.paths()
    path = next(iter(paths)) if paths and len(paths) == 1 else ()
    return path[0] if len(path) == 1 else None
