"""Keyed streams and windows over them: what stands between ``key_by`` and ``agg``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from headrace.declare.aggregate import Aggregate, aggregate
from headrace.declare.datatype import TIMESTAMP
from headrace.declare.duration import duration
from headrace.declare.event_time import check_event_time
from headrace.declare.expr import Expression, column
from headrace.declare.functions import F
from headrace.declare.naming import matches
from headrace.declare.node import CHANGE, LATE_BY, PANE_FIELDS, Port, WindowAggNode, type_of
from headrace.declare.projection import ColumnOrName, check_columns, check_expression, row_expression
from headrace.declare.recorded import captured
from headrace.declare.top import TAKEN, TopNode, WindowTopNode, ranking, taken_in_window
from headrace.declare.trigger import (
    Accumulate,
    AtWatermark,
    Final,
    Trigger,
    check_accumulate,
    check_trigger,
)
from headrace.declare.window import Custom, Global, Sliding, Window
from headrace.errors import DeclarationError, caller

if TYPE_CHECKING:
    from headrace.declare.after_match import AfterMatch
    from headrace.declare.match import WhenFull
    from headrace.declare.pattern import Pattern
    from headrace.declare.stream import Stream

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Keyed:
    """A stream whose rows with equal `keys` belong together."""

    port: Port
    keys: tuple[str, ...]
    where: str

    def window(
        self,
        name: str,
        window: Window,
        *,
        trigger: Trigger | None = None,
        lateness: str | timedelta = "0 seconds",
        accumulate: Accumulate = "accumulating",
    ) -> "Windowed":
        """Cut event time into windows, per key; `name` is the identity of the state.

        `trigger` says when panes are given, by default once the watermark has reached the window's end.
        Events that come after that, but not later than `lateness`, change the window and give a late pane;
        those that come later still leave through ``.late``. `accumulate` says what a second pane holds: all
        rows so far ("accumulating"), those since the last pane ("discarding"), or all rows so far after the
        last pane was taken back ("retracting").

        >>> payments.key_by("card").window("velocity", Tumbling("1 minute"))  # doctest: +SKIP
        """
        where = caller()
        check_step_name(name, "window", where)
        if not isinstance(window, Window):
            raise DeclarationError(
                f"{window!r} is no window",
                where=where,
                cure='write .window("velocity", Tumbling("1 minute")), or one of Hopping, Cumulative, '
                "Session, Sliding, Global, Custom",
            )
        check_time(self.port, where)
        check_event_time(self.port, where)
        check_late(self.port, where)
        chosen = check_trigger(AtWatermark() if trigger is None else trigger, where)
        allowed = duration(lateness, what="the lateness")
        mode = check_accumulate(accumulate, where)
        _check_fit(window, chosen, mode, where)
        return Windowed(self, name, window, chosen, allowed, mode, where)

    def top(
        self,
        name: str,
        rows: int,
        *,
        by: ColumnOrName | Sequence[ColumnOrName],
        columns: Sequence[ColumnOrName] | None = None,
        keep: str | timedelta | None = None,
    ) -> "Stream":
        """Return how the first rows of each key change, after every epoch: -1 for the old, +1 for the new.

        Columns are the keys, ``rank`` from 1 on, those of the row or only `columns`, and ``change``. `by` is
        one or several columns, ascending unless they say otherwise; rows that it holds equal go by event
        time, then by their position in the topic. `name` is the identity of the state, which grows with the
        number of keys; with `keep` a key that has had no row for so long of event time is forgotten, and its
        rows are taken back. Rows older than that leave through ``.late``.

        >>> bids.key_by("auction").top("top-bids", 10, by=F.desc("price"))  # doctest: +SKIP
        """
        from headrace.declare.stream import Stream

        where, port = caller(), self.port
        check_step_name(name, "top", where)
        check_time(port, where)
        check_event_time(port, where)
        length = None if keep is None else duration(keep, what="keep of top", positive=True)
        if length is not None:
            check_late(port, where)
        made = ranking(rows, by, columns, port=port, keys=self.keys, taken=TAKEN, where=where)
        node = TopNode(name=name, where=where, parents=(port,), keys=self.keys, ranking=made, keep=length)
        return Stream(Port(node))

    def match(
        self,
        name: str,
        pattern: "Pattern",
        *,
        order_by: ColumnOrName | Sequence[ColumnOrName] | None = None,
        after_match: "AfterMatch | None" = None,
        max_partial: int = 10_000,
        when_full: "WhenFull" = "drop_oldest",
    ) -> "Stream":
        """Find a pattern in the rows of each key; return a row per match: keys, start, end, and the steps.

        Each step is a column, an array of the rows that it took. Rows are matched in the order of their event
        times, once the watermark has passed them; those of one time by `order_by`, then by their position in
        the topic. Rows that come after the watermark has passed their time leave through ``.late``, partial
        matches that ran out of time through ``.timed_out``. `after_match` says what is given up once a match
        is found, by default nothing. A key may have `max_partial` partial matches; `when_full` says which go
        when there are more (``drop_oldest``, ``drop_newest``, or ``fail`` to stop), and the ledger counts
        them. `name` is the identity of the state.

        >>> tested = payments.key_by("card").match("card-testing", probing)  # doctest: +SKIP
        """
        from headrace.declare.after_match import NoSkip
        from headrace.declare.match import match
        from headrace.declare.stream import Stream

        chosen = NoSkip() if after_match is None else after_match
        node = match(
            name,
            self.port,
            self.keys,
            pattern,
            order_by=order_by,
            after_match=chosen,
            max_partial=max_partial,
            when_full=when_full,
            where=caller(),
        )
        return Stream(Port(node))


@dataclass(frozen=True)
class Windowed:
    """Windows over a keyed stream, waiting to be told what to make of their rows."""

    keyed: Keyed
    name: str
    window: Window
    trigger: Trigger
    lateness: timedelta
    accumulate: Accumulate
    where: str

    def agg(self, *aggregates: ColumnOrName, **named: ColumnOrName) -> "Stream":
        """Return a row per pane: keys, window, these aggregates, pane, pane_index, pane_last.

        ``pane`` is early, on_time or late; ``pane_last`` says that no other pane of the window can come.
        Where panes are taken back, ``change`` is -1 for the old one and +1 for the new one. Its ``.late``
        holds the rows that came after their window was done.

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
            trigger=self.trigger,
            lateness=self.lateness,
            accumulate=self.accumulate,
            aggregates=tuple(made),
            stated=_stated(self.window, port, where),
        )
        return Stream(Port(node))

    def top(
        self,
        rows: int,
        *,
        by: ColumnOrName | Sequence[ColumnOrName],
        columns: Sequence[ColumnOrName] | None = None,
    ) -> "Stream":
        """Return per pane the first rows, one for each rank: keys, window, rank, columns, pane, ...

        The columns are those of the row, or only `columns`: names, or expressions with an alias. `by` is one
        or several columns, ascending unless they say otherwise: ``F.desc("amount")``; nulls are where Spark
        puts them. Rows that it holds equal go by event time, then by their position in the topic. Where
        panes are taken back, only rows that are no longer at their rank are, and only what is new there is
        given. Its ``.late`` holds the rows that came after their window was done.

        >>> windows.top(3, by=F.desc("amount"))  # doctest: +SKIP
        """
        from headrace.declare.stream import Stream

        where, port, keys = caller(), self.keyed.port, self.keyed.keys
        taken = taken_in_window(retracts=self.accumulate == "retracting")
        made = ranking(rows, by, columns, port=port, keys=keys, taken=taken, where=where)
        node = WindowTopNode(
            name=self.name,
            where=where,
            parents=(port,),
            keys=keys,
            window=self.window,
            trigger=self.trigger,
            lateness=self.lateness,
            accumulate=self.accumulate,
            ranking=made,
            stated=_stated(self.window, port, where),
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
            check_types(made, port, where)
        return made

    def _check_names(self, made: list[Aggregate], where: str) -> None:
        taken = {name.lower(): "a key" for name in self.keyed.keys}
        taken |= {field.name: "a column that every pane has" for field in PANE_FIELDS}
        if self.accumulate == "retracting":
            taken[CHANGE.name] = "a column that every pane has"
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
    fixed = {field.name for field in PANE_FIELDS}
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
        if name.lower() in fixed and port.node.verb != "window":
            raise DeclarationError(
                f'the key "{name}" has the name of a column that every pane has',
                where=where,
                cure=f'rename it: .with_columns({name}_key=F.col("{name}")).key_by("{name}_key")',
            )
    if len({name.lower() for name in columns}) < len(columns):
        raise DeclarationError("key_by names a column twice", where=where, cure="name it once")
    if not port.has_event_time:
        raise no_time(port, where)
    return Keyed(port, columns, where)


def unkeyed(port: Port, where: str) -> Keyed:
    """Return the rows of a port under one key of no columns."""
    if not port.has_event_time:
        raise no_time(port, where)
    return Keyed(port, (), where)


def check_step_name(name: Any, verb: str, where: str) -> None:
    """Refuse what is no name for a stateful step."""
    if not matches(_NAME, name):
        raise DeclarationError(
            f"{name!r} is no name for a {verb}",
            where=where,
            cure=f'name its state first: .{verb}("velocity", ...); a letter, then letters, digits, _ and -',
        )


def _check_fit(window: Window, trigger: Trigger, accumulate: Accumulate, where: str) -> None:
    """Refuse what window and trigger cannot be together."""
    ends = isinstance(trigger, Final) or (isinstance(trigger, AtWatermark) and trigger.early is None)
    if isinstance(window, Global) and ends:
        raise DeclarationError(
            f"a global window never ends, and gives no pane {trigger.text()}",
            where=where,
            cure='give it a trigger: trigger=Every("10 seconds"), AfterCount(100), or AtWatermark(early=...)',
        )
    plain = isinstance(trigger, AtWatermark) and trigger.early is None
    if isinstance(window, Sliding) and not plain:
        raise DeclarationError(
            f"a sliding window ends with its event, and gives its pane then, not {trigger.text()}",
            where=where,
            cure="leave trigger= out, or give AtWatermark(late=...)",
        )
    if isinstance(window, Sliding) and accumulate == "discarding":
        raise DeclarationError(
            "a sliding window that discards has no meaning: each event has a window of its own",
            where=where,
            cure='choose accumulate="accumulating" or "retracting"',
        )


def _stated(window: Window, port: Port, where: str) -> tuple[Expression, Expression] | None:
    """Return start and end of a custom window as checked expressions."""
    if not isinstance(window, Custom):
        return None
    if window.function is None:
        given = (window.start, window.end)
    else:
        times = {source.topic.time for source in port.node.sources}
        if len(times) != 1:
            raise DeclarationError(
                f"a function of the event time needs one, and here are {', '.join(sorted(map(str, times)))}",
                where=where,
                cure="give the two expressions: Custom(start, end)",
            )
        made: Any = window.function(F.col(str(times.pop())))
        if not isinstance(made, tuple) or len(made) != 2:  # noqa: PLR2004 - start and end
            raise DeclarationError(
                f"the function of Custom returned {made!r}", where=where, cure="return (start, end)"
            )
        given = made
    start, end = (row_expression(each, port, where) for each in given)
    for name, expression in (("start", start), ("end", end)):
        kind = type_of(expression, port)
        if kind is not None and not kind.same_as(TIMESTAMP):
            raise DeclarationError(
                f"the {name} of a custom window is {kind.ddl()}, and no time",
                where=where,
                cure="give an expression that is a timestamp",
            )
    return start, end


def check_time(port: Port, where: str) -> None:
    """Refuse rows whose sources do not say how far their time has come."""
    for source in port.node.sources:
        if source.watermark is None:
            raise DeclarationError(
                f"{source.name} has no watermark: a window would never know that it is complete",
                where=where,
                cure=f'say at {source.where} how late events may be: .stream(watermark=Bounded("5 seconds"))',
            )


def no_time(port: Port, where: str) -> DeclarationError:
    """Return the error about rows without event time."""
    if port.name == "rejected":
        return DeclarationError(
            f"{port.text()} has no event time: its rows could not be read", where=where, cure="do not key it"
        )
    standing = next((node for node in port.node.walk() if isinstance(node, TopNode)), None)
    if standing is not None:
        return DeclarationError(
            f"{port.text()} comes from top {standing.name!r}, whose rows are changes, and of no time",
            where=where,
            cure="deliver it as it is; for rows that can be used again, "
            'rank them in windows: .window("name", Tumbling(...)).top(...)',
        )
    if all(source.timed for source in port.node.sources):
        return DeclarationError(
            f"{port.text()} comes from a global window, whose panes have no event time",
            where=where,
            cure="window the rows before it, or deliver it as it is",
        )
    source = next(source for source in port.node.sources if not source.timed)
    return DeclarationError(
        f"{source.name} has no event time, which windows go by",
        where=where,
        cure=f'name the field at {source.topic.where}: Topic("{source.topic.name}", '
        f'{source.topic.schema.name}, time="...")',
    )


def check_late(port: Port, where: str) -> None:
    """Refuse a column by the name of the one that late rows get, in any case: to Spark they are one."""
    taken = next((name for name in port.columns or () if name.lower() == LATE_BY.name), None)
    if taken is not None:
        raise DeclarationError(
            f'the column "{taken}" has the name of one that late rows get',
            where=where,
            cure=f'rename it before the window: .select(..., F.col("{taken}").alias("late_by_before"))',
        )


def check_types(made: Aggregate, port: Port, where: str) -> None:
    """Refuse columns that an aggregate cannot take."""
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
