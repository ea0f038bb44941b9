"""Tables: rows that are told apart by a key, and the verbs that make new tables of them."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn

from headrace.declare.datatype import ListOf, MapOf, Nested
from headrace.declare.join import On
from headrace.declare.keyed import keyed
from headrace.declare.node import Port, SelectNode, WithColumnsNode
from headrace.declare.projection import ColumnOrName
from headrace.declare.sink import Delivery, Kafka, Sink
from headrace.declare.stream import Stream, from_topic
from headrace.declare.table_group import Grouped, group
from headrace.declare.table_join import TableHow, table_join, unnetted
from headrace.declare.table_node import (
    CHANGE_COLUMNS,
    ChangesNode,
    LatestNode,
    TableSourceNode,
    TopicTableNode,
    plain,
    table_key,
)
from headrace.declare.topic import Topic
from headrace.declare.view import View
from headrace.declare.watermark import Bounded, Watermark
from headrace.errors import DeclarationError, caller

_STEP_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.#-]*")
_AHEAD = timedelta(days=36_500)
# Verbs of streams that a table does not have, and what to write instead.
_OF_STREAMS = {
    "key_by": '.group_by("...") groups a table\'s rows; for windows: .changes().key_by("...")',
    "window": 'aggregate the table: .agg(...); or window its changes: .changes().window("...", ...)',
    "dedup": "a table has one row for each key as it is; for its changes as a stream there is .changes()",
    "union": "unite the streams, and make the table of them: .union(...).latest(...)",
    "transform": "write .select(...) and .with_columns(...), or transform the stream before .latest(...)",
    "latest": "it is a table; for another key group it, or take the latest of its .changes()",
    "fold": "aggregate the table with .agg(...)",
    "late": "tables have no lateness: every row is used",
    "duplicates": "a table has no duplicates: what comes twice changes nothing",
}


@dataclass(frozen=True)
class Table:
    """A set of rows with at most one for each key, which keeps changing; a value that never changes.

    Sent to a sink it is rows that are inserted, updated and deleted by key. After every epoch it is the exact
    answer for what has been read so far.
    """

    port: Port

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the columns; None when only planning can tell."""
        return self.port.columns

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that tell the rows apart: the primary key. None of them: there is one row at most."""
        return table_key(self.port) or ()

    @property
    def rejected(self) -> Stream:
        """The rows that could not be used, see :attr:`Stream.rejected`."""
        return Stream(self.port.node.rejected)

    def where(self, condition: ColumnOrName, *, name: str | None = None) -> "Table":
        """Keep the rows for which the condition is true; one that changes so that it is not is deleted.

        >>> cards.where(F.col("active")).where("country = 'CH'")  # doctest: +SKIP
        """
        return Table(Stream(self.port).where(condition, name=name).port)

    def select(self, *columns: ColumnOrName, name: str | None = None, **named: ColumnOrName) -> "Table":
        """Make each row of these columns; those of the key must be among them, as they are or renamed.

        >>> cards.select("card", F.col("country").alias("home"))  # doctest: +SKIP
        """
        where = caller()
        made = Stream(self.port).select(*columns, name=name, **named)
        assert isinstance(made.port.node, SelectNode)  # noqa: S101 - it is a select
        kept = {plain(each.expression) for each in made.port.node.projections}
        gone = [column for column in self.key if column not in kept]
        if gone:
            raise DeclarationError(
                f"the select drops {_listed(gone)} of the key that tells rows of {self.port.text()} apart",
                where=where,
                cure=f'keep it: .select("{gone[0]}", ...); for rows by another key, .group_by(...).agg(...)',
            )
        return Table(made.port)

    def with_columns(self, *, name: str | None = None, **named: ColumnOrName) -> "Table":
        """Add columns, or replace those of the same name, except those of the key."""
        where = caller()
        made = Stream(self.port).with_columns(name=name, **named)
        assert isinstance(made.port.node, WithColumnsNode)  # noqa: S101 - it is one
        lost = [
            each.name
            for each in made.port.node.projections
            if each.name in self.key and plain(each.expression) != each.name
        ]
        if lost:
            raise DeclarationError(
                f"{_listed(lost)} is of the key by which {self.port.text()} tells its rows apart, "
                "and would be replaced",
                where=where,
                cure="give the new column another name; for rows by something else, .group_by(...).agg(...)",
            )
        return Table(made.port)

    def group_by(self, *columns: str, name: str | None = None) -> Grouped:
        """Bring the rows with equal values in these columns together; ``agg`` makes a table of the groups.

        `name` is the identity of the state, by default the table's name and the columns'.

        >>> cards.group_by("country").agg(cards=F.count("*"))  # doctest: +SKIP
        """
        return group(unnetted(self.port), columns, name, caller())

    def agg(self, *aggregates: ColumnOrName, **named: ColumnOrName) -> "Table":
        """Aggregate all rows to a table of one row, or of none while there are no rows.

        >>> cards.agg(cards=F.count("*"))  # doctest: +SKIP
        """
        return group(unnetted(self.port), (), None, caller()).agg(*aggregates, **named)

    def join(
        self, name: str, other: "Table", *, on: On, how: TableHow = "inner", suffix: str | None = None
    ) -> "Table":
        """Bring the rows of two tables together that have equal keys, and keep them so as both change.

        `on` are columns of any kind: a primary key, a foreign key, or neither; ``{"left": "right"}`` where
        they have other names. `how` is inner, left (left rows that meet nothing are there with nulls) or
        full. A column that both have gets `suffix` on the other's side. `name` is the identity of the state,
        which holds every row of both tables.

        >>> orders.join("bought", customers, on={"customer": "id"}, suffix="_of_customer")  # doctest: +SKIP
        """
        return Table(table_join(name, self.port, other, on=on, how=how, suffix=suffix, where=caller()))

    def changes(self, *, name: str | None = None) -> Stream:
        """Return a stream of the changes: the key, op (insert, update, delete), before, after, sequence.

        `sequence` counts the changes of each key from 0. `name` is the identity of the state, which holds
        that number, by default the table's name with ``.changes``.

        >>> cards.changes().where("op = 'delete'")  # doctest: +SKIP
        """
        where = caller()
        _check_name(name, "changes", where)
        taken = next((column for column in self.key if column.lower() in CHANGE_COLUMNS), None)
        if taken is not None:
            raise DeclarationError(
                f'the key "{taken}" has the name of a column that every change has',
                where=where,
                cure=f'rename it before: .select(F.col("{taken}").alias("{taken}_key"), ...)',
            )
        chosen = name or f"{self.port.stem}.changes"
        return Stream(Port(ChangesNode(name=chosen, where=where, parents=(self.port,), keys=self.key)))

    def to(self, sink: Sink) -> Delivery:
        """Send the table to a sink, which upserts and deletes by key: in Kafka a delete is a tombstone."""
        where = caller()
        if isinstance(sink, View) and not sink.key:
            sink = sink.keyed(self.key)
        made = Stream(self.port).to(sink)
        given = [plain(part) for part in sink.key_expressions()]
        by = _listed(self.key) or "nothing"
        if given and sorted(map(str, given)) != sorted(self.key):
            raise DeclarationError(
                f"the table {self.port.text()} is by {by}, and goes to {sink.text()}",
                where=where,
                cure="leave key= out: a table is written by its own key; for another key group it before",
            )
        if isinstance(sink, Kafka) and not given:
            made = replace(made, sink=_by_key(sink, self.key, where))
        return made

    if not TYPE_CHECKING:

        def __getattr__(self, verb: str) -> Any:
            if verb in _OF_STREAMS:
                raise DeclarationError(
                    f"{self.port.text()} is a table, and has no {verb}",
                    where=caller(),
                    cure=_OF_STREAMS[verb],
                )
            raise AttributeError(f"a table has no {verb}")

    def __iter__(self) -> NoReturn:
        raise DeclarationError(
            f"the table {self.port.text()} cannot be looped over",
            where=caller(),
            cure="send it to a sink with .to(...); in tests, use headrace.testing",
        )

    def __repr__(self) -> str:
        columns = ", ".join(self.columns) if self.columns is not None else "columns known when planned"
        return f"<table {self.port.text()} by {', '.join(self.key) or 'nothing'}: {columns}>"


def from_compacted(topic: Topic, watermark: Watermark | None, name: str | None) -> Table:
    """Return the table of a topic."""
    where = caller()
    if topic.key is None:
        raise DeclarationError(
            f"{topic.name} has no key, by which the rows of a table are told apart",
            where=where,
            cure=f'name the field at {topic.where}: Topic("{topic.name}", {topic.schema.name}, key="...")',
        )
    field = topic.schema.field(topic.key)
    if field is not None and isinstance(field.type, Nested | ListOf | MapOf):
        raise DeclarationError(
            f'the key "{topic.key}" of {topic.name} is {field.type.ddl()}: a tombstone has its key as text, '
            "which cannot be read as one",
            where=where,
            cure="make the table by a field that is text, a number or a time",
        )
    if topic.start == "latest":
        raise DeclarationError(
            f"{topic.name} is read from its end, and a table begins with what its topic holds",
            where=where,
            cure=f'remove start="latest" at {topic.where}',
        )
    if watermark is None:
        # In the topic's order; a time far ahead is no mistake in a table: it may say from when a row holds.
        watermark = Bounded("0 seconds", ahead=_AHEAD)
        read = from_topic(topic, None, name)
    else:
        read = from_topic(topic, watermark, name)
    source = TableSourceNode(name=read.port.node.name, where=where, topic=topic, watermark=watermark)
    node = TopicTableNode(
        name=f"{source.name}.table", where=where, parents=(Port(source),), keys=(topic.key,)
    )
    return Table(Port(node))


def latest(port: Port, name: str, by: Any, where: str) -> Table:
    """Return the table of the last row of each key."""
    columns = (by,) if isinstance(by, str) else tuple(by)
    chosen = keyed(port, columns, where)
    return Table(Port(LatestNode(name=name, where=where, parents=(port,), keys=chosen.keys)))


def _by_key(sink: Kafka, key: tuple[str, ...], where: str) -> Kafka:
    made = Kafka(
        sink.topic,
        key=list(key) or None,
        guarantee=sink.guarantee,
        partitions=sink.partitions,
        options=sink.options,
    )
    object.__setattr__(made, "where", sink.where or where)
    return made


def _check_name(name: Any, verb: str, where: str) -> None:
    if name is not None and not (isinstance(name, str) and _STEP_NAME.fullmatch(name)):
        raise DeclarationError(
            f"{name!r} is no name for a step with state",
            where=where,
            cure=f'use letters, digits, "_", "-" and "."; or leave it out: .{verb}()',
        )


def _listed(columns: Any) -> str:
    return ", ".join(f'"{column}"' for column in columns)
