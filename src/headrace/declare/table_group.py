"""Groups of the rows of a table or of a stream: what stands between ``group_by`` and ``agg``."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.declare.aggregate import Aggregate, aggregate
from headrace.declare.datatype import Scalar
from headrace.declare.expr import column
from headrace.declare.keyed import check_types, no_time
from headrace.declare.naming import matches
from headrace.declare.node import Port, type_of
from headrace.declare.projection import ColumnOrName, check_columns, check_expression
from headrace.declare.recorded import captured
from headrace.declare.table_node import RETRACTABLE, GroupNode, is_table
from headrace.errors import DeclarationError, caller

if TYPE_CHECKING:
    from headrace.declare.table import Table

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_SUMS = ("sum", "avg")


@dataclass(frozen=True)
class Grouped:
    """The rows of a table or stream whose `keys` are equal, waiting to be told what to make of them."""

    port: Port
    keys: tuple[str, ...]
    name: str
    where: str

    def agg(self, *aggregates: ColumnOrName, **named: ColumnOrName) -> "Table":
        """Return a table of a row per group: its keys and these aggregates.

        Over a table a group whose last row goes is deleted, and an aggregate must be able to take rows back:
        those that can are count, sum and avg of whole and decimal numbers, min, max, bool_and, bool_or and
        count_distinct. Rows of a stream stay, so over one every aggregate is there.

        >>> cards.group_by("country").agg(cards=F.count("*"))  # doctest: +SKIP
        """
        from headrace.declare.table import Table

        where = caller()
        made = [self._aggregate(None, value, where) for value in aggregates]
        made += [self._aggregate(name, value, where) for name, value in named.items()]
        if not made:
            raise DeclarationError(
                f'the groups "{self.name}" have no aggregates', where=where, cure='write .agg(n=F.count("*"))'
            )
        self._check_names(made, where)
        return Table(
            Port(
                GroupNode(
                    name=self.name, where=where, parents=(self.port,), keys=self.keys, aggregates=tuple(made)
                )
            )
        )

    def _aggregate(self, name: str | None, value: Any, where: str) -> Aggregate:
        if isinstance(value, str):
            raise DeclarationError(
                f'agg: "{value}" is a column, and no aggregate of it',
                where=where,
                cure=f'write for example F.max("{value}")',
            )
        expression = captured(value, where)
        check_expression(expression, where)
        made = aggregate(name, expression, where)
        retracts = is_table(self.port)
        if retracts and made.function not in RETRACTABLE:
            raise DeclarationError(
                f"{made.function} cannot take a row back, and rows of a table change",
                where=where,
                cure=f"available over a table are {', '.join(RETRACTABLE)}; "
                "or aggregate the .changes() in a window",
            )
        if made.input is not None:
            check_expression(made.input, where)
            check_columns(made.input, self.port, where)
            if retracts:
                self._check_type(made, where)
            else:
                check_types(made, self.port, where)
        return made

    def _check_type(self, made: Aggregate, where: str) -> None:
        for part in made.inputs:
            kind = type_of(part, self.port)
            if kind is None:
                continue
            shown = part.text()
            if made.takes.numeric and not kind.numeric:
                raise DeclarationError(
                    f'{made.function}: "{shown}" is {kind.ddl()}, and no number',
                    where=where,
                    cure=f'aggregate a number, or cast it: F.{made.function}(F.col("{shown}").cast("long"))',
                )
            if made.function in _SUMS and isinstance(kind, Scalar) and kind.kind == "double":
                raise inexact(made, shown, where)
            if made.takes.compared != "none" and not kind.orderable:
                raise DeclarationError(
                    f'{made.function}: "{shown}" is {kind.ddl()}, whose values cannot be compared',
                    where=where,
                    cure="aggregate a part of it",
                )

    def _check_names(self, made: list[Aggregate], where: str) -> None:
        taken = {name.lower(): "a column of the group" for name in self.keys}
        for each in made:
            other = taken.get(each.name.lower())
            if other is not None or each.name.startswith("__"):
                raise DeclarationError(
                    f'the aggregate "{each.name}" needs another name: this is {other or "kept for headrace"}',
                    where=where,
                    cure=f"write .agg({each.name.strip('_')}_of_group=...)",
                )
            taken[each.name.lower()] = "another aggregate"


def inexact(made: Aggregate, shown: str, where: str) -> DeclarationError:
    """Return the error about a sum of floating point, from which a row cannot be taken back exactly."""
    return DeclarationError(
        f'{made.function}: "{shown}" is floating point, whose sum does not come back when a row is taken out',
        where=where,
        cure=f'add up exact numbers: F.{made.function}(F.col("{shown}").cast("decimal(30,10)"))',
    )


def group(port: Port, columns: tuple[Any, ...], name: Any, where: str) -> Grouped:
    """Return the rows of a table or of a stream by the columns of a group."""
    if not port.has_event_time:
        raise no_time(port, where)
    if len(columns) == 1 and isinstance(columns[0], list | tuple):
        columns = tuple(columns[0])
    for each in columns:
        if not isinstance(each, str):
            raise DeclarationError(
                f"group_by takes names of columns, not {each!r}",
                where=where,
                cure='make a column of it first: .with_columns(g=...).group_by("g")',
            )
        check_columns(column(f"`{each}`"), port, where)
        kind = port.column_type(each)
        if kind is not None and not kind.orderable:
            raise DeclarationError(
                f'"{each}" is {kind.ddl()}, which cannot be a key',
                where=where,
                cure=f'take a part of it: .with_columns(g=F.col("{each}")["..."]).group_by("g")',
            )
    if len({each.lower() for each in columns}) < len(columns):
        raise DeclarationError("group_by names a column twice", where=where, cure="name it once")
    if name is not None and not matches(_NAME, name):
        raise DeclarationError(
            f"{name!r} is no name for a step with state",
            where=where,
            cure='use letters, digits, "_", "-" and "."; or leave name= out',
        )
    return Grouped(
        port, columns, name or f"{port.stem}.{'by_' + '_'.join(columns) if columns else 'all'}", where
    )
