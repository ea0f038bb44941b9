"""Views: the newest row of each key in a store that is read while it is written, each epoch whole."""

import json
import os
import shutil
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql
from pyspark.sql import SparkSession

from headrace import Bounded, CheckpointError, DeclarationError, F, Global, Kafka, Pipeline, Topic, View
from headrace.cli import exit_code_of
from headrace.declare.trigger import AfterCount
from headrace.errors import PlanError, RunError, SettingsError
from headrace.local.process import until
from headrace.local.stack import Stack
from headrace.run import query, reset
from headrace.run import settings as all_settings
from headrace.run.postgres import connect
from headrace.run.settings import Settings
from headrace.watch import view as views
from tests.pipeline.shop import Sale, sale
from tests.run.broker import Broker


class Sold:
    """A pipeline that keeps a view of what each shop has sold so far."""

    def __init__(self, spark: SparkSession, kafka: str, folder: Path, name: str, store: str) -> None:
        self.spark = spark
        self.broker = Broker(kafka)
        self.folder = folder
        self.name = name
        self.store = store
        self.broker.create(name)

    @property
    def settings(self) -> Settings:
        return all_settings.load(
            {
                "kafka.bootstrap": self.broker.address,
                "checkpoint": str(self.folder / "checkpoints"),
                "views.store": self.store,
                "state.groups": 8,
            },
            self.folder,
        )

    def pipeline(self, **more: Any) -> Pipeline:
        sales = Topic(self.name, Sale, key="shop", time="at").stream(
            watermark=Bounded("2 seconds"), name="sales"
        )
        so_far = (
            sales.key_by("shop")
            .window("so-far", Global(), trigger=AfterCount(1))
            .agg(sales=F.count("*"), pieces=F.sum("pieces"), takings=F.sum("price"))
        )
        kept = so_far.select("shop", "sales", "pieces", "takings", **more)
        return Pipeline(
            self.name,
            sold=kept.to(View("sold", key="shop")),
            also=kept.to(Kafka(f"{self.name}.also", key="shop")),
        )

    def run(self, pipeline: Pipeline | None = None) -> None:
        running = query.start(pipeline or self.pipeline(), self.settings, until="caught up", spark=self.spark)
        assert running.wait(120), "the run did not end"
        running.finish()

    def view(self, name: str) -> views.Found:
        return views.find(self.settings.views, name, self.name)

    def rows(self) -> dict[str, tuple[int, int]]:
        answer = views.rows(self.view("sold"))
        return {row[0]: (row[1], row[2]) for row in answer.rows}


in_a_file = pytest.mark.parametrize("sold", ["sqlite"], indirect=True)
"""For tests of what a store is told, which is the same for each; what stores do is tested by the kernel's."""
in_postgres = pytest.mark.parametrize("sold", ["postgres"], indirect=True)


@pytest.fixture(params=["sqlite", "postgres"])
def sold(
    request: Any, spark: SparkSession, kafka: str, postgres: str, tmp_path: Path
) -> Callable[[str], Sold]:
    """Make such a pipeline, with its views in either store."""
    store = str(tmp_path / "views") if request.param == "sqlite" else postgres

    def make(name: str) -> Sold:
        return Sold(spark, kafka, tmp_path, f"{name}-{request.param}", store)

    return make


@in_a_file
def test_a_view_holds_the_newest_row_of_each_key_over_restarts(sold: Callable[[str], Sold]) -> None:
    here = sold("sold-restarts")
    here.broker.send(here.name, [sale(n, n, shop=f"s{n % 3}", pieces=2) for n in range(30)])
    here.run()
    assert here.rows() == {f"s{shop}": (10, 20) for shop in range(3)}
    here.broker.send(here.name, [sale(30, 30, shop="s1", pieces=5)])
    here.run()
    assert here.rows() == {"s0": (10, 20), "s1": (11, 25), "s2": (10, 20)}
    found = here.view("sold")
    [row] = views.rows(found, "s1").rows
    assert row[:3] == ("s1", 11, 25)
    assert views.rows(found, "nobody").rows == []
    total = views.ask(found, "SELECT sum(sales) AS n FROM sold")
    assert (total.columns, total.rows) == (("n",), [(31,)])


def test_an_epoch_that_was_committed_is_not_taken_again(sold: Callable[[str], Sold]) -> None:
    here = sold("sold-again")
    here.broker.send(here.name, [sale(n, n, shop="s0") for n in range(4)])
    here.run()
    before = here.rows()
    # As after a kill between the views' commit and the checkpoint's.
    commits = here.folder / "checkpoints" / here.name / "commits"
    last = max(int(commit.name.split("_")[0]) for commit in commits.glob("[0-9]*"))
    for commit in [*commits.glob(f"{last}*"), *commits.glob(f".{last}*")]:
        commit.unlink()
    changes = _changes(here)
    here.run()
    assert here.rows() == before
    assert _changes(here) == changes, "a replayed epoch was told to followers twice"


def _changes(here: Sold) -> int:
    [(count,)] = views.ask(here.view("sold"), "SELECT count(*) FROM headrace_changes").rows
    return int(count)


def lose(here: Sold) -> None:
    """Let somebody take the views away."""
    place = here.settings.views_of(here.name)
    if isinstance(place, Path):
        place.unlink()
        return
    with connect(place, "the test's views") as connection:
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(here.name)))


def test_another_history_is_asked_about_and_reset_empties_the_view(sold: Callable[[str], Sold]) -> None:
    here = sold("sold-histories")
    here.broker.send(here.name, [sale(n, n, shop="s0") for n in range(4)])
    here.run()
    shutil.rmtree(here.folder / "checkpoints")
    with pytest.raises(CheckpointError, match="another history"):
        here.run()
    done = reset.reset(here.pipeline(), here.settings, "replace")
    assert done["pipeline"] == here.name
    assert views.all_views(here.settings.views, here.name) == []
    here.run()
    assert here.rows()["s0"][0] == 4
    lose(here)
    with pytest.raises(CheckpointError, match="are gone"):
        here.run()


@in_a_file
def test_columns_may_be_added_and_not_taken_away(sold: Callable[[str], Sold]) -> None:
    here = sold("sold-columns")
    here.broker.send(here.name, [sale(1, 1, shop="s0")])
    here.run()
    here.broker.send(here.name, [sale(2, 2, shop="s0")])
    here.run(here.pipeline(mean=F.col("pieces") / F.col("sales")))
    [row] = views.rows(here.view("sold")).rows
    assert row[-1] == pytest.approx(row[2] / row[1])
    with pytest.raises(Exception, match="another shape"):
        here.run()


def test_a_view_is_followed(sold: Callable[[str], Sold]) -> None:
    here = sold("sold-followed")
    here.broker.send(here.name, [sale(1, 1, shop="s0")])
    here.run()
    found = here.view("sold")
    told = views.follow(found)
    first = next(told)
    assert (first.key, first.value and first.value["sales"]) == ({"shop": "s0"}, 1)
    with ThreadPoolExecutor() as reader:
        waiting = reader.submit(next, told)
        here.broker.send(here.name, [sale(2, 2, shop="s0")])
        here.run()
        assert here.rows()["s0"][0] == 2
        second = waiting.result(60)
    assert (second.key, second.value and second.value["sales"]) == ({"shop": "s0"}, 2)
    assert first.epoch < second.epoch


def test_the_command_reads_a_view(sold: Callable[[str], Sold], capfd: pytest.CaptureFixture[str]) -> None:
    here = sold("sold-command")
    here.broker.send(here.name, [sale(n, n, shop=f"s{n}") for n in range(2)])
    here.run()
    capfd.readouterr()
    store = ["--store", str(here.settings.views), "--pipeline", here.name]
    assert exit_code_of(["query", "sold", *store, "--json"]) == 0
    shown = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [(row["shop"], row["sales"]) for row in shown] == [("s0", 1), ("s1", 1)]
    assert exit_code_of(["query", "sold", *store, "--key", "s1"]) == 0
    assert "s1" in capfd.readouterr().out
    assert exit_code_of(["query", *store]) == 0
    assert f"sold  by shop  of {here.name}" in capfd.readouterr().out
    assert exit_code_of(["query", "solt", *store]) == SettingsError.exit_code
    assert "did you mean 'sold'?" in capfd.readouterr().err
    assert exit_code_of(["query", "sold", *store, "--sql", "DROP TABLE sold"]) != 0
    assert here.rows() == {"s0": (1, here.rows()["s0"][1]), "s1": (1, here.rows()["s1"][1])}


@in_a_file
def test_a_table_is_shown_as_it_is_after_every_epoch(sold: Callable[[str], Sold]) -> None:
    here = sold("sold-table")
    last = (
        Topic(here.name, Sale, key="shop", time="at")
        .stream(watermark=Bounded("2 seconds"), name="sales")
        .latest("last", by="id")
    )
    shops = last.group_by("shop").agg(sales=F.count("*"), pieces=F.sum("pieces"))
    pipeline = Pipeline(
        here.name, sold=shops.to(View("sold")), whole=shops.agg(shops=F.count("*")).to(View("whole"))
    )
    here.broker.send(here.name, [sale(1, 1, shop="s0", pieces=2), sale(2, 1, shop="s1", pieces=3)])
    here.run(pipeline)
    assert here.rows() == {"s0": (1, 2), "s1": (1, 3)}
    # A sale that moves to another shop leaves its old one empty, which is deleted in the same epoch.
    here.broker.send(here.name, [sale(1, 2, shop="s1", pieces=4)])
    here.run(pipeline)
    assert here.rows() == {"s1": (2, 7)}
    whole = here.view("whole")
    assert whole.key == ()
    assert views.rows(whole).rows == [(1,)]
    more = Pipeline(here.name, again=shops.to(View("again")), **pipeline.deliveries)
    with pytest.raises(CheckpointError, match="has rows already"):
        here.run(more)
    # There is nothing but views to begin anew.
    reset.reset(pipeline, here.settings, "replace")
    assert views.all_views(here.settings.views, here.name) == []
    here.run(more)
    assert here.rows() == {"s1": (2, 7)}


@in_postgres
def test_a_server_that_is_killed_while_a_pipeline_runs_loses_and_doubles_nothing(
    sold: Callable[[str], Sold], postgres_stack: Stack, tmp_path: Path
) -> None:
    here = sold("sold-killed")
    secret = Path(os.environ["PGPASSFILE"]).read_text().strip().rpartition(":")[2]
    here.broker.send(here.name, [sale(n, n, shop=f"s{n % 3}", pieces=2) for n in range(30)])
    running = query.start(here.pipeline(), here.settings, spark=here.spark)
    try:
        assert until(lambda: sum(row[0] for row in here.rows().values()) == 30, within=60)
        os.kill(postgres_stack.status()["postgres"].pid, 9)
        here.broker.send(here.name, [sale(n, n, shop=f"s{n % 3}", pieces=2) for n in range(30, 60)])
        postgres_stack.up(["postgres"])
        assert until(lambda: sum(row[0] for row in here.rows().values()) == 60, within=60)
        assert running.active()
    finally:
        running.stop()
    assert here.rows() == {f"s{shop}": (20, 40) for shop in range(3)}
    # Each epoch told each shop once.
    told = views.ask(here.view("sold"), 'SELECT epoch, "key" FROM headrace_changes').rows
    assert len(told) == len(set(told))
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or secret not in file.read_bytes().decode("utf-8", "replace"), file


@in_postgres
def test_a_server_that_lets_nobody_in_is_told_before_a_row_is_read(
    sold: Callable[[str], Sold], postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = sold("sold-refused")
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    with pytest.raises(RunError, match="password authentication failed") as refused:
        here.run()
    assert "PGPASSFILE" in refused.value.cure
    here.store = "postgresql://headrace:hunter2@127.0.0.1:1/headrace"
    with pytest.raises(RunError, match=r"headrace@127\.0\.0\.1:1/headrace cannot be reached") as away:
        here.run()
    here.store = postgres
    name = "n" * 64
    with pytest.raises(PlanError, match="more than 63 bytes"):
        here.run(here.pipeline(**{name: F.col("pieces")}))
    for problem in (refused.value, away.value):
        assert "hunter2" not in "".join(traceback.format_exception(problem))
    assert "hunter2" not in repr(here.settings.views)


def test_what_a_view_refuses() -> None:
    stream = Topic("t", Sale, time="at").stream()
    with pytest.raises(DeclarationError, match="has no key"):
        stream.to(View("sold"))
    with pytest.raises(DeclarationError, match="no name for a view"):
        View("headrace_views", key="shop")
    with pytest.raises(DeclarationError, match="names a column twice"):
        stream.to(View("sold", key=["shop", "shop"]))
    with pytest.raises(DeclarationError, match='did you mean "shop"'):
        stream.to(View("sold", key="shpo"))
    with pytest.raises(DeclarationError, match="are one view"):
        Pipeline("p", a=stream.to(View("sold", key="shop")), b=stream.to(View("Sold", key="id")))
