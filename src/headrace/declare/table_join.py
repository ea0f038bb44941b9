"""The join of two tables: which of their rows belong together, and what tells the joined rows apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, cast, get_args

from headrace.declare.datatype import DataType
from headrace.declare.join import RIGHT, clash_told, clashes, join_keys, joined, joined_type
from headrace.declare.keyed import check_step_name
from headrace.declare.node import Port, PortName
from headrace.declare.suggestion import did_you_mean
from headrace.declare.table_node import TableStep, table_key
from headrace.errors import DeclarationError

TableHow = Literal["inner", "left", "full"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TableJoinNode(TableStep):
    """Rows of two tables that have equal keys, as they are after every epoch.

    `keys` are the left's columns, `right_keys` the right's in the same order. A result that moves from one of
    the join's keys to another leaves the port as two changes, see :class:`NettedNode`.
    """

    verb: ClassVar[str] = "join"

    right_keys: tuple[str, ...]
    how: TableHow
    suffix: str | None = None

    @property
    def left_only(self) -> bool:
        """Never: results have the columns of both."""
        return False

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The keys, the left's other columns, the right's other columns."""
        left, right = (parent.columns or () for parent in self.parents)
        return tuple(name for name, _, _ in joined(self, left, right))

    @property
    def late_ports(self) -> tuple[PortName, ...]:
        """One a side, though nothing is late there."""
        return ("late_left", "late_right")

    def keys_of(self, side: int) -> tuple[str, ...]:
        """Return the columns of a table that are compared."""
        return self.right_keys if side == RIGHT else self.keys

    @cached_property
    def primary_key(self) -> tuple[str, ...]:
        """The columns that tell the results apart.

        That is the left's key where a left row meets one right row at most, and the right's where a right row
        meets one left row at most; but not where rows of the other side are given alone, which have none.
        """
        left, right = (table_key(parent) or () for parent in self.parents)
        one_left = set(left) <= set(self.keys)
        one_right = set(right) <= set(self.right_keys)
        if self.how == "full" and one_left and one_right:
            return self.keys
        if one_right and self.how != "full":
            return left
        if one_left and self.how == "inner":
            return self._named(right)
        return tuple(dict.fromkeys((*left, *self._named(right))))

    @property
    def moves(self) -> bool:
        """Whether a result may move from one key of the join to another: its primary key says too little."""
        return not set(self.keys) <= set(self.primary_key)

    @property
    def grows(self) -> str:
        """Every row of both."""
        return "every row of both tables by the key of the join"

    def text(self) -> str:
        """Return what meets, in words."""
        pairs = zip(self.keys, self.right_keys, strict=True)
        by = ", ".join(left if left == right else f"{left} = {right}" for left, right in pairs)
        told = ", ".join(self.primary_key)
        return f"{self.how} join of tables by {by}; its rows are told apart by {told or 'nothing'}"

    def _named(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return what columns of the right are called in the results."""
        left, right = (parent.columns or () for parent in self.parents)
        names = {of: name for name, side, of in joined(self, left, right) if side == RIGHT}
        names |= dict(zip(self.right_keys, self.keys, strict=True))
        return tuple(names[column] for column in columns)

    def _type(self, column: str) -> DataType | None:
        return joined_type(self, column)


@dataclass(frozen=True, eq=False, kw_only=True)
class NettedNode(TableStep):
    """A join's changes, one for each primary key: what left one key and entered another is one."""

    verb: ClassVar[str] = "netted"

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Those of the join."""
        return self.parents[0].columns

    @property
    def stem(self) -> str:
        """The join's name."""
        return self.parents[0].stem

    @property
    def grows(self) -> str:
        """Nothing: it looks at one epoch."""
        return "nothing, it looks at one epoch"

    def text(self) -> str:
        """Return what becomes one, in words."""
        by = f" by {', '.join(self.keys)}" if self.keys else ""
        return f"changes{by}, one for what left one key of the join and came to another"


def unnetted(port: Port) -> Port:
    """Return where the changes come from that are taken with their sign, for which halves are as good."""
    return port.node.parents[0] if isinstance(port.node, NettedNode) else port


def table_join(name: Any, left: Port, other: Any, *, on: Any, how: Any, suffix: Any, where: str) -> Port:
    """Return the port of the checked join of two tables."""
    from headrace.declare.table import Table

    check_step_name(name, "join", where)
    if not isinstance(other, Table):
        raise DeclarationError(
            f"a table is joined with a table, not with {other!r}",
            where=where,
            cure='write .join("name", other_table, on=...); a stream is made one by .latest("name", by=...)',
        )
    if how not in get_args(TableHow):
        cure = did_you_mean(str(how), get_args(TableHow), what="kinds of join")
        if how == "right":
            cure = 'turn it round: other.join("name", table, ..., how="left")'
        raise DeclarationError(f"how={how!r} is no kind of join of tables", where=where, cure=cure)
    left, right = unnetted(left), unnetted(other.port)
    for side in (left, right):
        if side.columns is None:
            raise DeclarationError(
                f"the columns of {side.text()} are known when it is planned, and a join needs them now",
                where=where,
                cure='declare them at the transform before it: .transform(..., columns=["id", ...])',
            )
    keys, right_keys = join_keys(on, left, right, where)
    if suffix is not None and (not isinstance(suffix, str) or not suffix.strip()):
        raise DeclarationError(f"suffix={suffix!r} is no text", where=where, cure='write suffix="_right"')
    node = TableJoinNode(
        name=name,
        where=where,
        parents=(left, right),
        keys=keys,
        right_keys=right_keys,
        how=cast("TableHow", how),
        suffix=suffix,
    )
    found = clashes(node, left.columns or (), right.columns or ())
    if found:
        message, cure = clash_told(node, found)
        raise DeclarationError(message, where=where, cure=cure)
    if not node.moves:
        return Port(node)
    netted = NettedNode(name=f"{name}.netted", where=where, parents=(Port(node),), keys=node.primary_key)
    return Port(netted)
