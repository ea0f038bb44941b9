"""Tables joined with tables: orders that come and change beside customers that do, by a foreign key."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from confluent_kafka import Producer

from benchmarks import ours
from benchmarks.events import PARTITIONS, QUIET, START, create
from benchmarks.timing import Run, epochs, measured, processor_seconds
from headrace import F, Kafka, Pipeline, Topic, record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS_PER_CUSTOMER = 5
CHANGED = 0.25
"""The part of the orders that come a second time, with another amount or another customer."""
_QUEUED = 100_000


@record
class Order:
    """An order of a customer."""

    id: int
    customer: int
    amount: int
    at: datetime


@record
class Customer:
    """A customer, who may move."""

    id: int
    country: str
    at: datetime


@dataclass(frozen=True)
class Question:
    """One question over the two topics."""

    name: str
    how: str
    grouped: bool = False

    def ours(self) -> Pipeline:
        """Return a pipeline whose changes are only counted."""
        orders = Topic("bench-orders", Order, key="id", time="at").table()
        customers = Topic("bench-customers", Customer, key="id", time="at").table()
        joined = orders.select("id", "customer", "amount").join(
            "bought",
            customers.select("id", "country"),
            on={"customer": "id"},
            how=self.how,  # type: ignore[arg-type]
            suffix="_of_customer",
        )
        made = (
            joined.group_by("country").agg(n=F.count("*"), total=F.sum("amount")) if self.grouped else joined
        )
        return Pipeline(
            f"bench-tables-{self.name.split(',')[0].replace(' ', '-')}", out=made.to(Kafka("out"))
        )


QUESTIONS = (
    Question("foreign key join of tables", "left"),
    Question("groups over a join of tables", "inner", grouped=True),
)


def fill(bootstrap: str, count: int) -> int:
    """Fill both topics; return how many rows are in the two tables at the end."""
    random = np.random.default_rng(7)
    customers = count // ORDERS_PER_CUSTOMER
    for topic in ("bench-orders", "bench-customers"):
        create(bootstrap, topic)
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            **QUIET,
            "linger.ms": 50,
            "queue.buffering.max.messages": 2 * _QUEUED,
        }
    )
    at = START.strftime("%Y-%m-%dT%H:%M:%SZ")
    sent = 0

    def send(topic: str, key: int, row: dict[str, Any]) -> None:
        nonlocal sent
        value = json.dumps(row | {"id": key, "at": at}).encode()
        producer.produce(topic, value, key=str(key).encode(), partition=key % PARTITIONS)
        sent += 1
        if sent % _QUEUED == 0:
            producer.flush(120)

    for customer in range(customers):
        send("bench-customers", customer, {"country": f"country-{customer % 200:03d}"})
    ids = [*range(count), *random.integers(0, count, int(count * CHANGED)).tolist()]
    for order, customer in zip(ids, random.integers(0, customers, len(ids)).tolist(), strict=True):
        send("bench-orders", order, {"customer": customer, "amount": customer % 100})
    if producer.flush(120):
        raise RuntimeError("the broker does not take the orders")
    return count + customers


def run(
    spark: SparkSession, bootstrap: str, question: Question, rows: int, seconds: float
) -> tuple[Run, float]:
    """Run a question over both topics, `rows` of each an epoch; also return the bytes that the join wrote."""
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        chosen = ours.settings(bootstrap, Path(folder), epoch_fixed_rows=rows)
        with ours.dropping(spark, question.ours(), chosen, bounded=True) as running:
            before = processor_seconds(spark)
            if not running.java.awaitTermination(int(seconds * 1000)):
                raise TimeoutError(f"{question.name} took more than {seconds:.0f} s")
            processor = processor_seconds(spark) - before
            done = epochs(running.java)
            return measured(done, running.results(done[-1]["batchId"]), processor), _written(done)


def _written(done: list[dict[str, Any]]) -> float:
    """Return the bytes that the join put into its state, keys included: it is the second of three layers."""
    return sum(float(each["stateOperators"][1]["customMetrics"]["rocksdbTotalBytesWritten"]) for each in done)
