"""A topic read once, from its start to the ends that it has now; nothing is committed, no group is joined."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from headrace.declare.suggestion import did_you_mean
from headrace.errors import RunError, SettingsError
from headrace.watch.lateness.event_time import event_time
from headrace.watch.lateness.fields import Fields
from headrace.watch.lateness.measurement import Measurement, Partition
from headrace.watch.librdkafka import unreachable

ANSWER_SECONDS = 15
# Between two batches of rows; a broker that is busy elsewhere may take a while.
SILENCE_SECONDS = 60
_BATCH = 10_000
_POLL_SECONDS = 0.5


@dataclass
class Range:
    """What is to be read of one partition: offsets from `begin` to before `end`, `most` rows at most."""

    partition: int
    begin: int
    end: int
    most: int = field(init=False)

    def __post_init__(self) -> None:
        self.most = self.end - self.begin

    @property
    def middle(self) -> int:
        """The offset with which the second half of what is read begins."""
        return self.begin + (self.most + 1) // 2


def ranges(
    consumer: Consumer, topic: str, bootstrap: str, errors: list[str], *, since: datetime | None
) -> list[Range]:
    """Return what there is to read now, from the start or from a time of the broker's."""
    try:
        known = consumer.list_topics(timeout=ANSWER_SECONDS).topics
        if topic not in known:
            shown = sorted(name for name in known if not name.startswith("__"))
            raise SettingsError(
                f"there is no topic {topic!r} at {bootstrap}", cure=did_you_mean(topic, shown, what="topics")
            )
        found = [_range(consumer, topic, number) for number in sorted(known[topic].partitions)]
        if since is not None:
            _begin_at(consumer, topic, found, since)
    except KafkaException as problem:
        raise unreachable(consumer, bootstrap, problem, errors) from None
    if not any(each.most for each in found):
        told = f"the topic {topic!r} holds no rows"
        if since is not None:
            raise RunError(f"{told} since {since.isoformat()}", cure="--from earliest, or an earlier time")
        raise RunError(told, cure="measure it when rows have been written to it, and committed")
    return found


def _range(consumer: Consumer, topic: str, partition: int) -> Range:
    low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=ANSWER_SECONDS)
    return Range(partition, low, high)


def _begin_at(consumer: Consumer, topic: str, found: list[Range], since: datetime) -> None:
    milliseconds = int(since.timestamp() * 1_000)
    asked = [TopicPartition(topic, each.partition, milliseconds) for each in found]
    for each, answer in zip(found, consumer.offsets_for_times(asked, timeout=ANSWER_SECONDS), strict=True):
        # Without a row that is so young the answer is no offset.
        each.begin = min(max(answer.offset, each.begin), each.end) if answer.offset >= 0 else each.end
        each.most = each.end - each.begin


def limit(found: list[Range], most: int) -> None:
    """Let all partitions together read `most` rows, each in proportion to what it holds."""
    total = sum(each.most for each in found)
    if total <= most:
        return
    before = shared = 0
    for each in found:
        before += each.most
        # Shares of a running sum lose nothing by rounding.
        upto = most * before // total
        each.most, shared = upto - shared, upto


def measure(
    consumer: Consumer,
    topic: str,
    found: list[Range],
    path: tuple[str, ...],
    tell: Callable[[int], None],
    errors: list[str],
) -> tuple[Measurement, Fields]:
    """Read the ranges and measure them; `tell` is called with the number of rows read so far."""
    reading = _Reading(found, path)
    open_ranges = [each for each in found if each.most]
    consumer.assign([TopicPartition(topic, each.partition, each.begin) for each in open_ranges])
    heard = time.monotonic()
    while reading.left:
        messages = consumer.consume(_BATCH, timeout=_POLL_SECONDS)
        now = time.monotonic()
        if messages:
            heard = now
        elif now - heard > SILENCE_SECONDS:
            raise RunError(
                f"Kafka has sent nothing of {topic!r} for {SILENCE_SECONDS} seconds, "
                f"{reading.rows:,} rows were read until then{''.join(f'; {error}' for error in errors[-1:])}",
                cure="look at the brokers, and try again",
            )
        ended = reading.take(messages, int(datetime.now(UTC).timestamp() * 1_000_000))
        if ended:
            consumer.incremental_unassign([TopicPartition(topic, number) for number in ended])
        tell(reading.rows)
    return Measurement.of(reading.partitions.values()), reading.fields


class _Reading:
    """What has been read so far, and of which partitions more is to come."""

    def __init__(self, found: list[Range], path: tuple[str, ...]) -> None:
        self.path = path
        self.left = {each.partition: each for each in found if each.most}
        self.partitions = {each.partition: Partition(each.partition) for each in found}
        self.fields = Fields()
        self.rows = 0

    def take(self, messages: list[Message], now: int) -> list[int]:
        """Take what came; return the partitions that are read to the end."""
        ended = []
        for message in messages:
            number, offset, error = message.partition(), message.offset(), message.error()
            # Markers of transactions and compaction leave no row at the end: then the end itself is told.
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                raise RunError(f"Kafka does not give the rows: {error.str()}", cure="look at the brokers")
            if number not in self.left or offset is None:
                continue
            wanted = self.left[number]
            if error is None and offset < wanted.end:
                self._row(message, wanted, offset, now)
                if offset + 1 < wanted.end and self.partitions[number].rows < wanted.most:
                    continue
            del self.left[number]
            ended.append(number)
        return ended

    def _row(self, message: Message, wanted: Range, offset: int, now: int) -> None:
        value = message.value()
        found = event_time(value, self.path)
        half = int(offset >= wanted.middle)
        self.partitions[wanted.partition].take(found, offset=offset, half=half, now=now)
        self.rows += 1
        if not isinstance(found, int):
            self.fields.look(value, self.path)
