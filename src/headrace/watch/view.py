"""Views read while a pipeline writes them: whole, by key, by SQL, and followed."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from headrace.declare.postgres import Address
from headrace.errors import RunError, SettingsError
from headrace.watch import view_postgres, view_sqlite
from headrace.watch.view_store import Session, Store


@dataclass(frozen=True)
class Change:
    """What became of a row: `value` is None when it is gone."""

    epoch: int
    key: Mapping[str, Any]
    value: Mapping[str, Any] | None


@dataclass(frozen=True)
class Found:
    """A view: the store that it is in, its key, and how its columns are kept."""

    store: Store
    name: str
    key: tuple[str, ...]
    columns: Mapping[str, str]

    @property
    def pipeline(self) -> str:
        """Whose view it is."""
        return self.store.pipeline


@dataclass(frozen=True)
class Answer:
    """Rows, and the epoch that they are the rows of."""

    epoch: int
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


def all_views(place: Path | Address, pipeline: str | None = None) -> list[Found]:
    """Return the views in a folder of stores or in a database, those of one pipeline if it is named."""
    found = []
    stores = view_postgres.stores(place) if isinstance(place, Address) else view_sqlite.stores(place)
    for store in stores:
        if pipeline is not None and store.pipeline != pipeline:
            continue
        with store.session() as session:
            rows = session.ask('SELECT name, "key", columns FROM headrace_views ORDER BY name')
        for name, key, columns in rows:
            found.append(Found(store, name, tuple(json.loads(key)), json.loads(columns)))
    return found


def find(place: Path | Address, view: str, pipeline: str | None = None) -> Found:
    """Return a view by its name."""
    known = all_views(place, pipeline)
    fits = [each for each in known if each.name.lower() == view.lower()]
    if len(fits) > 1:
        pipelines = " and ".join(each.pipeline for each in fits)
        raise SettingsError(f"the pipelines {pipelines} have a view {view!r}", cure="name one: --pipeline")
    if not fits:
        near = get_close_matches(view, [each.name for each in known], 1)
        listed = ", ".join(each.name for each in known)
        raise SettingsError(
            f"there is no view {view!r} in {place}",
            cure=f"did you mean {near[0]!r}?"
            if near
            else f"there are: {listed}"
            if listed
            else "run a pipeline that delivers to View(...), or set views.store to where it does",
        )
    return fits[0]


def rows(view: Found, key: str | None = None) -> Answer:
    """Return the view's rows as they are now, or the one of a key."""
    wanted = None if key is None else _key(view, key)
    with view.store.session() as session, session.snapshot():
        epoch = _epoch(session)
        found = session.rows(view.name, view.columns, view.key, wanted)
    return Answer(epoch, tuple(view.columns), found)


def ask(view: Found, sql: str) -> Answer:
    """Answer SQL about the store of a view, all of one epoch; nothing can be written by it."""
    with view.store.session() as session, session.snapshot():
        epoch = _epoch(session)
        columns, found = session.answer(sql)
    return Answer(epoch, columns, found)


def follow(view: Found, key: str | None = None) -> Generator[Change, None, None]:
    """Yield the rows as they are, then every change of them, epoch by epoch, until the caller has enough.

    Who reads so slowly that changes are no longer kept is told so.
    """
    wanted = None if key is None else _key(view, key)
    with view.store.session(following=True) as session:
        with session.snapshot():
            epoch, last = _epoch(session), session.last_change()
            found = session.rows(view.name, view.columns, view.key, wanted)
        for row in found:
            value = dict(zip(view.columns, row, strict=True))
            yield Change(epoch, {name: value[name] for name in view.key}, value)
        while True:
            with session.snapshot():
                [(first,)] = session.ask("SELECT min(number) FROM headrace_changes")
                changes = session.changes(last)
            if first is not None and first > last + 1:
                raise RunError(
                    f"the view {view.name!r} changes faster than it is followed: changes are gone unread",
                    cure="follow it again, or follow a single key",
                )
            for number, epoch, name, of, value in changes:
                last = number
                changed = json.loads(of)
                if name == view.name and (wanted is None or _same(changed, wanted)):
                    yield Change(epoch, changed, None if value is None else json.loads(value))
            if not changes:
                session.wait()


def _epoch(session: Session) -> int:
    found = session.ask("SELECT epoch FROM headrace_history")
    return int(found[0][0]) if found else -1


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
