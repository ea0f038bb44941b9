"""The join of a stream with a table: which row of the table each of its rows meets, and when."""

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args

from headrace.declare.datatype import DataType
from headrace.declare.duration import duration, spell
from headrace.declare.join import RIGHT, check_followed, clashes, join_keys, joined, nullable
from headrace.declare.keyed import check_late, check_step_name, unkeyed
from headrace.declare.node import Node, Port, PortName, StatefulNode
from headrace.declare.suggestion import did_you_mean
from headrace.declare.table_node import LatestNode, TopicTableNode, table_key
from headrace.errors import DeclarationError

if TYPE_CHECKING:
    from headrace.declare.table import Table

HowTable = Literal["inner", "left"]

EVENT_TIME = "event time"
"""What `as_of` is where each row shall meet the version of its own time."""

_AS_OF = 'as_of="event time" meets the row as it was at the event\'s time, as_of=None the row as it is now'


@dataclass(frozen=True, eq=False, kw_only=True)
class VersionsNode(Node):
    """What a table is made of, each record by itself: a version of its key, or a tombstone.

    Its rows are structs of the key and the row, which is null in a tombstone.
    """

    verb: ClassVar[str] = "versions"

    keys: tuple[str, ...]
    named: bool = False

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Those of the table's rows."""
        return self.parents[0].columns


@dataclass(frozen=True, eq=False, kw_only=True)
class LookupJoinNode(StatefulNode):
    """Rows of a stream, each with the row of a table that has its key: as it was then, or as it is now.

    The parents are the stream, and the versions of the table's rows or the table itself. `keys` are the
    stream's columns, `right_keys` the table's in the same order.
    """

    verb: ClassVar[str] = "join"
    retimes: ClassVar[bool] = True
    left_only: ClassVar[bool] = False

    right_keys: tuple[str, ...]
    current: bool
    how: HowTable
    lateness: timedelta
    suffix: str | None = None
    table: str
    """What the table is called."""

    @cached_property
    def columns(self) -> tuple[str, ...] | None:
        """The keys, the stream's other columns, the table's other columns."""
        left, right = (parent.columns for parent in self.parents)
        if left is None or right is None:
            return None
        return tuple(name for name, _, _ in joined(self, left, right))

    @property
    def stem(self) -> str:
        """The step's name."""
        return self.name

    @property
    def ports(self) -> tuple[PortName, ...]:
        """Results, and rows of the stream that came too late; a table's rows never do."""
        return ("out",) if self.current else ("out", "late")

    @property
    def late_ports(self) -> tuple[PortName, ...]:
        """The ports of late rows, one for each parent, as far as there are such."""
        return ("late", "late_right")

    def keys_of(self, side: int) -> tuple[str, ...]:
        """Return the columns of a side that are compared."""
        return self.right_keys if side == RIGHT else self.keys

    def text(self) -> str:
        """Return which row of the table is met, in words."""
        return "with the current row" if self.current else "as of event time"

    @property
    def grows(self) -> str:
        """What the state holds, in words."""
        if self.current:
            return "one row for each key of the table"
        then = f"{spell(self.lateness)} before the watermark" if self.lateness else "the watermark"
        return (
            f"rows from the watermark on, and of each key of the table its version at {then} and later ones"
        )

    def _type(self, column: str) -> DataType | None:
        left, right = (parent.columns for parent in self.parents)
        if left is None or right is None:
            return None
        found = next((each for each in joined(self, left, right) if each[0] == column), None)
        if found is None:
            return None
        _, side, of = found
        kind = self.parents[side].column_type(of)
        return kind and kind.with_nullable(kind.nullable or nullable(self.how, side))


def table_join(
    name: Any,
    left: Port,
    table: "Table",
    *,
    on: Any,
    as_of: Any,
    how: Any,
    lateness: Any,
    suffix: Any,
    where: str,
) -> LookupJoinNode:
    """Return the checked join of a stream with a table."""
    check_step_name(name, "join", where)
    if how not in get_args(HowTable):
        raise DeclarationError(
            f"how={how!r} is no kind of join of a stream with a table",
            where=where,
            cure=did_you_mean(str(how), get_args(HowTable), what="kinds of it"),
        )
    current = as_of is None
    if not current:
        _check_as_of(as_of, left, where)
    length = duration(lateness, what="the lateness")
    if current and length:
        raise DeclarationError(
            "with as_of=None nothing is late: every row meets what is there in its epoch",
            where=where,
            cure="remove lateness=, or the as_of=None",
        )
    keys, right_keys = join_keys(on, left, table.port, where)
    _check_primary(right_keys, table, where)
    right = table.port if current else _versions(table.port, where)
    _check_times(left, None if current else right, where)
    if suffix is not None and (not isinstance(suffix, str) or not suffix.strip()):
        raise DeclarationError(f"suffix={suffix!r} is no text", where=where, cure='write suffix="_right"')
    node = LookupJoinNode(
        name=name,
        where=where,
        parents=(left, right),
        keys=keys,
        right_keys=right_keys,
        current=current,
        how=cast("HowTable", how),
        lateness=length,
        suffix=suffix,
        table=table.port.text(),
    )
    if left.columns is not None and right.columns is not None:
        found = clashes(node, left.columns, right.columns)
        if found:
            message, cure = clash_with_table(node, found)
            raise DeclarationError(message, where=where, cure=cure)
    return node


def clash_with_table(node: LookupJoinNode, names: list[str]) -> tuple[str, str]:
    """Return what is wrong about columns of one name, and the cure."""
    listed = ", ".join(f'"{name}"' for name in names)
    suffix = f"_of_{node.table.partition('.')[0]}" if node.suffix is None else f"{node.suffix}_2"
    return (
        f'the join "{node.name}" would have two columns {listed}',
        f'write suffix="{suffix}", which the table\'s get',
    )


def _check_as_of(as_of: Any, left: Port, where: str) -> None:
    times = {source.topic.time for source in left.node.sources if source.topic.time is not None}
    if as_of == EVENT_TIME or as_of in times:
        return
    listed = ", ".join(f'"{time}"' for time in sorted(times))
    raise DeclarationError(
        f"as_of={as_of!r} is not the event time of {left.text()}{', which is ' + listed if listed else ''}",
        where=where,
        cure=f"{_AS_OF}; for another time name its field at the topic: Topic(..., time=...)",
    )


def _check_times(left: Port, versions: Port | None, where: str) -> None:
    # Without a time of its own a row has no place in the order of results either.
    unkeyed(left, where)
    if versions is not None:
        check_followed(left, where)
        check_followed(versions, where)
        check_late(left, where)


def _check_primary(right_keys: tuple[str, ...], table: "Table", where: str) -> None:
    if sorted(right_keys) == sorted(table.key):
        return
    by = ", ".join(f'"{key}"' for key in table.key) or "nothing"
    given = ", ".join(f'"{key}"' for key in right_keys)
    shown = ", ".join(f'"your_column": "{key}"' for key in table.key)
    raise DeclarationError(
        f"the rows of {table.port.text()} are told apart by {by}, and the join is by {given}",
        where=where,
        cure=f"join by the table's key: on={{{shown}}}; "
        "for a table by another key take .changes() of this one, and .latest(..., by=...) of them",
    )


def _versions(table: Port, where: str) -> Port:
    """Return the versions of the rows of a table that comes right from records."""
    node = table.node
    if not isinstance(node, LatestNode):
        first = next((each for each in reversed(list(node.walk())) if isinstance(each, LatestNode)), None)
        direct = first is not None and all(not each.stateful or each is first for each in node.walk())
        instead = (
            f"join {first.name} itself, then .where(...) and .select(...) what comes of the join"
            if direct and first is not None
            else "take the .latest(...) of its .changes()"
        )
        raise DeclarationError(
            f"nobody knows what {table.text()} was at another time: only a table of a topic, or .latest(...) "
            "of a stream, has versions",
            where=where,
            cure=f"{instead}; or write as_of=None to meet the rows as they are now",
        )
    stem = node.parents[0].node.name if isinstance(node, TopicTableNode) else node.name
    return Port(
        VersionsNode(name=f"{stem}.versions", where=where, parents=node.parents, keys=table_key(table) or ())
    )
