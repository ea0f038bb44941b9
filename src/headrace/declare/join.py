"""The join of two streams: which rows belong together, by key and by the time between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, cast, get_args

from headrace.declare.datatype import DataType
from headrace.declare.duration import duration, spell
from headrace.declare.event_time import check_event_time
from headrace.declare.expr import column
from headrace.declare.keyed import check_late, check_step_name, unkeyed
from headrace.declare.node import Port, PortName, StatefulNode
from headrace.declare.projection import check_columns
from headrace.declare.suggestion import did_you_mean
from headrace.errors import DeclarationError

How = Literal["inner", "left", "right", "full", "semi", "anti"]
On = str | Sequence[str] | Mapping[str, str]
Within = str | timedelta | tuple[str | timedelta, str | timedelta]

LEFT, RIGHT = 0, 1
"""The sides of a join, as its parents are numbered."""

_SHOWN = (
    'within=("0 seconds", "30 minutes") lets a row meet those of the other stream up to half an hour later'
)


class Joining(Protocol):
    """What joins have in common, of streams or of tables."""

    @property
    def name(self) -> str:
        """What the user calls it."""
        raise NotImplementedError

    @property
    def where(self) -> str:
        """The user's file and line."""
        raise NotImplementedError

    @property
    def parents(self) -> tuple[Port, ...]:
        """The two sides."""
        raise NotImplementedError

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the left side that are compared."""
        raise NotImplementedError

    @property
    def right_keys(self) -> tuple[str, ...]:
        """Those of the right side, in the same order."""
        raise NotImplementedError

    @property
    def suffix(self) -> str | None:
        """What a name of the right side ends in that the left has, too."""
        raise NotImplementedError

    @property
    def how(self) -> How:
        """Which rows are given."""
        raise NotImplementedError

    @property
    def left_only(self) -> bool:
        """Whether results are rows of the left side, as they came."""
        raise NotImplementedError

    def keys_of(self, side: int) -> tuple[str, ...]:
        """Return the columns of a side that are compared."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class IntervalJoinNode(StatefulNode):
    """Rows of two streams that have equal keys, and times not farther apart than `lower` and `upper` say.

    `keys` are the left's columns, `right_keys` the right's in the same order. The bounds are those of the
    right row's time minus the left row's, both included.
    """

    verb: ClassVar[str] = "join"
    retimes: ClassVar[bool] = True

    right_keys: tuple[str, ...]
    lower: timedelta
    upper: timedelta
    how: How
    lateness: timedelta
    suffix: str | None = None

    @property
    def left_only(self) -> bool:
        """Whether results are rows of the left stream, as they came."""
        return self.how in {"semi", "anti"}

    @cached_property
    def columns(self) -> tuple[str, ...] | None:
        """The keys, the left's other columns, the right's other columns; of semi and anti the left's."""
        left, right = (parent.columns for parent in self.parents)
        if left is None or right is None:
            return left if self.left_only else None
        return tuple(name for name, _, _ in joined(self, left, right))

    @property
    def stem(self) -> str:
        """The step's name."""
        return self.name

    @property
    def late_ports(self) -> tuple[PortName, ...]:
        """The late rows of each stream."""
        return ("late_left", "late_right")

    def keys_of(self, side: int) -> tuple[str, ...]:
        """Return the columns of a stream that are compared."""
        return self.right_keys if side == RIGHT else self.keys

    @property
    def kept(self) -> tuple[timedelta, timedelta]:
        """How long a row of each side is held after its own time."""
        nothing = timedelta(0)
        return max(self.upper + self.lateness, nothing), max(self.lateness - self.lower, nothing)

    def text(self) -> str:
        """Return the bounds in words."""
        if self.lower == -self.upper:
            return f"within {spell(self.upper)} of each other" if self.upper else "at the same time"
        return f"right minus left within {signed(self.lower)} to {signed(self.upper)}"

    def _type(self, column: str) -> DataType | None:
        return joined_type(self, column)


def joined_type(node: Joining, column: str) -> DataType | None:
    """Return the type of a column of the results; None when only planning can tell."""
    left, right = (parent.columns for parent in node.parents)
    if left is None or right is None:
        return None
    found = next((each for each in joined(node, left, right) if each[0] == column), None)
    if found is None:
        return None
    _, side, of = found
    kind = node.parents[side].column_type(of)
    if kind is None or node.left_only:
        return kind
    if side == LEFT and of in node.keys:
        other = node.parents[RIGHT].column_type(node.right_keys[node.keys.index(of)])
        return other and kind.with_nullable(kind.nullable or other.nullable)
    return kind.with_nullable(kind.nullable or nullable(node.how, side))


def nullable(how: str, side: int) -> bool:
    """Tell whether the columns of a side are null in results of rows that met no other."""
    return how in {"full", "right" if side == LEFT else "left"}


def signed(length: timedelta) -> str:
    """Return the words for a length that may be negative."""
    return f"-{spell(-length)}" if length < timedelta(0) else spell(length)


def joined(node: Joining, left: Sequence[str], right: Sequence[str]) -> list[tuple[str, int, str]]:
    """Return the columns of the results: name, side, and the name that it has there."""
    if node.left_only:
        return [(name, LEFT, name) for name in left]
    made = [(name, LEFT, name) for name in node.keys]
    made += [(name, LEFT, name) for name in left if name not in node.keys]
    taken = {name.lower() for name in left}
    for name in right:
        if name not in node.right_keys:
            made.append((f"{name}{node.suffix or ''}" if name.lower() in taken else name, RIGHT, name))
    return made


def clashes(node: Joining, left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Return the names that more than one column of the results would have."""
    seen: set[str] = set()
    found: list[str] = []
    for name, _, _ in joined(node, left, right):
        if name.lower() in seen:
            found.append(name)
        seen.add(name.lower())
    return found


def clash_told(node: Joining, names: Sequence[str]) -> tuple[str, str]:
    """Return what is wrong about columns of one name, and the cure."""
    listed = ", ".join(f'"{name}"' for name in names)
    twice = "two columns" if len(names) == 1 else "two columns each"
    suffix = "_right" if node.suffix is None else f"{node.suffix}_2"
    return (
        f'the join "{node.name}" would have {twice} {listed}',
        f'write suffix="{suffix}", which the right side\'s get, or .select before the join what it needs',
    )


def interval_join(
    name: Any,
    left: Port,
    other: Any,
    *,
    on: Any,
    within: Any,
    how: Any,
    lateness: Any,
    suffix: Any,
    where: str,
) -> IntervalJoinNode:
    """Return the checked join of two streams."""
    from headrace.declare.stream import Stream

    check_step_name(name, "join", where)
    if not isinstance(other, Stream):
        raise DeclarationError(
            f"join takes a stream or a table, not {other!r}",
            where=where,
            cure='write .join("name", other_stream, on=..., ...)',
        )
    right = other.port
    if how not in get_args(How):
        cure = did_you_mean(str(how), get_args(How), what="kinds of join")
        raise DeclarationError(f"how={how!r} is no kind of join", where=where, cure=cure)
    keys, right_keys = join_keys(on, left, right, where)
    for port in (left, right):
        check_followed(port, where)
        check_late(port, where)
    lower, upper = _bounds(within, where)
    if suffix is not None and (not isinstance(suffix, str) or not suffix.strip()):
        raise DeclarationError(f"suffix={suffix!r} is no text", where=where, cure='write suffix="_right"')
    node = IntervalJoinNode(
        name=name,
        where=where,
        parents=(left, right),
        keys=keys,
        right_keys=right_keys,
        lower=lower,
        upper=upper,
        how=cast("How", how),
        lateness=duration(lateness, what="the lateness"),
        suffix=suffix,
    )
    if left.columns is not None and right.columns is not None:
        found = clashes(node, left.columns, right.columns)
        if found:
            message, cure = clash_told(node, found)
            raise DeclarationError(message, where=where, cure=cure)
    return node


def join_keys(on: Any, left: Port, right: Port, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that are compared, of the left side and of the right one."""
    pairs = _pairs(on, where)
    if not pairs:
        raise DeclarationError("the join has no keys", where=where, cure='write on="card"')
    for pair in pairs:
        for key, port in zip(pair, (left, right), strict=True):
            _check_key(key, port, where)
        _check_one_type(pair, left, right, where)
    keys, right_keys = zip(*pairs, strict=True)
    for named in (keys, right_keys):
        if len({key.lower() for key in named}) < len(named):
            raise DeclarationError("on= names a column twice", where=where, cure="name it once")
    return keys, right_keys


def _pairs(on: Any, where: str) -> list[tuple[str, str]]:
    if isinstance(on, str):
        return [(on, on)]
    if isinstance(on, Mapping):
        return list(on.items())
    if isinstance(on, Sequence):
        return [(each, each) for each in on]
    raise _no_key(on, where)


def _no_key(on: Any, where: str) -> DeclarationError:
    return DeclarationError(
        f"on= takes names of columns, not {on!r}",
        where=where,
        cure='write on="card", on=["card", "country"], or on={"card": "card_number"} where the right side '
        "has another name; make a column of an expression first, with .with_columns(k=...)",
    )


def _check_key(key: Any, port: Port, where: str) -> None:
    if not isinstance(key, str):
        raise _no_key(key, where)
    check_columns(column(f"`{key}`"), port, where)
    kind = port.column_type(key)
    if kind is not None and not kind.orderable:
        raise DeclarationError(
            f'"{key}" of {port.text()} is {kind.ddl()}, which cannot be compared',
            where=where,
            cure=f'take a part of it: .with_columns(k=F.col("{key}")["..."]), and join on "k"',
        )


def _check_one_type(pair: tuple[str, str], left: Port, right: Port, where: str) -> None:
    one, other = left.column_type(pair[LEFT]), right.column_type(pair[RIGHT])
    if one is not None and other is not None and not one.same_as(other):
        raise DeclarationError(
            f'"{pair[LEFT]}" of {left.text()} is {one.ddl()}, and "{pair[RIGHT]}" of {right.text()} is '
            f"{other.ddl()}: they are never equal",
            where=where,
            cure=cast_cure(pair[RIGHT], one.ddl()),
        )


def cast_cure(key: str, kind: str) -> str:
    """Say how a key of the right stream gets the left's type."""
    return f'cast one of them before the join: .with_columns({key}=F.col("{key}").cast("{kind.lower()}"))'


def check_followed(port: Port, where: str) -> None:
    """Refuse rows that have no time, or whose time nobody follows."""
    # Without a time of their own rows are in no interval.
    unkeyed(port, where)
    for source in port.node.sources:
        if source.watermark is None:
            raise DeclarationError(
                f"{source.name} has no watermark: a join would have to hold its rows for ever",
                where=where,
                cure=f'say at {source.where} how late events may be: .stream(watermark=Bounded("5 seconds"))',
            )
    check_event_time(port, where)


def _bounds(within: Any, where: str) -> tuple[timedelta, timedelta]:
    """Return the bounds of the right row's time minus the left row's."""
    if within is None:
        raise DeclarationError(
            "a join of two streams needs within=: how near in time rows must be to belong together",
            where=where,
            cure=_SHOWN,
        )
    if isinstance(within, tuple | list):
        if len(within) != 2:  # noqa: PLR2004 - lower and upper
            raise DeclarationError(f"within={within!r} are not two bounds", where=where, cure=_SHOWN)
        lower, upper = (_bound(each) for each in within)
    else:
        upper = duration(within, what="within of the join")
        lower = -upper
    if lower > upper:
        raise DeclarationError(
            f"within: the lower bound {signed(lower)} is above the upper one, {signed(upper)}",
            where=where,
            cure=f"write the lower one first; {_SHOWN}",
        )
    return lower, upper


def _bound(value: Any) -> timedelta:
    """Return a bound, which may be negative."""
    what = "a bound of within"
    if isinstance(value, timedelta) and value < timedelta(0):
        return -duration(-value, what=what)
    if isinstance(value, str) and value.strip().startswith("-"):
        return -duration(value.strip()[1:], what=what)
    return duration(value, what=what)
