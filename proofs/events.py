"""Events out of order, too late, sent twice and broken, and the topic that they are in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headrace import record

if TYPE_CHECKING:
    from collections.abc import Callable

PARTITIONS = 4
START = datetime(2026, 1, 1, tzinfo=UTC)

OUT_OF_ORDER = 0.20
"""So many events are sent after others that happened later."""
DELAY = timedelta(minutes=2)
"""By so much at most."""
TOO_LATE = 0.01
"""So many are sent when the windows that wait longest do not wait for them any more."""
LEAST_DELAY, MOST_DELAY = timedelta(minutes=6), timedelta(minutes=30)
"""By so much; the least is more than a window, its lateness, the watermark's lag and two epochs."""
SENT_TWICE = 0.08
"""Of those out of order so many have the id of an earlier event, sent up to a minute before."""
TWICE_WITHIN, TWICE_APART = timedelta(minutes=1), timedelta(seconds=2)
BROKEN = 0.0002
EPOCH = timedelta(seconds=36)
"""Event time that one epoch's rows are of; less than the delay, so that rows come after a first pane."""
WITHOUT_WATERMARK = 6 * EPOCH
"""In the beginning there is no watermark, and nothing is late."""
FLUSHED = 200_000
QUIET = {"log_level": 3}
"""Of a Kafka client: errors are told, retries are not."""

_MICROS = timedelta(microseconds=1)


@record
class Event:
    """A card was used. `number` is the event's own, `id` is shared by those sent twice."""

    number: int
    id: int
    card: str
    amount: int
    at: datetime


@dataclass(frozen=True)
class Size:
    """How many events, over how long."""

    events: int
    span: timedelta

    @property
    def cards(self) -> int:
        """So many that one has an event every six seconds."""
        return max(10, round(6 * self.events / self.span.total_seconds()))

    @property
    def rows_per_epoch(self) -> int:
        """Rows that happened in one epoch."""
        return round(self.events * (EPOCH / self.span))


@dataclass(frozen=True)
class Made:
    """The events as arrays, by number; `late` are those that must be late, `broken` cannot be read."""

    id: Any
    card: Any
    amount: Any
    at: Any
    out_of_order: Any
    late: Any
    broken: Any


def make(size: Size, seed: int) -> Made:
    """Make the events; their numbers are in the order in which they are sent."""
    random = np.random.default_rng(seed)
    count = size.events
    numbers = np.arange(count)
    sent = numbers * (size.span // _MICROS) // count
    drawn = random.random(count)
    share = TOO_LATE / (1 - WITHOUT_WATERMARK / size.span)
    late = (drawn < share) & (sent > WITHOUT_WATERMARK // _MICROS)
    moved = drawn >= 1 - OUT_OF_ORDER
    at = sent.copy()
    at[moved] -= random.integers(1, DELAY // _MICROS, int(moved.sum()))
    at[late] -= random.integers(LEAST_DELAY // _MICROS, MOST_DELAY // _MICROS, int(late.sum()))
    card = random.integers(0, size.cards, count)
    amount = random.integers(0, 1_000, count)
    broken = random.random(count) < BROKEN
    id_ = numbers.copy()
    back = random.integers(1, max(2, round(count * (TWICE_WITHIN / size.span))), count)
    first = np.maximum(numbers - back, 0)
    # The first one was in order itself: what repeats it is out of order by little more than a minute.
    again = moved & (random.random(count) < SENT_TWICE) & (numbers >= back) & ~moved[first] & ~late[first]
    id_[again] = first[again]
    card[again] = card[first[again]]
    apart = TWICE_APART // _MICROS
    at[again] = at[first[again]] + random.integers(-apart, apart + 1, int(again.sum()))
    return Made(id_, card, amount, at + int(START.timestamp()) * 1_000_000, moved, late, broken)


def send(bootstrap: str, topic: str, made: Made, note: Callable[[str], None]) -> None:
    """Fill a new topic; event i is in partition i % 4."""
    # Held until the answer is here: a client that is collected gives none.
    admin = AdminClient({"bootstrap.servers": bootstrap, **QUIET})
    [created] = admin.create_topics([NewTopic(topic, PARTITIONS)]).values()
    created.result(60)
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            **QUIET,
            # Without it a batch that is sent again comes after the next one.
            "enable.idempotence": True,
            "linger.ms": 50,
            "batch.size": 256 << 10,
            "queue.buffering.max.messages": 2 * FLUSHED,
        }
    )
    columns = (made.id, made.card, made.amount, made.at, made.broken)
    count = len(made.id)
    for begin in range(0, count, FLUSHED):
        end = min(count, begin + FLUSHED)
        # The text of a time is the dearest part of a message, and numpy makes many at once.
        times = np.datetime_as_string(made.at[begin:end].astype("datetime64[us]"))
        lists = (each[begin:end].tolist() for each in columns[:3])
        rest = zip(*lists, times.tolist(), made.broken[begin:end].tolist(), strict=True)
        for number, (id_, card, amount, at, broken) in enumerate(rest, begin):
            value = (
                f'{{"number":{number},"id":{id_},"card":"card-{card:05d}","amount":{amount},"at":"{at}Z"}}'
            )
            producer.produce(topic, value[:-9] if broken else value, partition=number % PARTITIONS)
        if producer.flush(120):
            raise RuntimeError(f"the broker does not take the events of {topic}")
        if end % (5 * FLUSHED) == 0:
            note(f"  {end:,} events sent")
