"""Views in a PostgreSQL database, a schema a pipeline."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from headrace.declare.postgres import Address
from headrace.errors import RunError, SettingsError
from headrace.run import postgres
from headrace.watch.view_store import Row

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

_WAIT_SECONDS = 1.0
"""How long a follower trusts in being woken, which a pool of connections may swallow."""
_CHANNEL = "headrace_views"
_BY_CODE_POINTS = {"TEXT", "TIME", "NESTED"}
_PLAIN = (str, int, float, list, dict, type(None))

_CHANGES = 'SELECT number, epoch, view, "key", value FROM headrace_changes'
_STORES = """
SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = 'headrace_history'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
ORDER BY n.nspname COLLATE "C"
"""


def stores(address: Address) -> list[PostgresStore]:
    """Return the stores in a database that the user may read."""
    with _connect(address) as connection:
        found = connection.execute(_STORES).fetchall()
    return [PostgresStore(address, schema) for (schema,) in found]


@dataclass(frozen=True)
class PostgresStore:
    """One schema."""

    address: Address
    pipeline: str

    @contextmanager
    def session(self, *, following: bool = False) -> Iterator[PostgresSession]:
        """Connect; who follows is woken by what is committed."""
        with _connect(self.address) as connection:
            path = _quoted(self.pipeline).replace("%%", "%")
            connection.execute("SELECT set_config('search_path', %s, false)", [path])
            # A replica wakes nobody.
            if following and connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,):
                connection.execute(f"LISTEN {_CHANNEL}")
            yield PostgresSession(self.address, connection)


def _connect(address: Address) -> Connection:
    from psycopg import IsolationLevel

    connection = postgres.connect(address, "the views", autocommit=True)
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    return connection


class PostgresSession:
    """A connection to a schema."""

    def __init__(self, address: Address, connection: Connection) -> None:
        self._address = address
        self._connection = connection

    def snapshot(self) -> AbstractContextManager[object]:
        return self._connection.transaction()

    def ask(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        import psycopg

        try:
            # As bytes: a query of ours is put together from quoted names.
            return self._connection.execute(sql.encode(), values).fetchall()
        except psycopg.DataError:
            raise
        except psycopg.OperationalError as problem:
            raise RunError(
                f"the views in {self._address} cannot be read: {_told(problem)}",
                cure="see that the server runs, and ask again",
            ) from None
        except psycopg.Error as problem:
            raise RunError(
                f"{self._address} has no store of views, or it is damaged: {_told(problem)}",
                cure="look at the setting views.store",
            ) from None

    def answer(self, sql: str) -> tuple[tuple[str, ...], list[Row]]:
        import psycopg

        try:
            # Prepared: of several statements one could end this transaction, which may only read.
            cursor = self._connection.execute(sql.encode(), prepare=True)
            found = cursor.fetchall() if cursor.description else []
        except psycopg.Error as problem:
            raise SettingsError(
                f"PostgreSQL does not take that: {_told(problem)}", cure="correct the SQL"
            ) from None
        names = tuple(each.name for each in cursor.description or ())
        return names, [tuple(map(_plain, row)) for row in found]

    def rows(
        self, view: str, columns: Mapping[str, str], by: Sequence[str], wanted: Mapping[str, Any] | None
    ) -> list[Row]:
        import psycopg

        named = ", ".join(
            f"{_quoted(name)}::text" if kind == "NESTED" else _quoted(name) for name, kind in columns.items()
        )
        given = {name: None if value is None else _text(value) for name, value in (wanted or {}).items()}
        where = " AND ".join(
            f"{_quoted(name)} IS NULL" if value is None else f"{_quoted(name)} = %s"
            for name, value in given.items()
        )
        order = ", ".join(
            _quoted(name) + (' COLLATE "C"' if columns[name] in _BY_CODE_POINTS else "") + " NULLS FIRST"
            for name in by
        )
        sql = (
            f"SELECT {named} FROM {_quoted(view)}"  # noqa: S608 - quoted
            + (f" WHERE {where}" if where else "")
            + (f" ORDER BY {order}" if order else "")
        )
        try:
            found = self.ask(sql, [value for value in given.values() if value is not None])
        except psycopg.DataError:
            # A text that is none of the key's type: no row has it.
            return []
        kinds = tuple(columns.values())
        return [tuple(map(_value, row, kinds)) for row in found]

    def changes(self, after: int) -> list[Row]:
        return self.ask(f"{_CHANGES} WHERE number > %s ORDER BY number", [after])

    def last_change(self) -> int:
        [(last,)] = self.ask("SELECT last FROM headrace_numbers")
        return int(last)

    def wait(self) -> None:
        import psycopg

        try:
            for _ in self._connection.notifies(timeout=_WAIT_SECONDS, stop_after=1):
                pass
        except psycopg.Error as problem:
            raise RunError(
                f"the views in {self._address} cannot be followed any longer: {_told(problem)}",
                cure="see that the server runs, and follow them again",
            ) from None


def _value(value: Any, kind: str) -> Any:
    """Return a value as the store in a file has it."""
    if value is None:
        return None
    if kind == "NESTED":
        return json.loads(value)
    if kind == "DECIMAL":
        return _decimal(value)
    if kind == "NUMBER" and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _decimal(value: Decimal) -> float | str:
    """Return the number that is that very one, else its text: JSON has no decimals."""
    near = float(value)
    return near if Decimal(repr(near)) == value else format(value, "f")


def _plain(value: Any) -> Any:
    """Return what a user's SQL gave as JSON has it."""
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value.as_tuple().exponent == 0 else _decimal(value)
    if isinstance(value, datetime | date | time_of_day):
        return value.isoformat()
    return value if isinstance(value, _PLAIN) else str(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _told(problem: psycopg.Error) -> str:
    return problem.diag.message_primary or " ".join(str(problem).split())


def _quoted(name: str) -> str:
    """Quote a name inside a query with values in it, to which a % is a sign of its own."""
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'
