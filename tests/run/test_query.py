"""Pipelines run on a real Kafka: exactly once, from where they stopped, refused where history is unclear."""

import base64
import json
import random
import shutil
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from headrace import (
    Bounded,
    CheckpointError,
    F,
    HeadraceError,
    Kafka,
    Pipeline,
    RunError,
    SettingsError,
    Stream,
    Topic,
)
from headrace.run import query, reset, session
from headrace.run import settings as all_settings
from headrace.run.settings import Settings
from tests.deliver.waiting import SECONDS, until
from tests.pipeline.shop import START, Sale, batch, per_shop, sale
from tests.run.broker import Broker


class Shop:
    """A pipeline of its own topics, started and restarted."""

    def __init__(self, spark: SparkSession, broker: Broker, folder: Path, **topic: Any) -> None:
        self.spark = spark
        self.broker = broker
        self.folder = folder
        self.topic = f"sales-{uuid.uuid4().hex[:8]}"
        self.topic_options = topic
        self.name = self.topic
        self.changed: dict[str, Any] = {}

    @property
    def settings(self) -> Settings:
        return all_settings.load(
            {
                "kafka.bootstrap": self.broker.address,
                "checkpoint": str(self.folder),
                "state.groups": 8,
                **self.changed,
            },
            self.folder,
        )

    def source(self) -> Stream:
        topic = Topic(self.topic, Sale, key="shop", time="at", **self.topic_options)
        return topic.stream(watermark=Bounded("2 seconds", idle="1 second"), name="sales")

    def pipeline(self, window: str = "per-shop", **sizes: str) -> Pipeline:
        stream = self.source()
        windows = per_shop(stream, window, **sizes)
        return Pipeline(
            self.name,
            panes=windows.to(Kafka(f"{self.topic}.panes", key="shop")),
            big=windows.where(F.col("sales") > 3).to(Kafka(f"{self.topic}.big")),
            late=windows.late.to(Kafka(f"{self.topic}.late")),
            all=stream.to(Kafka(f"{self.topic}.all", key="shop")),
        )

    def run(self, pipeline: Pipeline | None = None, until: query.Until = "caught up") -> list[dict[str, Any]]:
        running = query.start(pipeline or self.pipeline(), self.settings, until=until, spark=self.spark)
        lines: list[dict[str, Any]] = []
        try:
            assert running.wait(SECONDS), "the run did not end"
            # Spark tells of the last epoch after its commit, and the query may have ended by then.
            lines += running.last_progress(SECONDS)
        finally:
            if running.active():
                running.stop()
        running.finish()
        return lines

    def panes(self) -> dict[tuple[str, int], tuple[int, int]]:
        rows = self.broker.values(f"{self.topic}.panes")
        found = {}
        for row in rows:
            start = datetime.fromisoformat(row["window"]["start"])
            key = (row["shop"], int((start - START).total_seconds()))
            assert key not in found, "a window was delivered twice"
            found[key] = (row["sales"], row["pieces"])
        return found


@pytest.fixture
def shop(spark: SparkSession, kafka: str, tmp_path: Path) -> Callable[..., Shop]:
    def make(**topic: Any) -> Shop:
        return Shop(spark, Broker(kafka), tmp_path, **topic)

    return make


def test_a_topic_is_read_once_and_results_are_delivered_once(shop: Callable[..., Shop]) -> None:
    here = shop()
    rows = [sale(number, number / 10, shop=f"s{number % 5}") for number in range(500)]
    here.broker.create(here.topic)
    here.broker.send(here.topic, rows)
    first = here.run()
    assert sum(line["rows_in"] for line in first) == len(rows)
    assert sum(line["delivered"]["all"] for line in first) == len(rows)
    assert sum(line["rows_in"] for line in here.run()) == 0
    last = here.run(until="drained")
    assert sum(line["rows_in"] for line in last) == 0
    assert here.panes() == batch(rows)
    assert len(here.broker.values(f"{here.topic}.big")) == len([1 for n, _ in batch(rows).values() if n > 3])
    assert sorted(int(row["id"]) for row in here.broker.values(f"{here.topic}.all")) == list(range(500))
    with pytest.raises(CheckpointError, match="drained"):
        here.run()


def test_hot_keys_are_told_with_every_epoch_and_hidden_where_that_is_asked(shop: Callable[..., Shop]) -> None:
    here = shop()
    rows = [
        sale(number, number / 100, shop="hot" if number % 10 < 3 else f"s{number % 97}")
        for number in range(2_000)
    ]
    here.broker.create(here.topic)
    here.broker.send(here.topic, rows)
    [hot] = [told for line in here.run() for told in line["hot_keys"]]
    assert (hot["step"], hot["key"]) == ("per-shop", {"shop": "hot"})
    assert hot["share"] == pytest.approx(0.3, abs=0.05)
    here.broker.send(here.topic, rows)
    here.changed = {"metrics.keys": False}
    [hidden] = [told for line in here.run() for told in line["hot_keys"]]
    assert set(hidden) == {"step", "share"}


def test_the_columns_of_a_delivered_row(shop: Callable[..., Shop]) -> None:
    here = shop()
    here.broker.create(here.topic, 1)
    here.broker.send(here.topic, [sale(1, 1.183999, shop="x")])
    here.run(until="drained")
    [(_, _, key, value)] = here.broker.read(f"{here.topic}.all")
    assert key == b"x"
    assert value == {
        "id": "1",
        "shop": "x",
        "pieces": 1,
        "price": "9.99",
        "at": "2026-01-01T00:00:01.183999Z",
    }


def test_a_deleted_checkpoint_is_asked_about_and_reset_answers(shop: Callable[..., Shop]) -> None:
    here = shop()
    rows = [sale(number, number) for number in range(40)]
    here.broker.create(here.topic)
    here.broker.send(here.topic, rows)
    here.run()
    before = here.panes()
    assert before
    shutil.rmtree(here.folder / here.name)
    with pytest.raises(CheckpointError, match="results of another history") as caught:
        here.run()
    assert "headrace reset" in str(caught.value)
    assert here.panes() == before
    done = reset.reset(here.pipeline(), here.settings, "replace")
    assert done["deleted"][f"{here.topic}.all"] >= 40
    here.run(until="drained")
    assert here.panes() == batch(rows)


def test_a_start_that_is_refused_leaves_the_running_one_alone(
    shop: Callable[..., Shop], tmp_path: Path
) -> None:
    here = shop()
    here.broker.create(here.topic)
    here.broker.send(here.topic, [sale(1, 1)])
    running = query.start(here.pipeline(), here.settings, spark=here.spark)
    try:
        until(lambda: len(here.broker.values(f"{here.topic}.all")) == 1)
        here.folder = tmp_path / "elsewhere"
        with pytest.raises(CheckpointError, match="results of another history"):
            here.run()
        here.broker.send(here.topic, [sale(2, 2)])
        until(lambda: len(here.broker.values(f"{here.topic}.all")) == 2)
        assert running.active()
    finally:
        running.stop()


def test_the_first_exactly_once_delivery_of_an_old_checkpoint(shop: Callable[..., Shop]) -> None:
    here = shop()
    here.broker.create(here.topic)
    here.broker.send(here.topic, [sale(1, 1)])
    stream = here.source()
    plain = {"all": stream.to(Kafka(f"{here.topic}.all", guarantee="at-least-once"))}
    here.run(Pipeline(here.name, **plain))
    here.broker.send(here.topic, [sale(2, 2)])
    both = Pipeline(here.name, **plain, more=stream.to(Kafka(f"{here.topic}.more")))
    here.run(both)
    assert {row["id"] for row in here.broker.values(f"{here.topic}.all")} == {"1", "2"}
    assert [row["id"] for row in here.broker.values(f"{here.topic}.more")] == ["2"]
    here.run(both)


def test_a_reset_that_is_refused_leaves_everything_as_it_was(shop: Callable[..., Shop]) -> None:
    here = shop()
    here.broker.create(here.topic)
    here.broker.create(f"{here.topic}.late", 2, **{"cleanup.policy": "compact"})
    here.broker.send(here.topic, [sale(1, 1)])
    here.run()
    with pytest.raises(HeadraceError, match="is compacted"):
        reset.reset(here.pipeline(), here.settings, "replace")
    here.broker.send(here.topic, [sale(2, 2)])
    here.run()
    assert sorted(row["id"] for row in here.broker.values(f"{here.topic}.all")) == ["1", "2"]


def test_a_reset_shuts_out_whoever_still_runs(shop: Callable[..., Shop]) -> None:
    here = shop()
    here.broker.create(here.topic)
    here.broker.send(here.topic, [sale(1, 1)])
    running = query.start(here.pipeline(), here.settings, spark=here.spark)
    try:
        until(lambda: len(here.broker.values(f"{here.topic}.all")) == 1)
        reset.reset(here.pipeline(), here.settings, "append")
        here.broker.send(here.topic, [sale(2, 2)])
        with pytest.raises(HeadraceError):
            running.wait(SECONDS)
    finally:
        running.stop()
    assert len(here.broker.values(f"{here.topic}.all")) == 1


def test_reset_gets_out_of_a_lost_manifest_and_another_size(
    shop: Callable[..., Shop], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = shop()
    rows = [sale(number, number) for number in range(40)]
    here.broker.create(here.topic)
    here.broker.send(here.topic, rows)
    monkeypatch.setenv("HEADRACE_STATE_PARTITIONS", "3")
    here.run()
    monkeypatch.setenv("HEADRACE_STATE_PARTITIONS", "2")
    (here.folder / here.name / "headrace" / "manifest.json").write_text("{")
    with pytest.raises(CheckpointError, match="damaged"):
        here.run()
    stream = here.source()
    twice = Pipeline(
        here.name,
        all=stream.to(Kafka(f"{here.topic}.all")),
        again=stream.where(F.col("pieces") > 1).to(Kafka(f"{here.topic}.all")),
    )
    done = reset.reset(twice, here.settings, "replace")
    assert done["deleted"][f"{here.topic}.all"] >= 40
    reset.reset(here.pipeline(), here.settings, "replace")
    here.run(until="drained")
    assert here.panes() == batch(rows)


def test_a_reset_that_is_refused_has_removed_nothing(shop: Callable[..., Shop]) -> None:
    here = shop()
    here.broker.create(here.topic)
    here.broker.create(f"{here.topic}.panes", 2, **{"cleanup.policy": "compact"})
    here.broker.send(here.topic, [sale(1, 1)])
    here.run()
    manifest = here.folder / here.name / "headrace" / "manifest.json"
    before = manifest.read_text()
    with pytest.raises(HeadraceError, match="is compacted"):
        reset.reset(here.pipeline(), here.settings, "replace")
    assert manifest.read_text() == before
    here.run()


def test_renamed_and_swapped_steps_are_refused_before_spark_starts(
    shop: Callable[..., Shop], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = shop()
    here.broker.create(here.topic)
    here.broker.send(here.topic, [sale(1, 1)])
    here.run()
    monkeypatch.setattr(session, "start", lambda *_, **__: pytest.fail("a session was started"))
    with pytest.raises(CheckpointError, match="'per-shop' is gone and step 'renamed' looks like it"):
        query.start(here.pipeline("renamed"), here.settings)
    with pytest.raises(CheckpointError, match="step 'per-shop': its window was") as caught:
        query.start(here.pipeline(size="20 seconds"), here.settings)
    assert "shop.py:" in str(caught.value)
    here.run()


def test_a_first_start_that_fails_pins_nothing(
    shop: Callable[..., Shop], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = shop()
    here.broker.create(here.topic)
    here.broker.send(here.topic, [sale(1, 1)])
    with monkeypatch.context() as patched:
        patched.setattr(query, "_start", lambda *_, **__: pytest.fail("the start fails"))
        with pytest.raises(pytest.fail.Exception):
            here.run(here.pipeline("mistyped"))
    here.run(here.pipeline("corrected"))


def drained_by_hand(here: Shop) -> Path:
    """Drain a checkpoint, and take back what is written after the last epoch was logged."""
    here.broker.create(here.topic)
    here.broker.send(here.topic, [sale(number, number) for number in range(40)])
    here.run(until="drained")
    folder = here.folder / here.name
    manifest = folder / "headrace" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"finished": true', '"finished": false'))
    return folder


def test_a_run_killed_before_it_marked_the_checkpoint_has_finished_it(shop: Callable[..., Shop]) -> None:
    here = shop()
    folder = drained_by_hand(here)
    with pytest.raises(CheckpointError, match="it was drained"):
        here.run()
    assert '"finished": true' in (folder / "headrace" / "manifest.json").read_text()


def test_a_run_killed_in_the_epoch_that_ends_time_is_finished_by_draining(shop: Callable[..., Shop]) -> None:
    here = shop()
    folder = drained_by_hand(here)
    last = max(int(each.name) for each in (folder / "commits").iterdir() if each.name.isdigit())
    (folder / "commits" / str(last)).unlink()
    (folder / "commits" / f".{last}.crc").unlink(missing_ok=True)
    with pytest.raises(CheckpointError, match="was interrupted") as caught:
        here.run()
    assert "--drain" in str(caught.value)
    here.run(until="drained")
    assert here.panes() == batch([sale(number, number) for number in range(40)])
    with pytest.raises(CheckpointError, match="it was drained"):
        here.run()


@pytest.mark.parametrize("master", ["yarn", "spark://host:7077"])
def test_a_local_checkpoint_is_refused_on_a_cluster(
    shop: Callable[..., Shop], tmp_path: Path, master: str
) -> None:
    here = shop()
    given = {"spark.master": master, "checkpoint": "mine"}
    with pytest.raises(SettingsError, match="lies on this machine"):
        query.precheck(here.pipeline(), all_settings.load(given, tmp_path))
    query.precheck(here.pipeline(), all_settings.load({**given, "checkpoint": "file:/shared"}, tmp_path))
    query.precheck(
        here.pipeline(), all_settings.load({**given, "spark.master": "local-cluster[2,1,1024]"}, tmp_path)
    )


def test_a_compatible_change_goes_on(shop: Callable[..., Shop]) -> None:
    here = shop()
    rows = [sale(number, number / 4) for number in range(40)]
    here.broker.create(here.topic)
    here.broker.send(here.topic, rows[:20])
    here.run()
    # A new stateful step in the layer, a new stateless one, a new delivery.
    stream = here.source().where(F.col("pieces") > 0)
    more = Pipeline(
        here.name,
        minutes=per_shop(stream, "minutes", "1 minute").to(Kafka(f"{here.topic}.minutes")),
        panes=per_shop(stream).with_columns(new=F.lit(1)).to(Kafka(f"{here.topic}.panes", key="shop")),
    )
    here.broker.send(here.topic, rows[20:])
    here.run(more, until="drained")
    assert here.panes() == batch(rows)
    [minute] = here.broker.values(f"{here.topic}.minutes")
    assert minute["sales"] == 20


def test_partitions_added_while_running_are_read(shop: Callable[..., Shop]) -> None:
    here = shop()
    here.broker.create(here.topic, 1)
    here.broker.send(here.topic, [sale(1, 1)], partition=0)
    here.run()
    here.broker.grow(here.topic, 3)
    here.broker.send(here.topic, [sale(2, 2)], partition=2)
    here.run(until="drained")
    assert {row["id"] for row in here.broker.values(f"{here.topic}.all")} == {"1", "2"}


def test_rows_of_aborted_transactions_are_not_read(shop: Callable[..., Shop]) -> None:
    here = shop()
    here.broker.create(here.topic, 1)
    writer = Producer({"bootstrap.servers": here.broker.address, "transactional.id": here.topic})
    writer.init_transactions(30)
    for number, end in enumerate((writer.commit_transaction, writer.abort_transaction) * 2):
        writer.begin_transaction()
        writer.produce(here.topic, json.dumps(sale(number, number)).encode())
        writer.flush(30)
        end(30)
    here.run(until="drained")
    assert sorted(row["id"] for row in here.broker.values(f"{here.topic}.all")) == ["0", "2"]


def test_a_bad_row_that_is_too_large_to_be_delivered_whole_stops_nothing(shop: Callable[..., Shop]) -> None:
    here = shop()
    here.broker.create(here.topic, 1)
    bad = b"{" + random.Random(1).randbytes(900_000)
    here.broker.send(here.topic, [bad, sale(1, 1)])
    stream = here.source()
    out = {name: Kafka(f"{here.topic}.{name}") for name in ("all", "rejected")}
    here.run(Pipeline(here.name, all=stream.to(out["all"]), rejected=stream.rejected.to(out["rejected"])))
    assert [row["id"] for row in here.broker.values(f"{here.topic}.all")] == ["1"]
    [rejected] = here.broker.values(f"{here.topic}.rejected")
    left = base64.b64decode(rejected["value"])
    assert len(left) > 700_000
    assert bad.startswith(left)
    assert "too large to be delivered whole" in rejected["reason"]


def test_a_start_at_a_time_leaves_out_what_was_before(shop: Callable[..., Shop]) -> None:
    here = shop(start=START + timedelta(days=3650))
    here.broker.create(here.topic, 1)
    here.broker.send(here.topic, [sale(1, 1)])
    here.run()
    assert not here.broker.values(f"{here.topic}.all")


def test_a_missing_topic_is_created_only_when_asked(
    shop: Callable[..., Shop], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = shop()
    monkeypatch.setenv("HEADRACE_KAFKA_CREATE_TOPICS", "false")
    with pytest.raises(HeadraceError, match=here.topic):
        here.run()
    monkeypatch.setenv("HEADRACE_KAFKA_CREATE_TOPICS", "true")
    here.run()


def test_a_failed_run_says_why(shop: Callable[..., Shop]) -> None:
    here = shop(on_error="fail")
    here.broker.create(here.topic, 1)
    here.broker.send(here.topic, [b"{"])
    with pytest.raises(RunError, match="not JSON") as caught:
        here.run()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
