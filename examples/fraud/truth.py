"""The truth: what the pipeline should have delivered, worked out again from what is in the topics.

It shares no code with headrace. It reads all of `payments`, decides row by row what is damaged, takes out the
rows that were delivered as late, groups the rest and compares every window, as a reader under
`read_committed` sees it. Which rows are late depends on when they were read, so late rows are not recomputed:
each must be consistent with a watermark, and whatever was not delivered as late must be in its window.

    python truth.py --kafka localhost:9092 [--json]

The exit code is 0 only if nothing is missing, extra or delivered twice, so that no row is unaccounted for.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

WINDOW = 10_000_000  # microseconds, as all times here
LAG = 3_000_000
IDLE = 30_000_000  # a partition silent for longer may be left behind by the watermark
PLAUSIBLE = 24 * 3_600_000_000  # an event time further ahead of the broker's clock cannot be true
DIGITS = 20  # before the decimal point, in an amount
TOLERANCE = 1_000  # `late_by_seconds` is a double
DAMAGE_HEADER = "damage"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DECODE = json.JSONDecoder(parse_float=Decimal).decode
EXAMPLES = 5
PATIENCE = 30  # seconds


class Topics(NamedTuple):
    """The names of the five topics."""

    payments: str = "payments"
    alerts: str = "alerts"
    late: str = "payments.late"
    rejected: str = "payments.rejected"
    velocity: str = "velocity"


class Payment(NamedTuple):
    """One good row: what the pipeline's record says, with the event time in microseconds."""

    id: str
    card: str
    country: str
    amount: Decimal
    at: int


class Damaged(Exception):  # noqa: N818 - not an error: an answer
    """This row is not a payment."""


@dataclass
class Velocity:
    """What is known of one card in one window."""

    payments: int = 0
    total: Decimal = Decimal(0)
    largest: Decimal = Decimal(0)
    first: tuple[int, int] = (sys.maxsize, 0)
    last: tuple[int, int] = (-sys.maxsize, 0)
    first_country: str = ""
    last_country: str = ""

    def add(self, payment: Payment, offset: int) -> None:
        """Count one payment in. A card lives in one partition, so its offsets order its ties."""
        self.payments += 1
        self.total += payment.amount
        self.largest = max(self.largest, payment.amount)
        position = (payment.at, offset)
        if position < self.first:
            self.first, self.first_country = position, payment.country
        if position > self.last:
            self.last, self.last_country = position, payment.country

    def values(self) -> tuple[Any, ...]:
        """Return what the window's row says."""
        return (self.payments, self.total, self.largest, self.first_country, self.last_country)

    def alert(self) -> tuple[Any, ...] | None:
        """Return the alert's values, or None where there is nothing to alert about."""
        moved = self.first_country != self.last_country
        if not moved and self.payments < 50 and self.total < 5_000:  # noqa: PLR2004 - the rule, in full
            return None
        reason = "two countries" if moved else "velocity"
        return (*self.values(), reason)


@dataclass
class Count:
    """One delivery compared with what was expected of it; `expected` is None where that is not foretold."""

    expected: int | None = 0
    delivered: int = 0
    missing: int = 0
    extra: int = 0
    duplicate: int = 0
    examples: list[str] = field(default_factory=list)

    def note(self, what: str, which: object) -> None:
        """Count one deviation and keep the first few to show."""
        setattr(self, what, getattr(self, what) + 1)
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{what}: {which}")

    @property
    def right(self) -> bool:
        """Nothing missing, extra or twice."""
        return not (self.missing or self.extra or self.duplicate)


@dataclass
class Verdict:
    """The whole comparison."""

    rows: int = 0
    good: int = 0
    used: int = 0  # in the windows that were delivered, as they say themselves
    damaged: int = 0
    mislabelled: int = (
        0  # our strict decoding disagrees with the generator's headers: the truth itself is wrong
    )
    seconds: float = 0.0
    velocity: Count = field(default_factory=Count)
    alerts: Count = field(default_factory=Count)
    late: Count = field(default_factory=lambda: Count(expected=None))
    rejected: Count = field(default_factory=Count)

    @property
    def counts(self) -> dict[str, Count]:
        """The deliveries by name."""
        return {name: getattr(self, name) for name in ("velocity", "alerts", "late", "rejected")}

    @property
    def right(self) -> bool:
        """The exit code, as a boolean."""
        return all(count.right for count in self.counts.values()) and not self.mislabelled

    def as_json(self) -> dict[str, Any]:
        """Return it for machines."""
        counts = self.counts.values()
        return {
            "event": "verdict",
            "right": self.right,
            "rows": self.rows,
            "good": self.good,
            "damaged": self.damaged,
            "used": self.used,
            "mislabelled": self.mislabelled,
            "missing": sum(count.missing for count in counts),
            "extra": sum(count.extra for count in counts),
            "duplicate": sum(count.duplicate for count in counts),
            **{name: vars(count) for name, count in self.counts.items()},
            "seconds": round(self.seconds, 1),
        }

    def as_text(self) -> str:
        """Return it for people."""
        parts = f"{self.used:,} used + {self.late.delivered:,} late + {self.damaged:,} damaged"
        lines = [
            f"{self.rows:,} rows in the topic = {parts}; computed again in {self.seconds:.1f} s",
            "",
            f"{'delivery':<10}{'expected':>10}{'delivered':>11}{'missing':>9}{'extra':>7}{'duplicate':>11}",
        ]
        examples = []
        for name, count in self.counts.items():
            expected = "*" if count.expected is None else f"{count.expected:,}"
            lines.append(
                f"{name:<10}{expected:>10}{count.delivered:>11,}"
                f"{count.missing:>9,}{count.extra:>7,}{count.duplicate:>11,}"
            )
            examples += [f"  {name}: {example}" for example in count.examples]
        if self.mislabelled:
            examples.append(f"  {self.mislabelled} rows are not what their headers say")
        total = self.as_json()
        result = "RIGHT" if self.right else "WRONG"
        lines += [
            "",
            "* late rows are consistent with a watermark, and all others are in their windows"
            if self.velocity.right and self.late.right
            else "* late rows are not foretold: they must be consistent with a watermark",
            "",
            f"{result}: {total['missing']} missing, {total['extra']} extra, {total['duplicate']} duplicate",
        ]
        return "\n".join(lines + examples)


def micros(text: str) -> int:
    """Read an ISO 8601 time with a zone as microseconds since 1970."""
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        raise ValueError(text)
    return (when - EPOCH) // MICROSECOND


def decode(value: bytes | None, broker_time: int) -> Payment:
    """Read one row strictly, or say that it is damaged."""
    try:
        fields = DECODE((value or b"").decode())
        name, card, country, amount = fields["id"], fields["card"], fields["country"], fields["amount"]
        at = micros(fields["at"])
        if not type(name) is type(card) is type(country) is str:
            raise Damaged
        if type(amount) is int:
            amount = Decimal(amount)
    except (ValueError, KeyError, TypeError) as problem:
        raise Damaged from problem
    if type(amount) is not Decimal or amount.adjusted() >= DIGITS or at > broker_time + PLAUSIBLE:
        raise Damaged
    return Payment(name, card, country, amount, at)


def read(bootstrap: str, topic: str) -> Iterator[Any]:
    """Yield what is in a topic now, partition by partition, as a reader of committed rows sees it."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "truth",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,  # the end of a partition is known from an empty answer
            "fetch.queue.backoff.ms": 5,
            "queued.max.messages.kbytes": 131_072,
        },
    )
    try:
        found = consumer.list_topics(topic, 10).topics[topic]
        if found.error is not None:
            sys.exit(f"truth: topic {topic!r} cannot be read: {found.error.str()}")
        for partition in sorted(found.partitions):
            consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
            ended, heard = False, time.monotonic()
            while not ended:
                messages = consumer.consume(10_000, 0.05)
                if messages:
                    heard = time.monotonic()
                elif time.monotonic() - heard > PATIENCE:
                    sys.exit(f"truth: nothing came from topic {topic!r} for {PATIENCE} seconds")
                for message in messages:
                    error = message.error()
                    if error is None:
                        yield message
                    elif error.code() == KafkaError._PARTITION_EOF:
                        ended = True
                    else:
                        sys.exit(f"truth: reading topic {topic!r} failed: {error.str()}")
    finally:
        consumer.close()


@dataclass
class Partition:
    """What the check of lateness needs of one partition, in the order of its offsets."""

    offsets: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    highest: int = -sys.maxsize  # event time so far
    heard: int = 0  # broker's time of the newest row
    silence: int = 0  # the longest


class Check:
    """The comparison, topic by topic: late first, since it says which good rows were not used."""

    def __init__(self, bootstrap: str, topics: Topics) -> None:
        self.bootstrap, self.topics = bootstrap, topics
        self.verdict = Verdict()
        self._late: dict[Payment, list[int]] = defaultdict(list)  # the watermark that each claims to have met
        self._unused: Counter[Payment] = Counter()
        self._arrivals: dict[Payment, list[tuple[int, int, int]]] = defaultdict(list)
        self._damaged: set[tuple[int, int]] = set()
        self._windows: dict[tuple[str, int], Velocity] = defaultdict(Velocity)
        self._partitions: dict[int, Partition] = defaultdict(Partition)

    def run(self) -> Verdict:
        """Compare everything."""
        began = time.monotonic()
        gc.disable()  # millions of small live objects: collecting would only look at them again and again
        try:
            self._read_late()
            self._read_payments()
            self._check_late()
            self._check_rejected()
            self._check_velocity()
            self._check_alerts()
        finally:
            gc.enable()
        self.verdict.seconds = time.monotonic() - began
        return self.verdict

    def _read_late(self) -> None:
        for message in read(self.bootstrap, self.topics.late):
            fields = json.loads(message.value(), parse_float=Decimal)
            at = micros(fields["at"])
            payment = Payment(fields["id"], fields["card"], fields["country"], Decimal(fields["amount"]), at)
            claimed = _end(at) + int(Decimal(fields["late_by_seconds"]) * 1_000_000)
            self._late[payment].append(claimed)
            self._unused[payment] += 1
            self.verdict.late.delivered += 1

    def _read_payments(self) -> None:
        verdict, windows, unused = self.verdict, self._windows, self._unused
        for message in read(self.bootstrap, self.topics.payments):
            verdict.rows += 1
            number, offset = message.partition(), message.offset()
            partition = self._partitions[number]
            broker_time = message.timestamp()[1] * 1_000
            if partition.heard:
                partition.silence = max(partition.silence, broker_time - partition.heard)
            partition.heard = broker_time
            try:
                payment = decode(message.value(), broker_time)
            except Damaged:
                verdict.damaged += 1
                verdict.mislabelled += not message.headers()
                self._damaged.add((number, offset))
                continue
            end = _end(payment.at)
            verdict.good += 1
            verdict.mislabelled += bool(message.headers())
            partition.offsets.append(offset)
            partition.ends.append(end)
            if payment in unused:
                self._arrivals[payment].append((number, offset, partition.highest))
            partition.highest = max(partition.highest, payment.at)
            if unused.get(payment, 0) > 0:
                unused[payment] -= 1
            else:
                windows[payment.card, end].add(payment, offset)

    def _check_late(self) -> None:
        """Each late row once, none that cannot be late, and none used that must have been late.

        The watermark that a late row met is at most the highest event time before it in its own partition
        less the lag, since a watermark is older than the epoch that it judges; and because it never goes
        back, whatever came after that row into an older window must be late too.
        """
        count = self.verdict.late
        met: dict[tuple[int, int], int] = {}
        for payment, claims in self._late.items():
            arrivals = self._arrivals.get(payment, [])
            for _ in claims[len(arrivals) :]:
                count.note("duplicate" if arrivals else "extra", payment)
            # Of a payment sent twice, the later one is the late one.
            for claim, (number, offset, highest) in zip(
                sorted(claims), arrivals[-len(claims) :], strict=False
            ):
                met[number, offset] = claim
                steady = self._partitions[number].silence < IDLE
                if steady and claim > highest - LAG + TOLERANCE:
                    count.note("extra", f"{payment} met a watermark that its partition had not reached")
                    met[number, offset] = -sys.maxsize  # says nothing about other rows
                if claim < _end(payment.at):
                    count.note("extra", f"{payment} came before its window's end")
        for number, partition in self._partitions.items():
            watermark = -sys.maxsize
            for offset, end in zip(partition.offsets, partition.ends, strict=True):
                if (number, offset) in met:
                    watermark = max(watermark, met[number, offset] - TOLERANCE)
                elif end <= watermark:
                    count.note("missing", f"partition {number} offset {offset}")

    def _check_rejected(self) -> None:
        count = self.verdict.rejected
        count.expected = len(self._damaged)
        seen: Counter[tuple[int, int]] = Counter()
        for message in read(self.bootstrap, self.topics.rejected):
            fields = json.loads(message.value())
            count.delivered += 1
            seen[fields["partition"], fields["offset"]] += 1
            if seen[fields["partition"], fields["offset"]] > 1:
                count.note("duplicate", fields)
            elif (fields["partition"], fields["offset"]) not in self._damaged:
                count.note("extra", fields)
        for position in sorted(self._damaged - set(seen)):
            count.note("missing", "partition {} offset {}".format(*position))

    def _check_velocity(self) -> None:
        """Every window once, with every row that was not late in it."""
        count = self.verdict.velocity
        count.expected = len(self._windows)
        seen: set[tuple[Any, ...]] = set()
        for message in read(self.bootstrap, self.topics.velocity):
            fields = json.loads(message.value(), parse_float=Decimal)
            end = micros(fields["window"]["end"])
            key = (fields["card"], end)
            amounts = (Decimal(fields["total"]), Decimal(fields["largest"]))
            values = (fields["payments"], *amounts, fields["first_country"], fields["last_country"])
            count.delivered += 1
            self.verdict.used += fields["payments"]
            expected = self._windows.get(key)
            if (key, values) in seen:
                count.note("duplicate", (key, values))
            elif (
                expected is None
                or expected.values() != values
                or micros(fields["window"]["start"]) != end - WINDOW
            ):
                count.note("extra", (key, values))
            seen.add((key, values))
        for key, window in self._windows.items():
            if (key, window.values()) not in seen:
                count.note("missing", (key, window.values()))

    def _check_alerts(self) -> None:
        count = self.verdict.alerts
        expected = {
            key: alert for key, window in self._windows.items() if (alert := window.alert()) is not None
        }
        count.expected = len(expected)
        seen: Counter[tuple[Any, ...]] = Counter()
        for message in read(self.bootstrap, self.topics.alerts):
            fields = json.loads(message.value(), parse_float=Decimal)
            key = (fields["card"], micros(fields["until"]))
            amounts = (Decimal(fields["total"]), Decimal(fields["largest"]))
            countries = (fields["first_country"], fields["last_country"])
            alert = (fields["payments"], *amounts, *countries, fields["reason"])
            count.delivered += 1
            seen[key, alert] += 1
            if seen[key, alert] > 1:
                count.note("duplicate", (key, alert))
            elif micros(fields["since"]) != key[1] - WINDOW or expected.get(key) != alert:
                count.note("extra", (key, alert))
        for key, alert in expected.items():
            if (key, alert) not in seen:
                count.note("missing", (key, alert))


def _end(at: int) -> int:
    """Return the end of the window that a time falls into."""
    return at - at % WINDOW + WINDOW


def main() -> None:
    """Read the arguments, compare, print, and leave with the verdict."""
    parser = argparse.ArgumentParser(description="Compare what was delivered with what should have been.")
    parser.add_argument("--kafka", required=True, metavar="BOOTSTRAP")
    parser.add_argument("--json", action="store_true")
    for name, topic in Topics()._asdict().items():
        parser.add_argument(f"--{name}", default=topic, metavar="TOPIC")
    given = parser.parse_args()
    topics = Topics(**{name: getattr(given, name) for name in Topics._fields})
    verdict = Check(given.kafka, topics).run()
    print(json.dumps(verdict.as_json(), default=str) if given.json else verdict.as_text())
    sys.exit(0 if verdict.right else 1)


if __name__ == "__main__":
    main()
