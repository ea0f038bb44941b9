"""What tables mean, in plain Python: after every epoch the whole answer is computed anew from all records.

The names are those of a pipeline, and nothing is taken from it: ``table.where(F.col("v") > 1)`` is evaluated
here on lists of rows. What leaves is the difference between two answers.
"""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """A record as it lies in its topic; `row` is None for a tombstone, `key` is the message's."""

    key: Any
    row: Row | None
    time: float
    partition: int
    offset: int


class Column:
    """An expression over one row; a null in it is a null of it, as in SQL."""

    def __init__(self, of: Callable[[Row], Any], name: str = "") -> None:
        self.of = of
        self.called = name

    def alias(self, name: str) -> "Column":
        return Column(self.of, name)

    def _with(self, other: Any, operation: Callable[[Any, Any], Any]) -> "Column":
        right = other if isinstance(other, Column) else Column(lambda _: other)

        def of(row: Row) -> Any:
            values = self.of(row), right.of(row)
            return None if None in values else operation(*values)

        return Column(of)

    def __gt__(self, other: Any) -> "Column":
        return self._with(other, operator.gt)

    def __lt__(self, other: Any) -> "Column":
        return self._with(other, operator.lt)

    def __add__(self, other: Any) -> "Column":
        return self._with(other, operator.add)

    def __mul__(self, other: Any) -> "Column":
        return self._with(other, operator.mul)

    def __mod__(self, other: Any) -> "Column":
        return self._with(other, operator.mod)

    def isNull(self) -> "Column":  # noqa: N802 - as in Spark
        return Column(lambda row: self.of(row) is None)


@dataclass(frozen=True)
class Aggregate:
    column: Column
    of: Callable[[list[Any]], Any]


class F:
    """The functions that the transcripts use."""

    @staticmethod
    def col(name: str) -> Column:
        return Column(lambda row: row[name], name)

    @staticmethod
    def count(name: str) -> Aggregate:
        return Aggregate(F.col(name) if name != "*" else Column(lambda _: 1), len)

    @staticmethod
    def sum(of: str | Column) -> Aggregate:
        return Aggregate(_column(of), lambda values: sum(values) if values else None)

    @staticmethod
    def avg(of: str | Column) -> Aggregate:
        return Aggregate(_column(of), lambda values: sum(values) / len(values) if values else None)

    @staticmethod
    def min(of: str | Column) -> Aggregate:
        return Aggregate(_column(of), lambda values: min(values, default=None))

    @staticmethod
    def max(of: str | Column) -> Aggregate:
        return Aggregate(_column(of), lambda values: max(values, default=None))

    @staticmethod
    def count_distinct(of: str | Column) -> Aggregate:
        return Aggregate(_column(of), lambda values: len(set(values)))


def _column(of: str | Column) -> Column:
    return F.col(of) if isinstance(of, str) else of


@dataclass(frozen=True)
class Table:
    """A table as it is now: rows by key."""

    key: tuple[str, ...]
    rows: list[Row]

    def where(self, condition: Column) -> "Table":
        return Table(self.key, [row for row in self.rows if condition.of(row)])

    def select(self, *columns: str | Column, **named: str | Column) -> "Table":
        made = {_column(each).called: _column(each) for each in columns}
        made |= {name: _column(each) for name, each in named.items()}
        renamed = {column.called: name for name, column in reversed(made.items())}
        renamed |= {_column(each).called: name for name, each in named.items()}
        # `alias` forgets what a column was called: the key keeps its place.
        key = tuple(renamed.get(name, list(made)[place]) for place, name in enumerate(self.key))
        return Table(key, [{name: column.of(row) for name, column in made.items()} for row in self.rows])

    def with_columns(self, **named: str | Column) -> "Table":
        made = {name: _column(each) for name, each in named.items()}
        return Table(
            self.key, [row | {name: each.of(row) for name, each in made.items()} for row in self.rows]
        )

    def group_by(self, *columns: str, name: str = "") -> "Grouped":  # noqa: ARG002 - not a word of the answer
        return Grouped(self, columns)

    def agg(self, **named: Aggregate) -> "Table":
        return Grouped(self, ()).agg(**named)

    def by_key(self) -> dict[tuple[Any, ...], Row]:
        found = {tuple(row[name] for name in self.key): row for row in self.rows}
        assert len(found) == len(self.rows), "two rows of one key"
        return found

    def changes(self) -> "Changed":
        return Changed(self)


@dataclass(frozen=True)
class Grouped:
    table: Table
    keys: tuple[str, ...]

    def agg(self, **named: Aggregate) -> Table:
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.table.rows:
            groups.setdefault(tuple(row[name] for name in self.keys), []).append(row)
        made = []
        for key, rows in groups.items():
            values = {name: [each.column.of(row) for row in rows] for name, each in named.items()}
            known = {name: [value for value in values[name] if value is not None] for name in named}
            made.append(
                dict(zip(self.keys, key, strict=True))
                | {name: each.of(known[name]) for name, each in named.items()}
            )
        return Table(self.keys, made)


@dataclass(frozen=True)
class Changed:
    """The changes of a table as a stream."""

    table: Table


def of_topic(records: Iterable[Record]) -> Table:
    """Return the last record of each key and partition, and of these the latest; a tombstone deletes."""
    last: dict[tuple[Any, int], Record] = {}
    for record in records:
        last[record.key, record.partition] = record
    return Table(("k",), _latest(last.values()))


def of_stream(records: Iterable[Record]) -> Table:
    """Return the last row of each key by event time and position."""
    return Table(("k",), _latest(records))


def _latest(records: Iterable[Record]) -> list[Row]:
    last: dict[Any, Record] = {}
    for record in sorted(records, key=lambda each: (each.time, each.partition, each.offset)):
        last[record.key] = record
    return [each.row for each in last.values() if each.row is not None]


@dataclass
class Outcome:
    """What leaves in one epoch: rows that came or changed and keys that went, or rows of a stream."""

    puts: list[Row] = field(default_factory=list)
    deletes: list[Row] = field(default_factory=list)
    out: list[Row] = field(default_factory=list)


class Run:
    """A pipeline in words (``table.where(...)``) run epoch by epoch."""

    def __init__(self, of: str, words: str) -> None:
        self.of = of
        self.words = words
        self.records: list[Record] = []
        self.before: dict[tuple[Any, ...], Row] = {}
        self.sequence: dict[tuple[Any, ...], int] = {}
        self.table = Table((), [])

    def epoch(self, records: Iterable[Record]) -> Outcome:
        self.records += records
        base = of_topic(self.records) if self.of == "topic" else of_stream(self.records)
        made = eval(self.words, {"table": base, "F": F, "Decimal": Decimal})  # noqa: S307 - our own files
        self.table = made.table if isinstance(made, Changed) else made
        now, outcome = self.table.by_key(), Outcome()
        for key in {*now, *self.before}:
            was, is_ = self.before.get(key), now.get(key)
            if was == is_:
                continue
            named = dict(zip(self.table.key, key, strict=True))
            if isinstance(made, Changed):
                number = self.sequence.get(key, 0)
                self.sequence[key] = number + 1
                op = "insert" if was is None else "delete" if is_ is None else "update"
                change = {"op": op, "before": was, "after": is_, "sequence": number}
                outcome.out.append(named | change)
            elif is_ is None:
                outcome.deletes.append(named)
            else:
                outcome.puts.append(is_)
        self.before = now
        return outcome
