"""Topics on the tests' broker: filled, and read as a consumer of results reads them."""

import json
import time
import uuid
from collections.abc import Iterable
from itertools import cycle
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

SECONDS = 60


class Broker:
    def __init__(self, address: str) -> None:
        self.address = address
        self._admin = AdminClient({"bootstrap.servers": address})

    def create(self, topic: str, partitions: int = 2, **config: str) -> None:
        made = self._admin.create_topics([NewTopic(topic, partitions, 1, config=config)])
        made[topic].result(SECONDS)
        self._known(topic, partitions)

    def grow(self, topic: str, partitions: int) -> None:
        self._admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(SECONDS)
        self._known(topic, partitions)

    def _known(self, topic: str, partitions: int) -> None:
        """Wait until the broker has learned what the controller made; before that, clients find nothing."""
        deadline = time.monotonic() + SECONDS
        while len(self.partitions(topic)) < partitions:
            assert time.monotonic() < deadline, f"{topic} is not known to the broker"
            time.sleep(0.02)

    def send(self, topic: str, rows: Iterable[Any], partition: int | None = None) -> None:
        """Rows go in turn to the topic's partitions, so that a test does not depend on where a client
        happens to put rows without a key, and in the order in which they are given."""
        producer = Producer({"bootstrap.servers": self.address, "enable.idempotence": True})
        places = cycle([partition] if partition is not None else self.partitions(topic))
        for row, place in zip(rows, places, strict=False):
            value = row if isinstance(row, bytes | None) else json.dumps(row).encode()
            producer.produce(topic, value, partition=place)
        assert producer.flush(SECONDS) == 0, f"{topic} does not take its rows"

    def send_keyed(self, sent: Iterable[tuple[str, str, Any]]) -> None:
        """Messages of topic, key and row (None for a tombstone) go where their keys say."""
        producer = Producer({"bootstrap.servers": self.address, "enable.idempotence": True})
        for topic, key, row in sent:
            producer.produce(topic, None if row is None else json.dumps(row).encode(), key.encode())
        assert producer.flush(SECONDS) == 0

    def partitions(self, topic: str) -> list[int]:
        told = self._admin.list_topics(topic, SECONDS).topics[topic].partitions
        return sorted(number for number, one in told.items() if one.leader >= 0)

    def read(self, topic: str) -> list[tuple[int, int, bytes | None, Any]]:
        """All committed records: partition, offset, key, value."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": str(uuid.uuid4()),
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "enable.auto.commit": False,
            }
        )
        found = []
        try:
            partitions = consumer.list_topics(topic, SECONDS).topics[topic].partitions
            consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in partitions])
            left = set(partitions)
            while left:
                message = consumer.poll(SECONDS)
                assert message is not None, f"{topic} could not be read to its end"
                if message.error() is not None:
                    left.discard(message.partition())
                    continue
                value = message.value()
                told = None if value is None else json.loads(value, parse_float=str)
                found.append((message.partition(), message.offset(), message.key(), told))
        finally:
            consumer.close()
        return found

    def values(self, topic: str) -> list[Any]:
        return [value for *_, value in self.read(topic)]
