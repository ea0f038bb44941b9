"""Tables from Kafka to Kafka: tombstones on both sides, exactly once, over restarts."""

import uuid
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource
from pyspark.sql import SparkSession

from headrace import F, Kafka, Pipeline, Topic
from headrace.run import query
from headrace.run import settings as all_settings
from tests.run.broker import SECONDS, Broker
from tests.tables.on_spark import Item

AT = "2026-01-01T00:00:00Z"


def row(key: str, group: str | None, value: int) -> tuple[str, dict[str, Any]]:
    return key, {"k": key, "g": group, "v": value, "at": AT}


@pytest.mark.stack
def test_a_compacted_topic_becomes_compacted_topics(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    broker, topic = Broker(kafka), f"items-{uuid.uuid4().hex[:8]}"
    table = Topic(topic, Item, key="k", compacted=True, partitions=2).table(name="items")
    groups = table.group_by("g").agg(n=F.count("*"), total=F.sum("v"))
    pipeline = Pipeline(
        topic,
        rows=table.select("k", "v").to(Kafka(f"{topic}.rows")),
        groups=groups.to(Kafka(f"{topic}.groups")),
        whole=table.agg(n=F.count("*")).to(Kafka(f"{topic}.whole")),
    )
    settings = all_settings.load(
        {"kafka.bootstrap": kafka, "checkpoint": str(tmp_path), "state.groups": 4}, tmp_path
    )
    broker.create(topic)

    def epoch(*sent: tuple[str, dict[str, Any] | None]) -> None:
        broker.send_keyed((topic, key, value) for key, value in sent)
        running = query.start(pipeline, settings, until="caught up", spark=spark)
        assert running.wait(120)
        running.finish()

    epoch(row("a", "x", 1), row("b", "x", 2), row("c", None, 4))
    assert latest(broker, f"{topic}.groups") == {
        b"x": {"g": "x", "n": 2, "total": 3},
        b'{"g":null}': {"g": None, "n": 1, "total": 4},
    }
    epoch(row("a", "y", 1), ("c", None))
    assert latest(broker, f"{topic}.groups") == {
        b"x": {"g": "x", "n": 1, "total": 2},
        b"y": {"g": "y", "n": 1, "total": 1},
        b'{"g":null}': None,
    }
    assert latest(broker, f"{topic}.rows") == {b"a": {"k": "a", "v": 1}, b"b": {"k": "b", "v": 2}, b"c": None}
    epoch(("a", None), ("b", None))
    assert set(latest(broker, f"{topic}.groups").values()) == {None}
    assert latest(broker, f"{topic}.whole") == {b"{}": None}
    before = len(broker.read(f"{topic}.rows"))
    epoch(("a", None))
    assert len(broker.read(f"{topic}.rows")) == before, "a second tombstone changes nothing"
    assert {policy(kafka, f"{topic}.{name}") for name in ("rows", "groups", "whole")} == {"compact"}


def latest(broker: Broker, topic: str) -> dict[bytes | None, Any]:
    """Return the last value of each key; a key is in one partition only."""
    return {key: value for _, _, key, value in broker.read(topic)}


def policy(address: str, topic: str) -> str:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    admin = AdminClient({"bootstrap.servers": address})
    [asked] = admin.describe_configs([resource]).values()
    return str(asked.result(SECONDS)["cleanup.policy"].value)
