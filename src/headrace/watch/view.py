"""Views read while a pipeline writes them: whole, by key, by SQL, and followed."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from headrace.errors import RunError, SettingsError

_WAIT_SECONDS = 0.05
_BUSY_SECONDS = 10


@dataclass(frozen=True)
class Change:
    """What became of a row: `value` is None when it is gone."""

    epoch: int
    key: Mapping[str, Any]
    value: Mapping[str, Any] | None


@dataclass(frozen=True)
class Found:
    """A view: the file that it is in, its key, and how its columns are kept."""

    file: Path
    name: str
    key: tuple[str, ...]
    columns: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """Rows, and the epoch that they are the rows of."""

    epoch: int
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


def all_views(folder: Path, pipeline: str | None = None) -> list[Found]:
    """Return the views in a folder of stores, those of one pipeline if it is named."""
    found = []
    for file in sorted(folder.glob("*.db")):
        if pipeline is not None and file.stem != pipeline:
            continue
        with closing(_open(file)) as store:
            rows = _ask(store, file, 'SELECT name, "key", columns FROM headrace_views ORDER BY name')
        for name, key, columns in rows:
            found.append(Found(file, name, tuple(json.loads(key)), json.loads(columns)))
    return found


def find(folder: Path, view: str, pipeline: str | None = None) -> Found:
    """Return a view by its name."""
    known = all_views(folder, pipeline)
    fits = [each for each in known if each.name.lower() == view.lower()]
    if len(fits) > 1:
        pipelines = " and ".join(each.file.stem for each in fits)
        raise SettingsError(f"the pipelines {pipelines} have a view {view!r}", cure="name one: --pipeline")
    if not fits:
        near = get_close_matches(view, [each.name for each in known], 1)
        listed = ", ".join(each.name for each in known)
        raise SettingsError(
            f"there is no view {view!r} in {folder}",
            cure=f"did you mean {near[0]!r}?"
            if near
            else f"there are: {listed}"
            if listed
            else "run a pipeline that delivers to View(...), or set views.store to where it does",
        )
    return fits[0]


def rows(view: Found, key: str | None = None) -> Answer:
    """Return the view's rows as they are now, or the one of a key."""
    where, values = ("", []) if key is None else _where(view, key)
    columns = ", ".join(map(_quoted, view.columns))
    by = f" ORDER BY {', '.join(map(_quoted, view.key))}" if view.key else ""
    answer = ask(view, f"SELECT {columns} FROM {_quoted(view.name)}{where}{by}", values)  # noqa: S608
    kinds = tuple(view.columns.values())
    made = [tuple(map(_value, row, kinds)) for row in answer.rows]
    return Answer(answer.epoch, answer.columns, made)


def ask(view: Found, sql: str, values: Sequence[Any] = ()) -> Answer:
    """Answer SQL about the store of a view, all of one epoch; nothing can be written by it."""
    with closing(_open(view.file)) as store:
        store.execute("BEGIN")
        epoch = _epoch(store, view)
        try:
            cursor = store.execute(sql, values)
            fetched = cursor.fetchall()
        except sqlite3.Error as problem:
            raise SettingsError(f"SQLite does not take that: {problem}", cure="correct the SQL") from None
        columns = tuple(each[0] for each in cursor.description or ())
    return Answer(epoch, columns, fetched)


def follow(view: Found, key: str | None = None) -> Iterator[Change]:
    """Yield the rows as they are, then every change of them, epoch by epoch, until the caller has enough.

    Who reads so slowly that changes are no longer kept is told so.
    """
    wanted = None if key is None else _key(view, key)
    with closing(_open(view.file)) as store:
        store.execute("BEGIN")
        epoch, last = _epoch(store, view), _last(store, view)
        store.execute("COMMIT")
        # Between the two another epoch may have come: its changes are told once more, which changes nothing.
        answer = rows(view, key)
        for row in answer.rows:
            value = dict(zip(answer.columns, row, strict=True))
            yield Change(epoch, {name: value[name] for name in view.key}, value)
        while True:
            store.execute("BEGIN")
            first = _ask(store, view.file, "SELECT min(number) FROM headrace_changes")[0][0]
            changes = _ask(
                store,
                view.file,
                'SELECT number, epoch, view, "key", value FROM headrace_changes'
                " WHERE number > ? ORDER BY number",
                (last,),
            )
            store.execute("COMMIT")
            if first is not None and first > last + 1:
                raise RunError(
                    f"the view {view.name!r} changes faster than it is followed: changes are gone unread",
                    cure="follow it again, or follow a single key",
                )
            for number, epoch, name, of, value in changes:
                last = number
                found = json.loads(of)
                if name == view.name and (wanted is None or _same(found, wanted)):
                    yield Change(epoch, found, None if value is None else json.loads(value))
            if not changes:
                time.sleep(_WAIT_SECONDS)


def _open(file: Path) -> sqlite3.Connection:
    try:
        store = sqlite3.connect(
            f"{file.resolve().as_uri()}?mode=ro",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        store.execute("PRAGMA query_only = ON")
    except sqlite3.Error as problem:
        raise RunError(f"the store of views {file} cannot be read: {problem}") from None
    return store


def _ask(store: sqlite3.Connection, file: Path, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    try:
        return store.execute(sql, values).fetchall()
    except sqlite3.Error as problem:
        raise RunError(
            f"{file} is no store of views, or is damaged: {problem}", cure="look at the setting views.store"
        ) from None


def _epoch(store: sqlite3.Connection, view: Found) -> int:
    found = _ask(store, view.file, "SELECT epoch FROM headrace_history")
    return int(found[0][0]) if found else -1


def _last(store: sqlite3.Connection, view: Found) -> int:
    found = _ask(store, view.file, "SELECT seq FROM sqlite_sequence WHERE name = 'headrace_changes'")
    return int(found[0][0]) if found else 0


def _where(view: Found, key: str) -> tuple[str, list[Any]]:
    wanted = _key(view, key)
    return " WHERE " + " AND ".join(f"{_quoted(name)} IS ?" for name in view.key), [
        wanted[name] for name in view.key
    ]


def _key(view: Found, key: str) -> dict[str, Any]:
    """Return a key's columns: of one column its text, of several a JSON object."""
    if len(view.key) == 1:
        return {view.key[0]: key}
    try:
        given = json.loads(key)
    except json.JSONDecodeError:
        given = None
    if not isinstance(given, dict) or set(given) != set(view.key):
        shown = json.dumps(dict.fromkeys(view.key, "..."))
        raise SettingsError(f"the key of {view.name!r} has {len(view.key)} columns", cure=f"--key '{shown}'")
    return given


def _same(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(str(found.get(name)) == str(value) for name, value in wanted.items())


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
