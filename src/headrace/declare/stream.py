"""Streams: rows without end, and the verbs that make new streams of them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn

from headrace.declare.datatype import BOOLEAN, TIMESTAMP, DataType
from headrace.declare.duration import duration
from headrace.declare.event_time import check_event_time
from headrace.declare.join import How, On, Within, interval_join
from headrace.declare.join_table import EVENT_TIME, table_join
from headrace.declare.keyed import Keyed, Windowed, check_late, check_step_name, check_time, keyed, unkeyed
from headrace.declare.lookup import HowLookup, lookup
from headrace.declare.naming import matches
from headrace.declare.node import (
    DedupNode,
    Port,
    PortName,
    SelectNode,
    SourceNode,
    StatefulNode,
    TransformNode,
    UnionNode,
    WhereNode,
    WithColumnsNode,
    step_name,
)
from headrace.declare.projection import ColumnOrName, check_columns, condition, projections
from headrace.declare.recorded import Recorded
from headrace.declare.remote import PostgresTable
from headrace.declare.sink import Delivery, Sink
from headrace.declare.suggestion import did_you_mean
from headrace.declare.topic import Topic
from headrace.declare.trigger import Accumulate, Trigger
from headrace.declare.watermark import Punctuated, Watermark
from headrace.declare.window import Window
from headrace.errors import DeclarationError, caller

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headrace.declare.table import Table
    from headrace.declare.table_group import Grouped

_SOURCE_NAME = re.compile(r"[A-Za-z0-9_]+")
_LATE_OF_JOIN = "take .late_left or .late_right from what .join(...) returned"
_STEP_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.#-]*")


@dataclass(frozen=True)
class Stream:
    """Rows that keep coming; a value that never changes: every verb returns a new stream.

    A stream that is used twice is computed once. `name=` of a verb is what its rejected rows and the plan
    call the step.
    """

    port: Port

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the columns; None when only planning can tell."""
        return self.port.columns

    @property
    def rejected(self) -> "Stream":
        """The rows that could not be used, with topic, partition, offset, raw bytes, step and reason.

        They are those of the sources of this stream, whichever step they failed in.
        """
        return Stream(self.port.node.rejected)

    @property
    def late(self) -> "Stream":
        """The rows that came too late for their window, in full, with ``late_by_seconds``."""
        if isinstance(self.port.node, StatefulNode) and "late_left" in self.port.node.late_ports:
            return self._side("late", "its two streams have late rows of their own", _LATE_OF_JOIN)
        return self._side(
            "late",
            "nothing is late there",
            "take .late from what .agg(...), .dedup(...), .match(...), .window(...).top(...) "
            "or .top(..., keep=...) returned",
        )

    @property
    def late_left(self) -> "Stream":
        """The rows of a join's left stream that came too late, in full, with ``late_by_seconds``."""
        return self._side("late_left", "nothing is late there", _LATE_OF_JOIN)

    @property
    def late_right(self) -> "Stream":
        """The rows of a join's right stream that came too late, in full, with ``late_by_seconds``."""
        return self._side("late_right", "nothing is late there", _LATE_OF_JOIN)

    @property
    def duplicates(self) -> "Stream":
        """The rows that came a second time."""
        return self._side(
            "duplicate", "it has no duplicates", "take .duplicates from what .dedup(...) returned"
        )

    @property
    def timed_out(self) -> "Stream":
        """The partial matches of a pattern that ran out of time, with the steps that they had."""
        return self._side(
            "timed_out", "nothing is matched there", "take .timed_out from what .match(...) returned"
        )

    def _side(self, port: PortName, lack: str, cure: str) -> "Stream":
        if (
            self.port.name == "out"
            and isinstance(self.port.node, StatefulNode)
            and port in self.port.node.ports
        ):
            return Stream(Port(self.port.node, port))
        raise DeclarationError(
            f"{self.port.text()} is not the result of such a step: {lack}", where=caller(), cure=cure
        )

    def where(self, condition_: ColumnOrName, *, name: str | None = None) -> "Stream":
        """Keep the rows for which the condition is true: an expression, or SQL text.

        >>> payments.where(F.col("amount") > 5).where("country = 'CH'")  # doctest: +SKIP
        """
        where = caller()
        kept = condition(condition_, self.port, where)
        return Stream(Port(WhereNode(condition=kept, **self._step("where", name, where))))

    def select(self, *columns: ColumnOrName, name: str | None = None, **named: ColumnOrName) -> "Stream":
        """Make each row of these columns: names, named expressions, or ``new=expression``.

        A column called "name" is selected as ``F.col(...).alias("name")``, since ``name=`` names the step.
        """
        where = caller()
        self._check_step_name(name, where)
        made = projections(columns, named, self.port, where)
        return Stream(Port(SelectNode(projections=made, **self._step("select", name, where))))

    def with_columns(self, *, name: str | None = None, **named: ColumnOrName) -> "Stream":
        """Add columns, or replace those of the same name; all expressions see the columns before."""
        where = caller()
        self._check_step_name(name, where)
        made = projections((), named, self.port, where)
        return Stream(Port(WithColumnsNode(projections=made, **self._step("with_columns", name, where))))

    def union(self, other: "Stream", *others: "Stream", name: str | None = None) -> "Stream":
        """Return the rows of this stream and the others, which must have the same columns."""
        where = caller()
        streams = (self, other, *others)
        for each in streams:
            if not isinstance(each, Stream):
                raise DeclarationError(
                    f"union takes streams, not {each!r}", where=where, cure="give the result of a verb"
                )
        for each in streams[1:]:
            _check_same(self.port, each.port, where)
        parents = tuple(each.port for each in streams)
        chosen = _name(name, where) or step_name("union", parents)
        node = UnionNode(name=chosen, where=where, parents=parents, named=name is not None)
        return Stream(Port(node))

    def transform(
        self,
        function: "Callable[[DataFrame], DataFrame]",
        *,
        columns: Sequence[str] | None = None,
        name: str | None = None,
    ) -> "Stream":
        """Apply a function of DataFrames, which must make one row of each row, or none.

        Give `columns` if the steps after it shall be checked now; else they are checked while planning.
        """
        where = caller()
        if not _is_function(function):
            raise DeclarationError(
                f"transform takes a function, not {function!r}",
                where=where,
                cure='write .transform(lambda df: df.withColumn("x", ...))',
            )
        if isinstance(columns, str):
            raise DeclarationError("columns is one string", where=where, cure=f'write columns=["{columns}"]')
        declared = None if columns is None else tuple(columns)
        step = self._step("transform", name, where)
        return Stream(Port(TransformNode(function=function, declared=declared, **step)))

    def key_by(self, *columns: str) -> Keyed:
        """Bring the rows with equal values in these columns together, for a window.

        >>> payments.key_by("card").window("velocity", Tumbling("1 minute"))  # doctest: +SKIP
        """
        return keyed(self.port, columns, caller())

    def window(
        self,
        name: str,
        window: Window,
        *,
        trigger: Trigger | None = None,
        lateness: str | timedelta = "0 seconds",
        accumulate: Accumulate = "accumulating",
    ) -> Windowed:
        """Cut event time into windows over all rows; see :meth:`Keyed.window` for windows per key.

        >>> payments.window("volume", Tumbling("1 minute")).agg(total=F.sum("amount"))  # doctest: +SKIP
        """
        whole = unkeyed(self.port, caller())
        return whole.window(name, window, trigger=trigger, lateness=lateness, accumulate=accumulate)

    def top(
        self,
        name: str,
        rows: int,
        *,
        by: ColumnOrName | Sequence[ColumnOrName],
        columns: Sequence[ColumnOrName] | None = None,
        keep: str | timedelta | None = None,
    ) -> "Stream":
        """Return how the first of all rows change; see :meth:`Keyed.top` for those of each key.

        >>> bids.top("top-bids", 10, by=F.desc("price"))  # doctest: +SKIP
        """
        return unkeyed(self.port, caller()).top(name, rows, by=by, columns=columns, keep=keep)

    def dedup(self, name: str, *, by: str | Sequence[str], within: str | timedelta) -> "Stream":
        """Let the first row of each id pass, and no other within so long of it in event time.

        The others leave through ``.duplicates``; rows that come so late that nobody knows leave through
        ``.late``. `name` is the identity of the state, which holds each id for somewhat over twice `within`.

        >>> payments.dedup("payment-id", by="id", within="1 hour")  # doctest: +SKIP
        """
        where = caller()
        check_step_name(name, "dedup", where)
        columns = (by,) if isinstance(by, str) else tuple(by)
        by_id = keyed(self.port, columns, where)
        check_time(self.port, where)
        check_event_time(self.port, where)
        check_late(self.port, where)
        length = duration(within, what="within of dedup", positive=True)
        node = DedupNode(name=name, where=where, parents=(self.port,), keys=by_id.keys, within=length)
        return Stream(Port(node))

    def join(
        self,
        name: str,
        other: "Stream | Table",
        *,
        on: On,
        within: Within | None = None,
        as_of: str | None = EVENT_TIME,
        how: How = "inner",
        lateness: str | timedelta = "0 seconds",
        suffix: str | None = None,
    ) -> "Stream":
        """Bring the rows of this stream together with those of another stream, or of a table.

        Of two streams rows belong together that have equal keys and are near each other in time: `within` are
        the bounds of the other row's time minus this row's, both included; a single length reaches to both
        sides. Rows leave unmatched (`how` is left, right, full or anti) when the watermark says that nothing
        can match them any more. Rows that come later than `lateness` leave through ``.late_left`` and
        ``.late_right``.

        With a table `on` is the table's key, and `how` is inner or left. Each row waits until the watermark
        has passed it, and meets the row of the table as it was at its own time; those later than `lateness`
        leave through ``.late``. With ``as_of=None`` each row meets at once what is in the table now.

        A column that both have gets `suffix` on the other's side.

        >>> shown.join("clicks", clicked, on="ad", within=("0 seconds", "30 minutes"))  # doctest: +SKIP
        >>> payments.join("limits", cards, on="card", how="left")  # doctest: +SKIP
        """
        from headrace.declare.table import Table

        where = caller()
        if isinstance(other, Table):
            if within is not None:
                raise DeclarationError(
                    "within= is between two streams; a table has one row for each key at any time",
                    where=where,
                    cure="remove within=; .changes() of a table is a stream",
                )
            made: StatefulNode = table_join(
                name,
                self.port,
                other,
                on=on,
                as_of=as_of,
                how=how,
                lateness=lateness,
                suffix=suffix,
                where=where,
            )
            return Stream(Port(made))
        if as_of != EVENT_TIME and isinstance(other, Stream):
            raise DeclarationError(
                f"as_of={as_of!r} is about tables, and {other.port.text()} is a stream",
                where=where,
                cure='join its last rows: .join("name", other.latest("last", by=...), as_of=...)',
            )
        node = interval_join(
            name,
            self.port,
            other,
            on=on,
            within=within,
            how=how,
            lateness=lateness,
            suffix=suffix,
            where=where,
        )
        return Stream(Port(node))

    def lookup(
        self,
        name: str,
        table: PostgresTable,
        *,
        on: str | Mapping[str, str],
        how: HowLookup = "left",
        cache: str | timedelta = "10 minutes",
        keep: int = 100_000,
        batch: int = 1_000,
        queries: int = 4,
        retry: str | timedelta = "1 minute",
        repeatable: bool = False,
        suffix: str | None = None,
    ) -> "Stream":
        """Add to each row the columns that a remote table has for its key at that moment.

        It is for tables that cannot be streamed: what is found depends on when it is asked. `on` is a column
        of both, or ``{"stream's": "table's"}``; the table's tells its rows apart. Rows that find nothing have
        nulls, or are dropped with ``how="inner"``.

        Up to `batch` keys are asked for at once, by `queries` queries at a time. An answer counts for as long
        as `cache` says, also that there is no row; `keep` are kept at most. A server that cannot be reached
        is tried for `retry`, then the epoch fails. Ahead of a step with state, an exactly-once delivery needs
        ``repeatable=True``: your word that the table never changes what it once said of a key.

        >>> customers = PostgresTable("postgresql://reader@db/crm", "customers", Customer)  # doctest: +SKIP
        >>> orders.lookup("customers", customers, on={"customer": "id"})  # doctest: +SKIP
        """
        made = lookup(
            name,
            self.port,
            table,
            on=on,
            how=how,
            cache=cache,
            keep=keep,
            batch=batch,
            queries=queries,
            retry=retry,
            repeatable=repeatable,
            suffix=suffix,
            where=caller(),
        )
        return Stream(Port(made))

    def latest(self, name: str, *, by: str | Sequence[str]) -> "Table":
        """Return the table of the last row of each key by event time; what is older changes nothing.

        `name` is the identity of the state, which holds one row for each key.

        >>> payments.latest("last-payment", by="card")  # doctest: +SKIP
        """
        from headrace.declare.table import latest

        where = caller()
        check_step_name(name, "latest", where)
        return latest(self.port, name, by, where)

    def fold(
        self,
        name: str,
        initial: Mapping[str, Any],
        step: Callable[["Column", "Column"], Mapping[str, Any]],
        *,
        by: str | Sequence[str],
    ) -> "Table":
        """Return the table of a state for each key, made anew of itself and each row.

        `initial` are the fields of the state and what they begin with: constants. `step` is called once, with
        two columns, and gives fields of the next state as expressions of ``state["x"]`` and ``row["y"]``;
        those that it does not give stay as they are. Rows of an epoch are taken in the order of event time,
        then position; later epochs come after. A row on which the step fails is rejected, the state stays.

        >>> payments.fold(  # doctest: +SKIP
        ...     "spent",
        ...     {"n": 0, "highest": F.lit(0).cast("decimal(12,2)")},
        ...     lambda state, row: {
        ...         "n": state["n"] + 1,
        ...         "highest": F.greatest(state["highest"], row["amount"]),
        ...     },
        ...     by="card",
        ... )
        """
        from headrace.declare.table import Table
        from headrace.declare.table_fold import fold

        where = caller()
        check_step_name(name, "fold", where)
        return Table(Port(fold(self.port, name, initial, step, by, where)))

    def group_by(self, *columns: str, name: str | None = None) -> "Grouped":
        """Bring the rows with equal values in these columns together; ``agg`` makes a table of the groups.

        Each group is a row that changes with every epoch that brings it rows; for results per stretch of time
        there are windows. `name` is the identity of the state, by default the stream's and the columns'.

        >>> transfers.group_by("account").agg(total=F.sum("amount"))  # doctest: +SKIP
        """
        from headrace.declare.table_group import group

        return group(self.port, columns, name, caller())

    def to(self, sink: Sink) -> Delivery:
        """Send the rows to a sink; the result goes into a Pipeline."""
        where = caller()
        if not isinstance(sink, Sink):
            raise DeclarationError(
                f"{sink!r} is no sink", where=where, cure='write for example .to(Kafka("alerts"))'
            )
        for key in sink.key_expressions():
            check_columns(key, self.port, where)
        sink.check(self.port, where)
        return Delivery(self.port, sink, where)

    def _check_step_name(self, name: str | None, where: str) -> None:
        if name in (self.port.columns or ()):
            raise DeclarationError(
                f'name="{name}" names the step, and "{name}" is a column of {self.port.text()}',
                where=where,
                cure=f'for a column called "name" write .select(..., F.col("{name}").alias("name")); '
                "else give the step another name",
            )

    def _step(self, verb: str, name: str | None, where: str) -> dict[str, Any]:
        parents = (self.port,)
        chosen = _name(name, where) or step_name(verb, parents)
        return {"name": chosen, "where": where, "parents": parents, "named": name is not None}

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> NoReturn:
        raise DeclarationError(
            f"the stream {self.port.text()} cannot be looped over",
            where=caller(),
            cure="send it to a sink with .to(...); in tests, use headrace.testing",
        )

    def __repr__(self) -> str:
        columns = ", ".join(self.columns) if self.columns is not None else "columns known when planned"
        return f"<stream {self.port.text()}: {columns}>"


def from_topic(topic: Topic, watermark: Watermark | None, name: str | None) -> Stream:
    """Return the stream of a topic."""
    where = caller()
    if watermark is not None and not isinstance(watermark, Watermark):
        raise DeclarationError(
            f"{watermark!r} is no watermark", where=where, cure='write watermark=Bounded("5 seconds")'
        )
    if watermark is not None and topic.time is None:
        raise DeclarationError(
            f"{topic.name} has no event time, which a watermark is about",
            where=where,
            cure=f'name the field: Topic("{topic.name}", {topic.schema.name}, time="...")',
        )
    if isinstance(watermark, Punctuated):
        _check_marker(topic, watermark.column, where)
    chosen = re.sub(r"[^A-Za-z0-9_]", "_", topic.name) if name is None else name
    if not matches(_SOURCE_NAME, chosen):
        raise DeclarationError(
            f"{chosen!r} is no name for a source", where=where, cure="use letters, digits and underscores"
        )
    return Stream(Port(SourceNode(name=chosen, where=where, topic=topic, watermark=watermark)))


def _check_marker(topic: Topic, column: str, where: str) -> None:
    marker = topic.schema.field(column)
    if marker is None:
        raise DeclarationError(
            f'Punctuated("{column}"): {topic.schema.name} has no field "{column}"',
            where=where,
            cure=did_you_mean(column, topic.schema.names, what="fields"),
        )
    if not marker.type.same_as(BOOLEAN) and not marker.type.same_as(TIMESTAMP):
        raise DeclarationError(
            f'Punctuated("{column}"): "{column}" is {marker.type.ddl()}, and marks nothing',
            where=where,
            cure="name a bool, which is true on rows that mark, or a datetime, which is the watermark",
        )


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, Recorded)


def _name(name: str | None, where: str) -> str | None:
    if name is not None and not matches(_STEP_NAME, name):
        raise DeclarationError(
            f"{name!r} is no name for a step",
            where=where,
            cure='use letters, digits, "_", "-" and "."; for a column called "name" write '
            '.select(F.col("...").alias("name"))',
        )
    return name


def _check_same(first: Port, second: Port, where: str) -> None:
    if first.columns is None or second.columns is None:
        return
    for one, other in ((first, second), (second, first)):
        missing = [column for column in one.columns or () if column not in (other.columns or ())]
        if missing:
            listed = ", ".join(f'"{column}"' for column in missing)
            likely = did_you_mean(missing[0], other.columns or (), what="columns")
            raise DeclarationError(
                f"union: {other.text()} lacks {listed} of {one.text()}",
                where=where,
                cure=f"select the same columns on both sides ({other.text()}: {likely})",
            )
    for column in first.columns:
        types = (first.column_type(column), second.column_type(column))
        if _differ(*types):
            spelled = [each.ddl() for each in types if each is not None]
            raise DeclarationError(
                f'union: "{column}" is {spelled[0]} in {first.text()} and {spelled[1]} in {second.text()}',
                where=where,
                cure=f'cast one of them: .with_columns({column}=F.col("{column}").cast(...))',
            )


def _differ(one: DataType | None, other: DataType | None) -> bool:
    return one is not None and other is not None and not one.same_as(other)
