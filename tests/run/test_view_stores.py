"""What is read from a store of views: the same from a file and from a database."""

import json
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.cli import exit_code_of
from headrace.errors import RunError, SettingsError
from headrace.plan.kernel import Kernel
from headrace.run import settings
from headrace.run.postgres import connect, for_jvm
from headrace.watch import view as views

KINDS = {
    "id": "TEXT",
    "whole": "WHOLE",
    "number": "NUMBER",
    "decimal": "DECIMAL",
    "truth": "TRUTH",
    "time": "TIME",
    "nested": "NESTED",
    "100% ?": "WHOLE",
}
ROWS: list[dict[str, Any]] = [
    {"id": None, "whole": None, "number": None, "decimal": None, "truth": None, "time": None, "nested": None},
    {"id": "B", "whole": 2**63 - 1, "number": 0.1, "decimal": 1.5, "truth": True, "100% ?": 1},
    {"id": "a", "whole": -1, "number": "NaN", "decimal": 2, "truth": False, "nested": [{"z": 1, "a": None}]},
    {"id": "it's", "number": "-Infinity", "time": "2026-01-01T00:00:00.000Z", "nested": {"b": "x", "a": 1}},
    {"id": "ä", "number": 1e300, "time": "2026-01-01", "nested": "text"},
]
BIG = '{"id":"big","decimal":12345678901234567890.123456789}'


class Writer:
    """The kernel's store, written to without a pipeline."""

    def __init__(self, kernel: Kernel, place: str, pipeline: str) -> None:
        self.place, self.pipeline = settings.load({"views.store": place}), pipeline
        store = self.place.views_of(pipeline)
        columns = [{"name": name, "kind": kind} for name, kind in KINDS.items()]
        described: dict[str, Any] = {
            "place": str(store),
            "views": [{"ordinal": 0, "name": "kinds", "key": ["id"], "columns": columns}],
        }
        if not isinstance(store, Path):
            described["connection"] = for_jvm(store, "the views")
        text = json.dumps({"pipeline": pipeline, "checkpoint": "c", "views": described})
        self._jvm: Any = kernel.jvm
        parsed = self._jvm.headrace.view.ViewSpec.parse(
            self._jvm.com.fasterxml.jackson.databind.ObjectMapper().readTree(text)
        )
        self._store = self._jvm.headrace.view.ViewStore(parsed)
        self._store.adopt()
        self._epoch = -1

    def put(self, *rows: str) -> None:
        self._write([(json.dumps({"id": json.loads(row)["id"]}), row) for row in rows])

    def delete(self, key: str) -> None:
        self._write([(json.dumps({"id": key}), None)])

    def _write(self, changes: list[tuple[str, str | None]]) -> None:
        told = self._jvm.java.util.ArrayList()
        for key, row in changes:
            value = None if row is None else row.encode()
            told.add(self._jvm.headrace.view.Change(0, key.encode(), value))
        self._epoch += 1
        assert self._store.apply(self._epoch, told)

    def view(self) -> views.Found:
        return views.find(self.place.views, "kinds", self.pipeline)

    def close(self) -> None:
        self._store.close()


@pytest.fixture
def writer(spark: SparkSession, postgres: str, tmp_path: Path) -> Callable[[str], Any]:
    """Make a writer to either store."""

    @contextmanager
    def make(kind: str) -> Iterator[Writer]:
        place = str(tmp_path / "views") if kind == "sqlite" else postgres
        made = Writer(Kernel(spark), place, f"kinds-{uuid.uuid4().hex[:8]}")
        try:
            yield made
        finally:
            made.close()

    return make


def answers(view: views.Found) -> Iterator[Any]:
    yield views.rows(view)
    for key in ("a", "it's", "nobody", "%s", "?"):
        yield views.rows(view, key)
    for key in ("-1", "none of its type", "99999999999999999999"):
        yield views.rows(replace(view, key=("whole",)), key)
    for sql in (
        "SELECT count(*) AS n, sum(decimal) AS d FROM kinds WHERE id < 'b'",
        "SELECT max(whole), min(time) FROM kinds",
        'SELECT "100% ?" FROM kinds WHERE "100% ?" % 2 = 1',
    ):
        yield views.ask(view, sql).rows
    followed = views.follow(view)
    yield [next(followed) for _ in views.rows(view).rows]


def test_both_stores_give_the_same_answers(writer: Callable[[str], Any]) -> None:
    given = {}
    for kind in ("sqlite", "postgres"):
        with writer(kind) as store:
            store.put(*map(json.dumps, ROWS), BIG)
            store.put(json.dumps(ROWS[1]))
            store.delete("big")
            store.put(BIG)
            # As text: 1 and 1.0 are not the same to who reads JSON.
            given[kind] = [repr(each) for each in answers(store.view())]
            found = {row[0]: row for row in views.rows(store.view()).rows}
    assert given["sqlite"] == given["postgres"]
    assert [*found] == [None, "B", "a", "big", "it's", "ä"]
    assert found["big"][3] == "12345678901234567890.123456789"
    assert found["a"] == ("a", -1, "NaN", 2.0, False, None, [{"z": 1, "a": None}], None)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_follower_is_told_every_change_and_readers_cannot_write(
    writer: Callable[[str], Any], kind: str
) -> None:
    with writer(kind) as store, ThreadPoolExecutor() as pool:
        store.put('{"id":"x","whole":1}')
        told = views.follow(store.view(), "x")
        first = next(told)
        assert (first.epoch, first.value and first.value["whole"]) == (0, 1)
        waiting = pool.submit(lambda: [next(told) for _ in range(2)])
        store.put('{"id":"y","whole":5}')
        store.put('{"id":"x","whole":2}')
        store.delete("x")
        changed, gone = waiting.result(30)
        assert (changed.epoch, changed.value and changed.value["whole"]) == (2, 2)
        assert (gone.epoch, gone.key, gone.value) == (3, {"id": "x"}, None)
        told.close()
        for sql in (
            "DELETE FROM kinds",
            "COMMIT; DELETE FROM kinds",
            "WITH gone AS (DELETE FROM kinds RETURNING id) SELECT * FROM gone",
            "no SQL",
        ):
            with pytest.raises((SettingsError, RunError)):
                views.ask(store.view(), sql)
        assert len(views.rows(store.view()).rows) == 1


def test_a_user_who_may_not_write_reads(
    writer: Callable[[str], Any], postgres: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with writer("postgres") as store:
        store.put('{"id":"x","whole":1}')
        reader = f"reader_{uuid.uuid4().hex[:8]}"
        address = store.place.views
        with connect(address, "the test's views") as owner:
            owner.execute(f"CREATE ROLE {reader} LOGIN PASSWORD 'readers own'")
        asks = postgres.replace("headrace@", f"{reader}:readers%20own@")
        place = settings.load({"views.store": asks}).views
        assert views.all_views(place, store.pipeline) == []
        with connect(address, "the test's views") as owner:
            owner.execute(f'GRANT USAGE ON SCHEMA "{store.pipeline}" TO {reader}')
            owner.execute(f'GRANT SELECT ON ALL TABLES IN SCHEMA "{store.pipeline}" TO {reader}')
        capfd.readouterr()
        assert exit_code_of(["query", "kinds", "--pipeline", store.pipeline, "--store", asks, "--json"]) == 0
        assert json.loads(capfd.readouterr().out)["whole"] == 1
        assert exit_code_of(["query", "nothing", "--store", asks]) == SettingsError.exit_code
        assert "readers" not in capfd.readouterr().err.replace(reader, "")
        with connect(address, "the test's views") as owner:
            owner.execute(f"DROP OWNED BY {reader}")
            owner.execute(f"DROP ROLE {reader}")


def test_a_file_that_a_pipeline_is_about_to_make_a_store_is_none_yet(tmp_path: Path) -> None:
    (tmp_path / "begun.db").touch()
    assert views.all_views(tmp_path) == []
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE something (n)")
    with pytest.raises(RunError, match="no store of views"):
        views.all_views(tmp_path)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("postgresql://u:hunter2@h:x/db", "postgresql://user@host:port/database"),
        ("postgresql:///db", "postgresql://user@host:port/database"),
        ("postgresql://u:hunter2@h", "postgresql://user@host:port/database"),
        ("postgresql://u:hunter2@h/db?password=hunter2", "no user or password among the options"),
        ("postgresql://u:hunter2@h/db?connectTimeout=1", "no other options than sslmode"),
        ("hdfs://u:hunter2@h/db", "a folder of the driver's machine"),
    ],
)
def test_an_address_that_is_none_is_refused_and_not_shown(place: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why) as refused:
        settings.load({"views.store": place})
    assert "hunter2" not in str(refused.value)


def test_an_address_is_told_without_its_password() -> None:
    place = "postgres://me:hunter2@[::1]/db%20one?sslmode=require"
    found = settings.load({"views.store": place}).views
    assert str(found) == "postgresql://me@[::1]:5432/db%20one"
    assert "hunter2" not in repr(found)
