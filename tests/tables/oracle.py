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
ITEM = ("k", "g", "v", "at")
"""The columns of every topic."""


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

    def __sub__(self, other: Any) -> "Column":
        return self._with(other, operator.sub)

    def __mul__(self, other: Any) -> "Column":
        return self._with(other, operator.mul)

    def __mod__(self, other: Any) -> "Column":
        return self._with(other, operator.mod)

    def isNotNull(self) -> "Column":  # noqa: N802 - as in Spark
        return Column(lambda row: self.of(row) is not None)

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
    def lit(value: Any) -> Column:
        return Column(lambda _: value)

    @staticmethod
    def coalesce(*of: str | Column) -> Column:
        parts = [_column(each) for each in of]
        return Column(lambda row: next((v for v in (each.of(row) for each in parts) if v is not None), None))

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
    columns: tuple[str, ...]

    def where(self, condition: Column) -> "Table":
        return Table(self.key, [row for row in self.rows if condition.of(row)], self.columns)

    def select(self, *columns: str | Column, **named: str | Column) -> "Table":
        made = {_column(each).called: _column(each) for each in columns}
        made |= {name: _column(each) for name, each in named.items()}
        renamed = {column.called: name for name, column in reversed(made.items())}
        renamed |= {_column(each).called: name for name, each in named.items()}
        # `alias` forgets what a column was called: the key keeps its place.
        key = tuple(renamed.get(name, list(made)[place]) for place, name in enumerate(self.key))
        rows = [{name: column.of(row) for name, column in made.items()} for row in self.rows]
        return Table(key, rows, tuple(made))

    def with_columns(self, **named: str | Column) -> "Table":
        made = {name: _column(each) for name, each in named.items()}
        rows = [row | {name: each.of(row) for name, each in made.items()} for row in self.rows]
        return Table(self.key, rows, tuple(dict.fromkeys((*self.columns, *made))))

    def group_by(self, *columns: str, name: str = "") -> "Grouped":  # noqa: ARG002 - not a word of the answer
        return Grouped(self, columns)

    def agg(self, **named: Aggregate) -> "Table":
        return Grouped(self, ()).agg(**named)

    def join(
        self,
        name: str,  # noqa: ARG002 - not a word of the answer
        other: "Table",
        *,
        on: str | list[str] | dict[str, str],
        how: str = "inner",
        suffix: str = "",
    ) -> "Table":
        pairs = on if isinstance(on, dict) else {each: each for each in ([on] if isinstance(on, str) else on)}
        names = {each: each + (suffix if each in self.columns else "") for each in other.columns}
        names |= {right: left for left, right in pairs.items()}
        columns = tuple(dict.fromkeys((*pairs, *self.columns, *(names[each] for each in other.columns))))

        def made(left: Row | None, right: Row | None) -> Row:
            row = dict.fromkeys(columns)
            row |= {names[name]: value for name, value in (right or {}).items()}
            return row | (left or {})

        def meet(left: Row, right: Row) -> bool:
            # Null equals nothing.
            return all(left[one] is not None and left[one] == right[two] for one, two in pairs.items())

        rows = [made(left, right) for left in self.rows for right in other.rows if meet(left, right)]
        if how in {"left", "full"}:
            alone = (left for left in self.rows if not any(meet(left, right) for right in other.rows))
            rows += [made(left, None) for left in alone]
        if how == "full":
            alone = (right for right in other.rows if not any(meet(left, right) for left in self.rows))
            rows += [made(None, right) for right in alone]
        return Table(self._joined_key(other, pairs, names, how), rows, columns)

    def _joined_key(
        self, other: "Table", pairs: dict[str, str], names: dict[str, str], how: str
    ) -> tuple[str, ...]:
        right = tuple(names[each] for each in other.key)
        one_left, one_right = set(self.key) <= pairs.keys(), set(other.key) <= set(pairs.values())
        if how == "full":
            return tuple(pairs) if one_left and one_right else tuple(dict.fromkeys(self.key + right))
        if one_right:
            return self.key
        return right if one_left and how == "inner" else tuple(dict.fromkeys(self.key + right))

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
        return Table(self.keys, made, (*self.keys, *named))


@dataclass(frozen=True)
class Changed:
    """The changes of a table as a stream."""

    table: Table


def of_topic(records: Iterable[Record]) -> Table:
    """Return the last record of each key and partition, and of these the latest; a tombstone deletes."""
    last: dict[tuple[Any, int], Record] = {}
    for record in records:
        last[record.key, record.partition] = record
    return Table(("k",), _latest(last.values()), ITEM)


def of_stream(records: Iterable[Record]) -> Table:
    """Return the last row of each key by event time and position."""
    return Table(("k",), _latest(records), ITEM)


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
        self.records: dict[str, list[Record]] = {"table": [], "other": [], "third": []}
        self.before: dict[tuple[Any, ...], Row] = {}
        self.sequence: dict[tuple[Any, ...], int] = {}
        self.table = Table((), [], ())

    def epoch(self, records: Iterable[Record], **of_others: Iterable[Record]) -> Outcome:
        for name, came in (("table", records), *of_others.items()):
            self.records[name] += came
        tables: dict[str, Any] = {name: of_topic(known) for name, known in self.records.items()}
        if self.of != "topic":
            tables["table"] = of_stream(self.records["table"])
        made = eval(self.words, tables | {"F": F, "Decimal": Decimal})  # noqa: S307 - our own files
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
