"""The generator: card payments as they really arrive, with the truth about the bad ones in their headers.

Most payments come at once, some a little late and out of order, a few far too late. Some are sent twice, some
are damaged in one of a dozen ways, and now and then a card is stolen and used in a hurry, all over the world.
The same seed, rate and start give the same rows, byte for byte.

    python generator.py --kafka localhost:9092 --rate 20000 --seconds 40
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import time
from bisect import bisect
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOPIC = "payments"
HEADER = "damage"  # only damaged rows have it; the pipeline never reads it, the truth compares itself with it
CHUNKS_PER_SECOND = 50
COUNTRIES = ("DE", "FR", "ES", "IT", "NL", "PL", "SE", "AT", "US", "GB", "BR", "JP", "IN", "ZA", "CA", "MX")


@dataclass(frozen=True)
class Mix:
    """What the stream is made of: shares of all rows, and the habits of cards and thieves."""

    cards: int = 20_000
    delayed: float = 0.10  # out of order, by up to `delay` seconds: the watermark waits for these
    delay: float = 2.5
    late: float = 0.003  # later than any watermark waits: `late_by` seconds
    late_by: tuple[float, float] = (15.0, 30.0)
    repeated: float = 0.005
    damaged: float = 0.004
    abroad: float = 0.01
    bursts_per_second: float = 1.0
    burst_payments: int = 24
    burst_seconds: float = 4.0


class Row(NamedTuple):
    """One message: its key and value, and how it was damaged (None for a good one)."""

    key: bytes
    value: bytes
    damage: str | None


def _set(field: str, raw: bytes) -> Callable[[bytes], bytes]:
    """Replace one field's JSON in a payment's bytes."""

    def change(value: bytes) -> bytes:
        head, rest = value.split(b'"%s":' % field.encode(), 1)
        end = min(at for at in (rest.find(b","), rest.find(b"}")) if at >= 0)
        return head + b'"%s":' % field.encode() + raw + rest[end:]

    return change


def _drop(field: str) -> Callable[[bytes], bytes]:
    """Leave one field out of a payment's bytes."""

    def change(value: bytes) -> bytes:
        payment = json.loads(value)
        del payment[field]
        return json.dumps(payment).encode()

    return change


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "broken json": lambda value: value[: len(value) // 2],
    "empty": lambda _: b"",
    "not an object": lambda _: b"[1, 2, 3]",
    "trailing garbage": lambda value: value + b" and more",
    "invalid utf-8": _set("country", b'"\xff\xfe"'),
    "missing field": _drop("amount"),
    "missing event time": _drop("at"),
    "null event time": _set("at", b"null"),
    "bad timestamp": _set("at", b'"2026-13-32T25:61:00Z"'),
    "year 2190": _set("at", b'"2190-01-01T00:00:00Z"'),
    "text for a number": _set("amount", b'"a lot"'),
    "object for a text": _set("card", b'{"number": 1}'),
    "decimal overflow": _set("amount", b"9" * 50),
}


class Generator:
    """An endless, deterministic stream of payments, in the order in which they are sent."""

    def __init__(self, seed: int, rate: int, start: datetime, mix: Mix | None = None) -> None:
        """Start with a seed; `rate` is rows a second, `start` the event time of the first one."""
        self.mix = mix or Mix()
        self.rate = rate
        self.start = start
        self._random = random.Random(seed)
        self._prefix = b"%08x" % (seed & 0xFFFFFFFF)
        self._sent = 0
        self._bursts: dict[int, list[tuple[int, float]]] = {}
        self._recent: list[Row] = []
        self._seconds: dict[int, bytes] = {}
        cards = range(self.mix.cards)
        self._cards = [b"card-%05d" % card for card in cards]
        self._homes = [COUNTRIES[card * 7 % 8].encode() for card in cards]
        self._weights = list(accumulate(1 / (card + 1) for card in cards))  # Zipf: a few cards pay most often
        self._places = [country.encode() for country in COUNTRIES]

    def chunk(self, number: int) -> list[Row]:
        """Return the rows sent in the chunk with this number; chunks are asked for in order, from 0."""
        begin = number / CHUNKS_PER_SECOND
        due = int((number + 1) * self.rate / CHUNKS_PER_SECOND) - int(number * self.rate / CHUNKS_PER_SECOND)
        self._maybe_steal(number)
        rows = [self._burst_payment(card, at) for card, at in self._bursts.pop(number, ())]
        step = 1 / max(self.rate, 1)
        rows += [self._row(begin + place * step) for place in range(max(due - len(rows), 0))]
        self._random.shuffle(rows)
        return rows

    def rows(self, seconds: float) -> Iterator[Row]:
        """Yield the rows of so many seconds at once, unpaced: for tests and backfills."""
        for number in range(int(seconds * CHUNKS_PER_SECOND)):
            yield from self.chunk(number)

    def _maybe_steal(self, number: int) -> None:
        mix = self.mix
        if self._random.random() >= mix.bursts_per_second / CHUNKS_PER_SECOND:
            return
        card = self._random.randrange(len(self._cards))
        for _ in range(min(mix.burst_payments, self.rate)):
            after = self._random.random() * mix.burst_seconds
            chunk = number + int(after * CHUNKS_PER_SECOND)
            self._bursts.setdefault(chunk, []).append((card, number / CHUNKS_PER_SECOND + after))

    def _burst_payment(self, card: int, at: float) -> Row:
        place = self._places[int(self._random.random() * len(self._places))]
        return Row(
            self._cards[card],
            self._encode(card, place, 20_000 + int(self._random.random() * 80_000), at),
            None,
        )

    def _row(self, at: float) -> Row:
        chance, mix, recent = self._random.random, self.mix, self._recent
        dice = chance()
        if dice < mix.repeated and recent:
            return recent[int(chance() * len(recent))]
        dice -= mix.repeated
        if dice < mix.late:
            at -= mix.late_by[0] + chance() * (mix.late_by[1] - mix.late_by[0])
        elif dice < mix.late + mix.delayed:
            at -= chance() * mix.delay
        card = bisect(self._weights, chance() * self._weights[-1])
        country = (
            self._homes[card] if chance() >= mix.abroad else self._places[int(chance() * len(self._places))]
        )
        row = Row(self._cards[card], self._encode(card, country, 100 + int(chance() ** 3 * 20_000), at), None)
        if chance() < mix.damaged:
            damage = self._random.choice(tuple(DAMAGES))
            return Row(row.key, DAMAGES[damage](row.value), damage)
        if chance() < mix.repeated:
            recent.append(row)
            del recent[:-100]
        return row

    def _encode(self, card: int, country: bytes, cents: int, at: float) -> bytes:
        self._sent += 1
        second = int(at // 1)
        head = self._seconds.get(second)
        if head is None:
            when = self.start.replace(microsecond=0) + timedelta(seconds=second)
            head = self._seconds[second] = when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.").encode()
        return b'{"id":"%s-%09d","card":"%s","country":"%s","amount":%d.%02d,"at":"%s%06dZ"}' % (
            self._prefix,
            self._sent,
            self._cards[card],
            country,
            cents // 100,
            cents % 100,
            head,
            int((at - second) * 1_000_000),
        )


class Sender:
    """A producer that notices when rows are not delivered."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        from confluent_kafka import Producer

        self.bootstrap, self.topic = bootstrap, topic
        self.rows = self.damaged = 0
        self.failures: list[str] = []
        self.stopped = False
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 20,
                "compression.type": "lz4",
                "queue.buffering.max.messages": 500_000,
                "delivery.report.only.error": True,
                "on_delivery": self._delivered,
                # A broker that is away is retried; what stays undelivered is counted.
                "error_cb": lambda _: None,
            },
        )

    def _delivered(self, error: object, _: object) -> None:
        if error is not None:
            self.failures.append(str(error))

    def stop(self, *_: object) -> None:
        """Send no more: a signal handler."""
        self.stopped = True

    def send(self, rows: list[Row]) -> None:
        """Hand rows to the producer; wait while its queue is full."""
        produce, topic = self._producer.produce, self.topic
        for key, value, damage in rows:
            headers: dict[str, str | bytes | None] = {} if damage is None else {HEADER: damage}
            while True:
                try:
                    produce(topic, value, key, headers=headers)
                    break
                except BufferError:
                    self._producer.poll(0.1)
            self.damaged += damage is not None
        self.rows += len(rows)
        self._producer.poll(0)

    def finish(self) -> None:
        """Wait until everything is delivered, or leave with what was not."""
        left = self._producer.flush(60)
        if left or self.failures:
            why = self.failures[0] if self.failures else f"no answer from {self.bootstrap} for 60 seconds"
            sys.exit(f"generator: {left + len(self.failures)} rows were not delivered: {why}")


def send(generator: Generator, sender: Sender, seconds: float) -> None:
    """Send a generator's rows at its rate, report once a second, stop early on SIGINT or SIGTERM."""
    signal.signal(signal.SIGINT, sender.stop)
    signal.signal(signal.SIGTERM, sender.stop)
    began = time.monotonic()
    for number in range(int(seconds * CHUNKS_PER_SECOND)):
        sender.send(generator.chunk(number))
        ahead = began + (number + 1) / CHUNKS_PER_SECOND - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
        if number % CHUNKS_PER_SECOND == 0:
            _report(event="sent", rows=sender.rows, damaged=sender.damaged)
        if sender.stopped or sender.failures:
            break
    sender.finish()
    took = round(time.monotonic() - began, 2)
    _report(event="done", rows=sender.rows, damaged=sender.damaged, seconds=took)


def _report(**values: object) -> None:
    print(json.dumps(values), flush=True)


def main() -> None:
    """Read the arguments and send."""
    parser = argparse.ArgumentParser(description="Send card payments to Kafka.")
    parser.add_argument("--kafka", required=True, metavar="BOOTSTRAP")
    parser.add_argument("--topic", default=TOPIC)
    parser.add_argument("--rate", type=int, default=5_000, help="rows a second")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--start", type=datetime.fromisoformat, help="event time of the first row (default: now)"
    )
    given = parser.parse_args()
    generator = Generator(given.seed, given.rate, given.start or datetime.now(UTC))
    send(generator, Sender(given.kafka, given.topic), given.seconds)


if __name__ == "__main__":
    main()
