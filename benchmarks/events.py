"""The events that everything is measured on, and what must come out of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headrace import record

PARTITIONS = 2
WINDOW = timedelta(seconds=10)
LAG = timedelta(seconds=2)
SPAN = timedelta(minutes=20)
CARDS = 100_000
AMOUNTS = 1_000
START = datetime(2026, 1, 1, tzinfo=UTC)
QUIET = {"log_level": 3}
"""Of a Kafka client: errors are told, retries are not."""
_QUEUED = 200_000


@record
class Event:
    """A card was used."""

    card: str
    amount: int
    at: datetime


@dataclass(frozen=True)
class Filled:
    """A topic with events, and the right answers to what is asked about them."""

    topic: str
    events: int
    panes: int
    total: int
    dear: int


def fill(bootstrap: str, topic: str, count: int, *, seed: int = 1) -> Filled:
    """Fill a new topic: `count` events of 20 minutes, out of order by less than the watermark's lag.

    Event i is in partition i % 2, so that two partitions read at one speed keep one time: Spark's watermark
    is global and would drop what a lagging partition brings, and then there were two answers to compare.
    The last event of each partition is so late that its watermark closes all windows but its own.
    """
    cards, amounts, millis = made(count, seed=seed)
    spread = np.arange(count) % PARTITIONS
    span, lag = (int(each / timedelta(milliseconds=1)) for each in (SPAN, LAG))
    window = int(WINDOW / timedelta(milliseconds=1))
    panes = int(np.unique(millis // window * CARDS + cards).size)
    create(bootstrap, topic)
    filler = _Filler(bootstrap, topic)
    for partition, card, amount, at in zip(
        spread.tolist(), cards.tolist(), amounts.tolist(), millis.tolist(), strict=True
    ):
        filler.send(partition, card, amount, at)
    for partition in range(PARTITIONS):
        filler.send(partition, partition, AMOUNTS, span + 2 * window + lag)
    filler.flush()
    # The closing events stay in open windows, and are dear enough for the filter.
    dear = int((amounts >= AMOUNTS // 2).sum()) + PARTITIONS
    return Filled(topic, count + PARTITIONS, panes, int(amounts.sum()), dear)


def made(count: int, *, seed: int = 1) -> tuple[Any, Any, Any]:
    """Return the cards, the amounts and the milliseconds of the events, the closing ones aside."""
    random = np.random.default_rng(seed)
    # A card has one partition, as if its key had chosen it.
    cards = random.integers(0, CARDS // PARTITIONS, count) * PARTITIONS + np.arange(count) % PARTITIONS
    amounts = random.integers(0, AMOUNTS, count)
    span, lag = (int(each / timedelta(milliseconds=1)) for each in (SPAN, LAG))
    return cards, amounts, np.arange(count) * span // count + random.integers(0, lag, count)


def create(bootstrap: str, topic: str) -> None:
    """Create a topic."""
    # Held until the answer is here: a client that is collected gives none.
    admin = AdminClient({"bootstrap.servers": bootstrap, **QUIET})
    [made] = admin.create_topics([NewTopic(topic, PARTITIONS)]).values()
    made.result()


def message(card: int, amount: int, at: str) -> bytes:
    """Return an event as it is in the topic."""
    return b'{"card":"card-%06d","amount":%d,"at":"%s"}' % (card, amount, at.encode())


class _Filler:
    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic = topic
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                **QUIET,
                # Without it a batch that is sent again comes after the next one, and its events are late.
                "enable.idempotence": True,
                "linger.ms": 50,
                "batch.size": 256 << 10,
                "queue.buffering.max.messages": 2 * _QUEUED,
            }
        )
        self._seconds: dict[int, str] = {}
        self._sent = 0

    def send(self, partition: int, card: int, amount: int, millis: int) -> None:
        second, rest = divmod(millis, 1000)
        text = self._seconds.get(second)
        if text is None:
            text = self._seconds[second] = (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S")
        value = message(card, amount, f"{text}.{rest:03d}Z")
        self._producer.produce(self._topic, value, key=b"card-%06d" % card, partition=partition)
        self._sent += 1
        if self._sent % _QUEUED == 0:
            self.flush()

    def flush(self) -> None:
        if self._producer.flush(120):
            raise RuntimeError(f"the broker does not take the events of {self._topic}")
