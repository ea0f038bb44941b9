"""What a test of delivery holds: a pipeline's topics, its epochs, and a reader of what arrived."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from tests.deliver.packing import packed
from tests.deliver.waiting import SECONDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Pair = tuple[bytes | None, bytes | None]


@dataclass(frozen=True)
class Delivering:
    """One pipeline with an outlet `alerts` and a counted outlet `late`, in topics of its own."""

    spark: SparkSession
    kafka: str
    pipeline: str
    checkpoint: str = "first"
    guarantee: str = "exactly-once"
    partitions: int = 2
    timeout_ms: int = 60_000
    options: dict[str, str] = field(default_factory=dict)

    @property
    def topic(self) -> str:
        return f"{self.pipeline}.alerts"

    @property
    def markers(self) -> str:
        return f"headrace.{self.pipeline}.epochs"

    @property
    def jvm(self) -> Any:
        jvm: Any = self.spark._jvm
        return jvm.headrace.deliver

    def but(self, **changes: Any) -> Delivering:
        return replace(self, **changes)

    def clients(self) -> dict[str, str]:
        return {"bootstrap.servers": self.kafka, **self.options}

    def spec(self, epoch: int = -1) -> str:
        return json.dumps(
            {
                "pipeline": self.pipeline,
                "checkpoint": self.checkpoint,
                "epoch": epoch,
                "partitions": self.partitions,
                "markerTopic": self.markers,
                "outlets": [
                    {
                        "ordinal": 0,
                        "name": "alerts",
                        "kind": "kafka",
                        "topic": self.topic,
                        "guarantee": self.guarantee,
                    },
                    {"ordinal": 1, "name": "late", "kind": "dropped"},
                ],
                "clients": self.clients(),
                "transactionTimeoutMs": self.timeout_ms,
            }
        )

    def create(self) -> None:
        """Makes the topics; nobody's history is in them yet."""
        topics = self.jvm.Topics(self.clients())
        topics.ensure(self.topic, 1, 1, {}, True)
        topics.ensureMarkers(self.markers, self.partitions, 1, True)
        topics.close()

    def rows(self, tasks: list[list[bytes]]) -> DataFrame:
        """Rows that stand in the given tasks in the given order."""
        listed = [(task, at, row) for task, rows in enumerate(tasks) for at, row in enumerate(rows)]
        frame = self.spark.createDataFrame(listed, "task int, at int, packed binary")
        return frame.repartitionById(self.partitions, "task").sortWithinPartitions("at")

    def deliver(self, epoch: int, *tasks: list[str], late: int = 0) -> dict[str, Any]:
        """Sends the texts as alerts, each task its own list; the first task counts some late rows too."""
        rows = [[packed((text.encode(), text.encode()), None) for text in texts] for texts in tasks]
        rows += [[] for _ in range(self.partitions - len(rows))]
        rows[0] += [packed(None, (None, b"late"))] * late
        return self.send(epoch, self.rows(rows))

    def send(self, epoch: int, frame: DataFrame) -> dict[str, Any]:
        answer = self.jvm.Delivery.deliverJson(frame.select("packed")._jdf, self.spec(epoch))
        told: dict[str, Any] = json.loads(answer)
        return told

    def fence(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.jvm.Histories.fence(self.spec()))
        return told

    def look(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.jvm.Histories.look(self.spec()))
        return told

    def adopt(self) -> None:
        self.jvm.Histories.adopt(self.spec())

    def read(self, topic: str | None = None, *, committed: bool = True) -> list[Pair]:
        """All records of a one-partition topic, in order, up to its end as that reader sees it."""
        return read(self.kafka, topic or self.topic, committed=committed)

    def texts(self, *, committed: bool = True) -> list[str]:
        return [(value or b"").decode() for _, value in self.read(committed=committed)]


def read(kafka: str, topic: str, *, committed: bool) -> list[Pair]:
    consumer = Consumer(
        {
            "bootstrap.servers": kafka,
            "group.id": f"reader-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed" if committed else "read_uncommitted",
        }
    )
    found: list[Pair] = []
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is None:
                continue
            error: Any = message.error()
            if error is not None:
                assert error.name() == "_PARTITION_EOF", error
                return found
            found.append((message.key(), message.value()))
    finally:
        consumer.close()
    raise AssertionError(f"{topic} was not read to its end")


@pytest.fixture
def delivering(spark: SparkSession, kafka: str) -> Delivering:
    made = Delivering(spark, kafka, f"p{uuid.uuid4().hex[:8]}")
    made.create()
    made.adopt()
    return made
