"""The generator: customers who come, move and leave, and orders that are placed, changed and cancelled.

python generator.py --kafka localhost:9092 --rate 200 --seconds 30
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from typing import Any

COUNTRIES = ("CH", "DE", "FR", "IT")
CUSTOMERS = 50
STATUSES = ("placed", "paid", "sent", "delivered")
HAPPENS = {"leaves": 2, "comes or moves": 13, "orders": 45, "cancels": 5, "is paid or sent": 35}
"""What happens, each with how often in a hundred."""

Message = tuple[str, str, dict[str, Any] | None]
"""The topic, the key, and the row, or None for one that is gone."""


def messages(seed: int, count: int) -> Iterator[Message]:
    """Yield so many messages; the same arguments give the same ones."""
    chance = random.Random(seed)
    orders: dict[str, dict[str, Any]] = {}
    for number in range(count):
        customer = f"c{chance.randrange(CUSTOMERS)}"
        [happens] = chance.choices(list(HAPPENS), list(HAPPENS.values()))
        if happens == "leaves":
            yield "customers", customer, None
        elif happens == "comes or moves":
            country = chance.choice(COUNTRIES)
            yield "customers", customer, {"id": customer, "name": f"Customer {customer}", "country": country}
        elif happens == "orders" or not orders:
            key = f"o{number}"
            amount = chance.randrange(1, 500)
            orders[key] = {"id": key, "customer": customer, "amount": amount, "status": "placed"}
            yield "orders", key, orders[key]
        elif happens == "cancels":
            key = chance.choice(list(orders))
            del orders[key]
            yield "orders", key, None
        else:
            key = chance.choice(list(orders))
            orders[key] = {**orders[key], "status": chance.choice(STATUSES)}
            yield "orders", key, orders[key]


def main() -> None:
    """Produce until the time is over."""
    from confluent_kafka import Producer

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kafka", required=True, help="host:port of the brokers")
    parser.add_argument("--rate", type=float, default=200, help="messages a second")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    producer = Producer({"bootstrap.servers": given.kafka, "enable.idempotence": True})
    begun = time.monotonic()
    for number, (topic, key, row) in enumerate(messages(given.seed, int(given.rate * given.seconds))):
        time.sleep(max(0.0, begun + number / given.rate - time.monotonic()))
        producer.produce(topic, None if row is None else json.dumps(row).encode(), key.encode())
        producer.poll(0)
    if producer.flush(30):
        raise SystemExit("Kafka did not take all messages")


if __name__ == "__main__":
    main()
