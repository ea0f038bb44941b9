"""Keyed streams and windows over them: what stands between ``key_by`` and ``agg``."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.declare.aggregate import Aggregate, aggregate
from headrace.declare.expr import column
from headrace.declare.naming import matches
from headrace.declare.node import PANE, PANE_INDEX, WINDOW, Port, WindowAggNode, type_of
from headrace.declare.projection import ColumnOrName, check_columns, check_expression
from headrace.declare.recorded import captured
from headrace.declare.window import Tumbling
from headrace.errors import DeclarationError, caller

if TYPE_CHECKING:
    from headrace.declare.stream import Stream

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Keyed:
    """A stream whose rows with equal `keys` belong together."""

    port: Port
    keys: tuple[str, ...]
    where: str

    def window(self, name: str, window: Tumbling) -> "Windowed":
        """Cut event time into windows, per key; `name` is the identity of the state.

        >>> payments.key_by("card").window("velocity", Tumbling("1 minute"))  # doctest: +SKIP
        """
        where = caller()
        if not matches(_NAME, name):
            raise DeclarationError(
                f"{name!r} is no name for a window",
                where=where,
                cure='name its state first: .window("velocity", Tumbling("1 minute")); '
                "a letter, then letters, digits, _ and -",
            )
        if not isinstance(window, Tumbling):
            raise DeclarationError(
                f"{window!r} is no window",
                where=where,
                cure='write .window("velocity", Tumbling("1 minute")); other windows follow later',
            )
        _check_time(self.port, where)
        return Windowed(self, name, window, where)


@dataclass(frozen=True)
class Windowed:
    """Windows over a keyed stream, waiting to be told what to make of their rows."""

    keyed: Keyed
    name: str
    window: Tumbling
    where: str

    def agg(self, *aggregates: ColumnOrName, **named: ColumnOrName) -> "Stream":
        """Return one row per key and window: keys, window, these aggregates, pane, pane_index.

        Its ``.late`` holds the rows that came after their window was done.

        >>> windows.agg(payments=F.count("*"), total=F.sum("amount"))  # doctest: +SKIP
        """
        from headrace.declare.stream import Stream

        where, port = caller(), self.keyed.port
        made = [self._aggregate(None, value, where) for value in aggregates]
        made += [self._aggregate(name, value, where) for name, value in named.items()]
        if not made:
            raise DeclarationError(
                f'the window "{self.name}" has no aggregates', where=where, cure='write .agg(n=F.count("*"))'
            )
        self._check_names(made, where)
        node = WindowAggNode(
            name=self.name,
            where=where,
            parents=(port,),
            keys=self.keyed.keys,
            window=self.window,
            aggregates=tuple(made),
        )
        return Stream(Port(node))

    def _aggregate(self, name: str | None, value: Any, where: str) -> Aggregate:
        port = self.keyed.port
        if isinstance(value, str):
            raise DeclarationError(
                f'agg: "{value}" is a column, and no aggregate of it',
                where=where,
                cure=f'write for example F.max("{value}")',
            )
        expression = captured(value, where)
        check_expression(expression, where)
        made = aggregate(name, expression, where)
        if made.input is not None:
            check_expression(made.input, where)
            check_columns(made.input, port, where)
            _check_type(made, port, where)
        return made

    def _check_names(self, made: list[Aggregate], where: str) -> None:
        taken = {name.lower(): "a key" for name in self.keyed.keys}
        taken |= {field.name: "a column that every pane has" for field in (WINDOW, PANE, PANE_INDEX)}
        for each in made:
            other = taken.get(each.name.lower())
            if other is not None or each.name.startswith("__"):
                raise DeclarationError(
                    f'the aggregate "{each.name}" needs another name: this is {other or "kept for headrace"}',
                    where=where,
                    cure=f"write .agg({each.name.strip('_')}_of_window=...)",
                )
            taken[each.name.lower()] = "another aggregate"


def keyed(port: Port, columns: tuple[Any, ...], where: str) -> Keyed:
    """Return the rows of a port by key, if they can have one."""
    if len(columns) == 1 and isinstance(columns[0], list | tuple):
        columns = tuple(columns[0])
    if not columns:
        raise DeclarationError("key_by has no columns", where=where, cure='write .key_by("card")')
    fixed = {field.name for field in (WINDOW, PANE, PANE_INDEX)}
    for name in columns:
        if not isinstance(name, str):
            raise DeclarationError(
                f"key_by takes names of columns, not {name!r}",
                where=where,
                cure='make a column of it first: .with_columns(k=...).key_by("k")',
            )
        check_columns(column(f"`{name}`"), port, where)
        kind = port.column_type(name)
        if kind is not None and not kind.orderable:
            raise DeclarationError(
                f'"{name}" is {kind.ddl()}, which cannot be a key',
                where=where,
                cure=f'take a part of it: .with_columns(k=F.col("{name}")["..."]).key_by("k")',
            )
        if name in fixed and port.node.verb != "window":
            raise DeclarationError(
                f'the key "{name}" has the name of a column that every pane has',
                where=where,
                cure=f'rename it: .with_columns({name}_key=F.col("{name}")).key_by("{name}_key")',
            )
    if len(set(columns)) < len(columns):
        raise DeclarationError("key_by names a column twice", where=where, cure="name it once")
    if not port.has_event_time:
        raise _no_time(port, where)
    return Keyed(port, columns, where)


def _check_time(port: Port, where: str) -> None:
    for source in port.node.sources:
        if source.watermark is None:
            raise DeclarationError(
                f"{source.name} has no watermark: a window would never know that it is complete",
                where=where,
                cure=f'say at {source.where} how late events may be: .stream(watermark=Bounded("5 seconds"))',
            )


def _no_time(port: Port, where: str) -> DeclarationError:
    if port.name == "rejected":
        return DeclarationError(
            f"{port.text()} has no event time: its rows could not be read", where=where, cure="do not key it"
        )
    source = next(source for source in port.node.sources if source.topic.time is None)
    return DeclarationError(
        f"{source.name} has no event time, which windows go by",
        where=where,
        cure=f'name the field at {source.topic.where}: Topic("{source.topic.name}", '
        f'{source.topic.schema.name}, time="...")',
    )


def _check_type(made: Aggregate, port: Port, where: str) -> None:
    takes = made.takes
    for place, part in enumerate(made.inputs, start=1):
        kind = type_of(part, port)
        if kind is None:
            continue
        shown = part.text()
        if takes.numeric and not kind.numeric:
            raise DeclarationError(
                f'{made.function}: "{shown}" is {kind.ddl()}, and no number',
                where=where,
                cure=f'aggregate a number, or cast it: F.{made.function}(F.col("{shown}").cast("double"))',
            )
        compared = takes.compared == "all" or (takes.compared == "last" and place == len(made.inputs))
        if compared and not kind.orderable:
            raise DeclarationError(
                f'{made.function}: "{shown}" is {kind.ddl()}, whose values cannot be compared',
                where=where,
                cure="aggregate a part of it",
            )
