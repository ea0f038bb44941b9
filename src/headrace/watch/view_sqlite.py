"""Views in SQLite files, one a pipeline."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.errors import RunError, SettingsError
from headrace.watch.view_store import Row

_WAIT_SECONDS = 0.05
_BUSY_SECONDS = 10
_CHANGES = 'SELECT number, epoch, view, "key", value FROM headrace_changes'


def stores(folder: Path) -> list[SqliteStore]:
    """Return the stores in a folder, but for those that a pipeline is about to make."""
    return [store for file in sorted(folder.glob("*.db")) if not (store := SqliteStore(file)).is_empty()]


@dataclass(frozen=True)
class SqliteStore:
    """One file."""

    file: Path

    @property
    def pipeline(self) -> str:
        return self.file.stem

    def is_empty(self) -> bool:
        """Tell whether nothing is in the file yet, not even what makes it a store."""
        with self.session() as session:
            return session.ask("SELECT count(*) FROM sqlite_master") == [(0,)]

    @contextmanager
    def session(self, *, following: bool = False) -> Iterator[SqliteSession]:
        """Open the file for reading; who follows looks again and again."""
        del following
        try:
            connection = sqlite3.connect(
                f"{self.file.resolve().as_uri()}?mode=ro",
                uri=True,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            connection.execute("PRAGMA query_only = ON")
        except sqlite3.Error as problem:
            raise RunError(f"the store of views {self.file} cannot be read: {problem}") from None
        with closing(connection):
            yield SqliteSession(self.file, connection)


class SqliteSession:
    """A connection to a file."""

    def __init__(self, file: Path, connection: sqlite3.Connection) -> None:
        self._file = file
        self._connection = connection

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    def ask(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as problem:
            raise RunError(
                f"{self._file} is no store of views, or is damaged: {problem}",
                cure="look at the setting views.store",
            ) from None

    def answer(self, sql: str) -> tuple[tuple[str, ...], list[Row]]:
        try:
            cursor = self._connection.execute(sql)
            found = cursor.fetchall()
        except sqlite3.Error as problem:
            raise SettingsError(f"SQLite does not take that: {problem}", cure="correct the SQL") from None
        return tuple(each[0] for each in cursor.description or ()), found

    def rows(
        self, view: str, columns: Mapping[str, str], by: Sequence[str], wanted: Mapping[str, Any] | None
    ) -> list[Row]:
        named = ", ".join(map(_quoted, columns))
        where = " AND ".join(f"{_quoted(name)} IS ?" for name in wanted or ())
        order = ", ".join(map(_quoted, by))
        sql = (
            f"SELECT {named} FROM {_quoted(view)}"  # noqa: S608 - quoted
            + (f" WHERE {where}" if where else "")
            + (f" ORDER BY {order}" if order else "")
        )
        found = self.ask(sql, [*(wanted or {}).values()])
        kinds = tuple(columns.values())
        return [tuple(map(_value, row, kinds)) for row in found]

    def changes(self, after: int) -> list[Row]:
        return self.ask(f"{_CHANGES} WHERE number > ? ORDER BY number", [after])

    def last_change(self) -> int:
        found = self.ask("SELECT seq FROM sqlite_sequence WHERE name = 'headrace_changes'")
        return int(found[0][0]) if found else 0

    def wait(self) -> None:
        time.sleep(_WAIT_SECONDS)


def _value(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "TRUTH":
        return bool(value)
    if kind == "NESTED":
        return json.loads(value)
    return value


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
