"""The generator: impressions, and the clicks that some of them get, out of order as they really arrive.

python generator.py --kafka localhost:9092 --rate 2000 --seconds 30
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

CAMPAIGNS = {"shoes": 0.02, "bikes": 0.08, "books": 0.15}
"""Each with the share of its impressions that are clicked."""
OUT_OF_ORDER = timedelta(seconds=3)
THINKING = timedelta(seconds=20)
REPEATED = 0.05

Message = tuple[datetime, str, str, dict[str, str]]
"""When it arrives, its topic, its key and its value."""


def messages(seed: int, rate: float, seconds: float, start: datetime) -> Iterator[Message]:
    """Yield messages in the order of their arrival; the same arguments give the same messages."""
    chance = random.Random(seed)
    waiting: list[Message] = []
    for number in range(int(rate * seconds)):
        at = start + timedelta(seconds=number / rate)
        yield from _arrived(waiting, at)
        campaign = chance.choice(list(CAMPAIGNS))
        impression = f"i{number}"
        row = {
            "id": impression,
            "campaign": campaign,
            "user": f"u{chance.randrange(1000)}",
            "at": at.isoformat(),
        }
        heapq.heappush(waiting, (at + chance.random() * OUT_OF_ORDER, "impressions", impression, row))
        if chance.random() < CAMPAIGNS[campaign]:
            clicked = at + chance.random() * THINKING
            click = {"impression": impression, "at": clicked.isoformat()}
            for _ in range(1 + (chance.random() < REPEATED)):
                heapq.heappush(
                    waiting, (clicked + chance.random() * OUT_OF_ORDER, "clicks", impression, click)
                )
    yield from _arrived(waiting, datetime.max.replace(tzinfo=UTC))


def _arrived(waiting: list[Message], now: datetime) -> Iterator[Message]:
    while waiting and waiting[0][0] <= now:
        yield heapq.heappop(waiting)


def main() -> None:
    """Produce until the time is over."""
    from confluent_kafka import Producer

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kafka", required=True, help="host:port of the brokers")
    parser.add_argument("--rate", type=float, default=2000, help="impressions a second")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    producer = Producer({"bootstrap.servers": given.kafka, "enable.idempotence": True})
    for at, topic, key, value in messages(given.seed, given.rate, given.seconds, datetime.now(UTC)):
        wait = (at - datetime.now(UTC)).total_seconds()
        if wait > 0:
            producer.poll(0)
            time.sleep(wait)
        producer.produce(topic, json.dumps(value).encode(), key.encode())
    if producer.flush(30):
        raise SystemExit("Kafka did not take all messages")


if __name__ == "__main__":
    main()
