"""Rows that cannot be used leave with a reason, and the pipeline goes on."""

import base64
import uuid
from datetime import datetime
from pathlib import Path

import pytest
from confluent_kafka import Message, Producer
from pyspark.sql import SparkSession

from headrace import Bounded, F, HeadraceError, Kafka, Pipeline, Topic, Tumbling, record
from headrace.run import query, settings
from headrace.testing import Harness
from headrace.testing.values import encode
from tests.pipeline.shop import at, batch, panes, pipeline, sale, sales
from tests.run.broker import Broker

DEADLINE_SECONDS = 300

DAMAGES: dict[str, tuple[object, str]] = {
    "broken": (b'{"id": "1", "shop": ', "not JSON"),
    "empty": (b"", "empty"),
    "not an object": (b"[1, 2]", "not a JSON object"),
    "no field": ({"id": "1", "shop": "a", "price": "1", "at": at(1)}, "field pieces: missing"),
    "null field": (sale(1, 1) | {"shop": None}, "field shop: null"),
    "wrong type": (sale(1, 1) | {"pieces": "many"}, "field pieces: expected"),
    "too large": (sale(1, 1) | {"pieces": 2**63}, "does not fit"),
    "too precise": (sale(1, 1) | {"price": "1.005"}, "does not fit decimal(10,2)"),
    "no time": (sale(1, 1) | {"at": None}, "at"),
    "bad time": (sale(1, 1) | {"at": "yesterday"}, "field at: expected timestamp"),
    "future": (sale(1, 1) | {"at": "2190-01-01T00:00:00Z"}, "ahead of the clock"),
    "not UTF-8": (b'{"id": "\xff\xfe"}', "UTF-8"),
    "trailing": (b'{"id": "1"} {', ""),
    "tombstone": (None, "null value"),
}


@pytest.mark.stack
def test_a_tenth_of_a_topic_of_ten_thousand_rows_is_damaged_in_many_ways(
    spark: SparkSession, kafka: str, tmp_path: Path
) -> None:
    broker = Broker(kafka)
    topic = f"damaged-{uuid.uuid4().hex[:8]}"
    good = [sale(number, number / 100, shop=f"s{number % 7}") for number in range(9_000)]
    kinds = list(DAMAGES)
    rows: list[tuple[str | None, object]] = []
    for number, row in enumerate(good):
        rows.append((None, row))
        if number % 9 == 0:
            kind = kinds[number // 9 % len(kinds)]
            rows.append((kind, DAMAGES[kind][0]))
    assert len(rows) == 10_000
    broker.create(topic, 2)
    damaged = _produce(broker, topic, rows)
    stream = sales(topic=topic, lag="1 minute")
    shown = pipeline(stream, name=topic, prefix=f"{topic}.")
    chosen = settings.load({"kafka.bootstrap": kafka, "checkpoint": str(tmp_path)}, tmp_path)
    running = query.start(shown, chosen, until="drained", spark=spark)
    assert running.wait(DEADLINE_SECONDS)
    running.finish()
    rejected = {(row["partition"], row["offset"]): row for row in broker.values(f"{topic}.rejected")}
    assert rejected.keys() == damaged.keys()
    assert len(broker.values(f"{topic}.rejected")) == 1_000
    for position, row in rejected.items():
        kind, raw = damaged[position]
        assert row["topic"] == topic
        assert row["step"] == stream.port.node.name
        assert (None if row["value"] is None else base64.b64decode(row["value"])) == raw, kind
        assert base64.b64decode(row["key"]) == kind.encode()
        assert DAMAGES[kind][1] in row["reason"], (kind, row["reason"])
    assert len({kind for kind, _ in damaged.values()}) == len(DAMAGES)
    assert _panes(broker, topic) == batch(good)
    assert not broker.values(f"{topic}.late")


def _panes(broker: Broker, topic: str) -> dict[tuple[str, int], tuple[int, int]]:
    rows = broker.values(f"{topic}.panes")
    return panes({**row, "window": {"start": datetime.fromisoformat(row["window"]["start"])}} for row in rows)


def _produce(
    broker: Broker, topic: str, rows: list[tuple[str | None, object]]
) -> dict[tuple[int, int], tuple[str, bytes | None]]:
    """Write the rows, the damaged ones by kind as key; return where Kafka put those, and their bytes."""
    damaged: dict[tuple[int, int], tuple[str, bytes | None]] = {}

    def delivered(error: object, message: Message) -> None:
        assert error is None, error
        if message.key() is not None:
            damaged[message.partition(), message.offset()] = (message.key().decode(), message.value())

    producer = Producer({"bootstrap.servers": broker.address, "enable.idempotence": True})
    for number, (kind, row) in enumerate(rows):
        producer.produce(
            topic, encode(row), None if kind is None else kind.encode(), number % 2, on_delivery=delivered
        )
        producer.poll(0)
    assert producer.flush(DEADLINE_SECONDS) == 0
    return damaged


@record
class Reading:
    sensor: str
    text: str
    value: int
    at: datetime


readings = Topic("readings", Reading, time="at").stream(watermark=Bounded("1 second"))


@F.udf("int")
def half(value: int) -> int:
    if value % 2:
        raise ValueError(f"{value} is odd")
    return value // 2


def reading(value: int, text: str = "1", seconds: float = 1) -> dict[str, object]:
    return {"sensor": "s", "text": text, "value": value, "at": at(seconds)}


def test_expressions_that_fail_reject_their_row_alone(spark: SparkSession) -> None:
    parsed = readings.with_columns(
        name="parsed", number=F.col("text").cast("int"), doubled=F.col("value") * 4_000_000_000
    )
    halved = parsed.with_columns(name="halved", half=half("value"))
    windows = (
        halved.key_by("sensor")
        .window("ratio", Tumbling("10 seconds"))
        .agg(n=F.count("*"), ratio=F.max(F.lit(12) / F.col("number")))
    )
    checked = windows.with_columns(name="checked", inverse=F.lit(1) / (F.col("n") - 2))
    pipeline = Pipeline(
        "failing",
        panes=checked.to(Kafka("panes")),
        rejected=readings.rejected.to(Kafka("rejected")),
    )
    with Harness(pipeline, spark) as harness:
        harness.feed(
            "readings",
            reading(2),
            reading(4, text="x"),
            reading(2**62),
            reading(3),
            reading(6, text="0"),
            reading(8, text="3"),
            reading(8, seconds=11),
        )
        out = harness.drain()
        steps = {row["step"]: row["reason"] for row in harness.rows("rejected")}
        assert set(steps) == {"parsed", "halved", "ratio", "checked"}
        assert "3 is odd" in steps["halved"]
        assert "DIVIDE_BY_ZERO" in steps["ratio"]
        assert "DIVIDE_BY_ZERO" in steps["checked"]
        assert [row["offset"] for row in harness.rows("rejected") if row["step"] == "parsed"] == [1, 2]
        assert [row["n"] for row in out["panes"]] == [1]


def test_on_error_fail_stops_the_pipeline_with_the_reason(spark: SparkSession) -> None:
    strict = Topic("readings", Reading, time="at", on_error="fail").stream(watermark=Bounded("1 second"))
    with Harness(Pipeline("strict", all=strict.to(Kafka("all"))), spark) as harness:
        harness.feed("readings", reading(1))
        assert len(harness.run()["all"]) == 1
        harness.feed("readings", b"{")
        with pytest.raises(HeadraceError, match="step readings of topic readings failed: not JSON"):
            harness.run()
