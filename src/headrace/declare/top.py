"""Top-N: the first rows of a key by an order, per window or for as long as the pipeline runs."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from headrace.declare.datatype import INTEGER, DataType, Field
from headrace.declare.expr import Call, Expression, Method, Value, column
from headrace.declare.node import CHANGE, PANE_FIELDS, Port, PortName, Projection, StatefulNode, WindowNode
from headrace.declare.node import type_of as type_of_expression
from headrace.declare.projection import projections, row_expression
from headrace.errors import DeclarationError, HeadraceError

RANK = Field("rank", INTEGER)
"""The column that says at which place a row is, from 1 on."""

MOST = 10_000
"""How many rows a key may keep: all of them are written again when one of them changes."""

TAKEN = (CHANGE.name,)
"""The columns that a change has besides keys, rank and those of the ranked row."""

SLOT = "top"
"""What the state calls the rows that are kept."""

_DIRECTIONS = {
    "asc": "asc",
    "asc_nulls_first": "asc nulls first",
    "asc_nulls_last": "asc nulls last",
    "desc": "desc",
    "desc_nulls_first": "desc nulls first",
    "desc_nulls_last": "desc nulls last",
}
_IN_SQL = re.compile(r"(?P<name>\S+)\s+(?P<direction>asc|desc)\b.*", re.IGNORECASE)


@dataclass(frozen=True)
class Order:
    """What rows are ordered by: as it was written, and the expression without its direction.

    Of a real Column the direction is known when Spark looks at it; `direction` is empty then.
    """

    written: Expression
    by: Expression
    direction: str

    def text(self) -> str:
        """Return ``amount desc``."""
        return f"{self.by.text()} {self.direction}".strip()


@dataclass(frozen=True)
class Ranking:
    """So many rows by an order, and the columns that they are given with."""

    rows: int
    by: tuple[Order, ...]
    shown: tuple[Projection, ...] | None
    """None for all columns but the keys, where only planning can tell which these are."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The columns that it makes: the rank and those shown; None when only planning can tell."""
        return None if self.shown is None else (RANK.name, *(each.name for each in self.shown))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All expressions over a row that it reads."""
        return (*(each.written for each in self.by), *(each.expression for each in self.shown or ()))

    def type_of(self, name: str, port: Port) -> DataType | None:
        """Return the type of a column that it makes of the rows of a port; None if only planning can tell."""
        if name == RANK.name:
            return RANK.type
        made = next((each for each in self.shown or () if each.name == name), None)
        return type_of_expression(made.expression, port) if made else None

    def text(self) -> str:
        """Return ``top 3 by amount desc``."""
        return f"top {self.rows} by {', '.join(each.text() for each in self.by)}"

    def slot(self) -> str:
        """Return the text that is equal for rankings that keep the same."""
        shown = "all columns"
        if self.shown is not None:
            shown = ", ".join(f"{each.name} = {each.expression.text()}" for each in self.shown)
        return f"{self.text()} of {shown}"


@dataclass(frozen=True, eq=False, kw_only=True)
class WindowTopNode(WindowNode):
    """The first rows per key and window; a pane is a row for each rank."""

    verb: ClassVar[str] = "window"

    ranking: Ranking

    @property
    def made(self) -> tuple[str, ...] | None:
        """The rank and the columns of the row."""
        return self.ranking.names

    @property
    def slots(self) -> dict[str, str]:
        """What the state keeps."""
        return {SLOT: self.ranking.slot()}

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What is computed of a row."""
        return self.ranking.expressions

    @property
    def taken(self) -> tuple[str, ...]:
        """The columns that a row of it has besides keys, rank and those of the ranked row."""
        return taken_in_window(retracts=self.retracts)

    def made_type(self, column: str) -> DataType | None:
        """Return the type of a column of the ranked rows."""
        return self.ranking.type_of(column, self.parents[0])


@dataclass(frozen=True, eq=False, kw_only=True)
class TopNode(StatefulNode):
    """The first rows of each key, without windows: changes of them after every epoch."""

    verb: ClassVar[str] = "top"

    ranking: Ranking
    keep: timedelta | None = None
    """For how long a key is remembered that has no rows any more."""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The keys, the rank, the columns of the row, and change."""
        names = self.ranking.names
        return None if names is None else (*self.keys, *names, CHANGE.name)

    @property
    def ports(self) -> tuple[PortName, ...]:
        """Changes, and rows that came after their key may have been forgotten."""
        return ("out",) if self.keep is None else ("out", "late")

    @property
    def retracts(self) -> bool:
        """Rows that are no longer at their rank are taken back."""
        return True

    @property
    def taken(self) -> tuple[str, ...]:
        """The columns that a row of it has besides keys, rank and those of the ranked row."""
        return TAKEN

    @property
    def timeless(self) -> bool:
        """A change is of no time: it takes the ranking from one epoch to the next."""
        return True

    @property
    def slots(self) -> dict[str, str]:
        """What the state keeps."""
        return {SLOT: self.ranking.slot()}

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What is computed of a row."""
        return self.ranking.expressions

    @property
    def stem(self) -> str:
        """The step's name."""
        return self.name

    def _type(self, column: str) -> DataType | None:
        if column in self.keys:
            return self.parents[0].column_type(column)
        if column == CHANGE.name:
            return CHANGE.type
        return self.ranking.type_of(column, self.parents[0])


def ranking(
    rows: Any,
    by: Any,
    columns: Any,
    *,
    port: Port,
    keys: tuple[str, ...],
    taken: Iterable[str],
    where: str,
) -> Ranking:
    """Return the checked ranking of a port's rows; `taken` are the columns that the result has besides."""
    if type(rows) is not int or not 1 <= rows <= MOST:
        raise DeclarationError(
            f"top of {rows!r} rows",
            where=where,
            cure=f'give a whole number from 1 to {MOST:,}: .top(3, by=F.desc("amount"))',
        )
    found = orders(by, port, where, verb="top")
    if not found:
        raise DeclarationError(
            "top is by nothing", where=where, cure='say what comes first: by=F.desc("amount")'
        )
    shown = _shown(columns, port, keys, where)
    check_names(keys, taken, None if shown is None else [each.name for each in shown], where)
    return Ranking(rows, found, shown)


def orders(by: Any, port: Port, where: str, *, verb: str) -> tuple[Order, ...]:
    """Return what rows of a port are ordered by; `verb` says it in errors."""
    return tuple(_order(each, port, where, verb) for each in _listed(by))


def check_names(
    keys: tuple[str, ...],
    taken: Iterable[str],
    shown: Sequence[str] | None,
    where: str,
    kind: type[HeadraceError] = DeclarationError,
) -> None:
    """Refuse columns of one name, in any case: to Spark they are one."""
    fixed = {RANK.name, *taken}
    for name in keys:
        if name.lower() in fixed:
            raise kind(
                f'the key "{name}" has the name of a column that every row of a top has',
                where=where,
                cure=f'rename it: .with_columns({name}_key=F.col("{name}")).key_by("{name}_key")',
            )
    by_key = {name.lower() for name in keys}
    for name in shown or ():
        if name.lower() in by_key:
            raise kind(
                f'the column "{name}" is a key, which every row of a top has anyway',
                where=where,
                cure="leave it out of columns=",
            )
        if name.lower() in fixed:
            raise kind(
                f'the column "{name}" has the name of one that every row of a top has',
                where=where,
                cure=f'say which columns are wanted: columns=["id", F.col("{name}").alias("{name}_before")]',
            )


def taken_in_window(*, retracts: bool) -> tuple[str, ...]:
    """Return the columns that a pane has besides its keys and what was made."""
    return (*(field.name for field in PANE_FIELDS), *((CHANGE.name,) if retracts else ()))


def _listed(by: Any) -> list[Any]:
    return list(by) if isinstance(by, list | tuple) else [by]


def _order(value: Any, port: Port, where: str, verb: str) -> Order:
    in_sql = _IN_SQL.fullmatch(value.strip()) if isinstance(value, str) else None
    if in_sql:
        raise DeclarationError(
            f'by="{value}" is SQL text, and names no column',
            where=where,
            cure=f'write by=F.{in_sql["direction"].lower()}("{in_sql["name"]}")',
        )
    written = row_expression(value, port, where)
    by, direction = _apart(written)
    nested = next((each for each in by.walk() if _says_direction(each)), None)
    if nested is not None:
        raise DeclarationError(
            f"{nested.text()} says a direction inside of {written.text()}",
            where=where,
            cure="say it of the whole: F.desc(F.abs(F.col(...)))",
        )
    kind = type_of_expression(by, port)
    if kind is not None and not kind.orderable:
        raise DeclarationError(
            f'{verb} by "{by.text()}", which is {kind.ddl()}: its values cannot be compared',
            where=where,
            cure=f'order by a part of it: F.desc(F.col("{by.text()}")["..."])',
        )
    return Order(written, by, direction)


def _apart(written: Expression) -> tuple[Expression, str]:
    """Return an expression and its direction; a plain one ascends, as in ``orderBy``."""
    if isinstance(written, Call) and written.function in _DIRECTIONS:
        inner = written.argument(0, "col")
        if isinstance(inner, Value) and isinstance(inner.value, str):
            inner = column(inner.value, written.where)
        if inner is not None:
            return inner, _DIRECTIONS[written.function]
    if isinstance(written, Method) and written.method in _DIRECTIONS:
        return written.subject, _DIRECTIONS[written.method]
    return written, "asc" if written.paths() is not None else ""


def _says_direction(expression: Expression) -> bool:
    return (isinstance(expression, Call) and expression.function in _DIRECTIONS) or (
        isinstance(expression, Method) and expression.method in _DIRECTIONS
    )


def _shown(columns: Any, port: Port, keys: tuple[str, ...], where: str) -> tuple[Projection, ...] | None:
    if columns is None:
        if port.columns is None:
            return None
        return tuple(
            Projection(name, column(f"`{name}`", where)) for name in port.columns if name not in keys
        )
    if isinstance(columns, str):
        raise DeclarationError("columns is one string", where=where, cure=f'write columns=["{columns}"]')
    if not isinstance(columns, list | tuple):
        raise DeclarationError(f"columns is {columns!r}", where=where, cure='write columns=["id", "amount"]')
    return projections(columns, {}, port, where)
