"""The generator: what users do, some of them attacked, out of order as it really arrives.

python generator.py --kafka localhost:9092 --rate 500 --seconds 60
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

COUNTRIES = ("CH", "DE", "FR", "US")
KINDS = ("login", "login", "purchase", "purchase", "failed", "failed", "failed", "reset")
USERS = 200
OUT_OF_ORDER = timedelta(seconds=3)
ABROAD = 0.05

Message = tuple[datetime, str, dict[str, str | None]]
"""When it arrives, its key and its value."""


def messages(
    seed: int, rate: float, seconds: float, start: datetime, users: int = USERS
) -> Iterator[Message]:
    """Yield messages in the order of their arrival; the same arguments give the same messages."""
    chance = random.Random(seed)
    waiting: list[Message] = []
    for number in range(int(rate * seconds)):
        at = start + timedelta(seconds=number / rate)
        while waiting and waiting[0][0] <= at:
            yield heapq.heappop(waiting)
        user = chance.randrange(users)
        kind = chance.choice(KINDS)
        abroad = chance.random() < ABROAD
        row = {
            "user": f"u{user}",
            "kind": kind,
            "country": chance.choice(COUNTRIES) if abroad else COUNTRIES[user % len(COUNTRIES)],
            "amount": f"{chance.randrange(100, 50_000) / 100:.2f}" if kind == "purchase" else None,
            "at": at.isoformat(),
        }
        # The number tells messages apart that arrive at one moment.
        arrives = at + chance.random() * OUT_OF_ORDER + timedelta(microseconds=number % 1000)
        heapq.heappush(waiting, (arrives, f"u{user}", row))
    while waiting:
        yield heapq.heappop(waiting)


def main() -> None:
    """Produce until the time is over."""
    from confluent_kafka import Producer

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kafka", required=True, help="host:port of the brokers")
    parser.add_argument("--rate", type=float, default=500, help="messages a second")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    producer = Producer({"bootstrap.servers": given.kafka, "enable.idempotence": True})
    for at, key, value in messages(given.seed, given.rate, given.seconds, datetime.now(UTC)):
        wait = (at - datetime.now(UTC)).total_seconds()
        if wait > 0:
            producer.poll(0)
            time.sleep(wait)
        producer.produce("activity", json.dumps(value).encode(), key.encode())
    if producer.flush(30):
        raise SystemExit("Kafka did not take all messages")


if __name__ == "__main__":
    main()
