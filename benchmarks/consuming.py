"""Reading a topic of results, and only what was committed."""

from __future__ import annotations

import time
from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError, TopicPartition

from benchmarks.events import PARTITIONS, QUIET


def consumer(bootstrap: str, topic: str) -> Consumer:
    """Return a consumer of all partitions from their beginning, without a group."""
    reader = Consumer(
        {
            "bootstrap.servers": bootstrap,
            **QUIET,
            "group.id": "headrace-bench",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 100,
        }
    )
    reader.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    return reader


def consume(bootstrap: str, topic: str, seconds: float) -> Iterator[bytes]:
    """Yield the values that a topic has now."""
    reader = consumer(bootstrap, topic)
    ended: set[int] = set()
    until = time.monotonic() + seconds
    try:
        while len(ended) < PARTITIONS:
            if time.monotonic() > until:
                raise TimeoutError(f"reading {topic} took more than {seconds:.0f} s")
            for got in reader.consume(10_000, 0.2):
                failure = got.error()
                if failure is None:
                    yield got.value() or b""
                elif failure.code() == KafkaError._PARTITION_EOF:
                    ended.add(got.partition() or 0)
                else:
                    raise RuntimeError(f"{topic}: {failure}")
    finally:
        reader.close()
