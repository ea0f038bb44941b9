"""The look-up join: rows of a stream, each with what a remote table has of its key when it is asked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Literal, cast, get_args

from headrace.declare.datatype import LONG, STRING, DataType, Field
from headrace.declare.duration import duration, spell
from headrace.declare.expr import column
from headrace.declare.naming import matches
from headrace.declare.node import Node, Port
from headrace.declare.projection import check_columns
from headrace.declare.remote import PostgresTable
from headrace.declare.suggestion import did_you_mean
from headrace.errors import DeclarationError

HowLookup = Literal["left", "inner"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_MOST_KEYS = 10_000
_ON = 'write on="customer", or on={"customer": "id"} where the table\'s column has another name'


@dataclass(frozen=True, eq=False, kw_only=True)
class LookupNode(Node):
    """Rows with the columns of a remote table, which is asked for many keys at a time.

    `key` is the stream's column, `remote_key` the table's; `fields` are the table's columns under the names
    that they have in the results.
    """

    verb: ClassVar[str] = "lookup"

    table: PostgresTable
    key: str
    remote_key: Field
    fields: tuple[tuple[str, Field], ...]
    how: HowLookup
    cache: timedelta
    keep: int
    batch: int
    queries: int
    retry: timedelta
    repeatable: bool

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Those of the stream, and the table's after them."""
        before = self.parents[0].columns
        return None if before is None else (*before, *(name for name, _ in self.fields))

    def text(self) -> str:
        """Return what is looked up, in words; nothing that may change without changing the results."""
        by = self.key if self.key == self.remote_key.name else f"{self.key} = {self.remote_key.name}"
        made = (name if name == of.name else f"{name} = {of.name}" for name, of in self.fields)
        return f"{self.how} look-up by {by} in the table {self.table.table}: {', '.join(made)}"

    def how_asked(self) -> str:
        """Return where and how the table is asked, in words."""
        kept = (
            f"answers count for {spell(self.cache)}, {self.keep:,} are kept"
            if self.cache
            else "nothing is kept"
        )
        return (
            f"asks {self.table.place()} for up to {self.batch:,} keys at once, "
            f"{self.queries} queries at a time in each JVM; {kept}"
        )

    def _type(self, name: str) -> DataType | None:
        found = next((of for named, of in self.fields if named == name), None)
        if found is None:
            return self.parents[0].column_type(name)
        return found.type.with_nullable(found.type.nullable or self.how == "left")


def lookup(
    name: Any,
    left: Port,
    table: Any,
    *,
    on: Any,
    how: Any,
    cache: Any,
    keep: Any,
    batch: Any,
    queries: Any,
    retry: Any,
    repeatable: Any,
    suffix: Any,
    where: str,
) -> LookupNode:
    """Return the checked look-up."""
    if not matches(_NAME, name):
        raise DeclarationError(
            f"{name!r} is no name for a look-up",
            where=where,
            cure='name it first: .lookup("customers", ...); a letter, then letters, digits, _ and -',
        )
    if not isinstance(table, PostgresTable):
        raise DeclarationError(
            f"lookup takes a remote table, not {table!r}",
            where=where,
            cure='write .lookup("name", PostgresTable("postgresql://...", "table", Record), on=...)',
        )
    if how not in get_args(HowLookup):
        raise DeclarationError(
            f"how={how!r} is no kind of look-up",
            where=where,
            cure=did_you_mean(str(how), get_args(HowLookup), what="kinds of it"),
        )
    if left.name == "rejected":
        raise DeclarationError(
            f"rows of {left.text()} are not looked up: those that fail have nowhere to go",
            where=where,
            cure="look up before they are rejected, or in another pipeline",
        )
    for argument, value in (("keep", keep), ("batch", batch), ("queries", queries)):
        _check_count(argument, value, where)
    if batch > _MOST_KEYS:
        raise DeclarationError(
            f"batch={batch} keys in one query are too many", where=where, cure=f"give {_MOST_KEYS} at most"
        )
    if not isinstance(repeatable, bool):
        raise DeclarationError(
            f"repeatable={repeatable!r} is no bool", where=where, cure="write True or False"
        )
    key, remote = _keys(on, left, table, where)
    return LookupNode(
        name=name,
        where=where,
        parents=(left,),
        table=table,
        key=key,
        remote_key=remote,
        fields=_fields(name, left, table, remote, suffix, where),
        how=cast("HowLookup", how),
        cache=duration(cache, what="cache of the look-up"),
        keep=keep,
        batch=batch,
        queries=queries,
        retry=duration(retry, what="retry of the look-up"),
        repeatable=repeatable,
    )


def _check_count(argument: str, value: Any, where: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise DeclarationError(
            f"{argument}={value!r} is no number from 1 on", where=where, cure="give 1 or more"
        )


def _keys(on: Any, left: Port, table: PostgresTable, where: str) -> tuple[str, Field]:
    pairs = list(on.items()) if isinstance(on, Mapping) else [(on, on)]
    if len(pairs) != 1 or not all(isinstance(each, str) for each in pairs[0]):
        raise DeclarationError(f"a look-up is by one column, not on={on!r}", where=where, cure=_ON)
    [(key, remote)] = pairs
    check_columns(column(f"`{key}`"), left, where)
    of = table.schema.field(remote)
    if of is None:
        raise DeclarationError(
            f'"{remote}" is no field of {table.schema.name}',
            where=where,
            cure=f"{did_you_mean(remote, table.schema.names, what='fields')}; {_ON}",
        )
    if not any(of.type.same_as(kind) for kind in (STRING, LONG)):
        raise DeclarationError(
            f"{table.schema.name}.{remote} is {of.type.ddl()}, and rows are looked up by str or int",
            where=where,
            cure="look up by another column, or a view that has it as text",
        )
    kind = left.column_type(key)
    if kind is not None and not is_key(kind.ddl(), of.type):
        raise wrong_key(key, kind.ddl(), left.text(), table, of, where)
    return key, of


def is_key(kind: str, of: DataType) -> bool:
    """Tell whether a column of such a type, in DDL, can be the key."""
    return kind.upper() in ({"TINYINT", "SMALLINT", "INT", "BIGINT"} if of.same_as(LONG) else {"STRING"})


def wrong_key(
    key: str, kind: str, of_stream: str, table: PostgresTable, of: Field, where: str
) -> DeclarationError:
    """Return the error about a key that no row of the table can have."""
    return DeclarationError(
        f'"{key}" of {of_stream} is {kind}, and {table.schema.name}.{of.name} is {of.type.ddl()}: '
        "they are never equal",
        where=where,
        cure=f'cast it before: .with_columns({key}=F.col("{key}").cast("{of.type.ddl().lower()}"))',
    )


def _fields(
    name: str, left: Port, table: PostgresTable, key: Field, suffix: Any, where: str
) -> tuple[tuple[str, Field], ...]:
    if suffix is not None and (not isinstance(suffix, str) or not suffix.strip()):
        raise DeclarationError(
            f"suffix={suffix!r} is no text", where=where, cure='write suffix="_of_customer"'
        )
    taken = {each.lower() for each in left.columns or ()}
    fields = []
    for each in table.schema.fields:
        if each.name == key.name:
            continue
        clashes = each.name.lower() in taken
        made = f"{each.name}{suffix or ''}" if clashes else each.name
        if made.lower() in taken:
            raise clash(name, made, where)
        taken.add(made.lower())
        fields.append((made, each))
    if not fields:
        raise DeclarationError(
            f"{table.schema.name} has no field besides {key.name}: nothing would be looked up",
            where=where,
            cure="add the fields that are wanted",
        )
    return tuple(fields)


def clash(name: str, column_: str, where: str) -> DeclarationError:
    """Return the error about a column that both have."""
    return DeclarationError(
        f'the look-up "{name}" would have two columns "{column_}"',
        where=where,
        cure='write suffix="_2", which the table\'s get, or .select before it what is needed',
    )
