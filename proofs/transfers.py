"""The pipeline of the balance test: one-dollar transfers between ten accounts, which add up to nothing.

A transfer is read once and counted in two places. Whoever reads the two sums at different moments sees money
that was made or lost on the way.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from confluent_kafka import Producer

from headrace import F, Pipeline, Table, Topic, View, record

ACCOUNTS = [f"account-{number}" for number in range(10)]
AT = "2026-01-01T00:00:00Z"
_QUEUED = 100_000


@record
class Transfer:
    """A dollar that goes from one account to another."""

    id: int
    payer: str
    payee: str
    amount: int
    at: datetime


def balances(topic: str) -> Table:
    """Return what each account has: what it was paid less what it paid."""
    transfers = Topic(topic, Transfer, time="at").stream(name="transfers")
    credits_ = transfers.group_by("payee", name="credits").agg(credit=F.sum("amount"))
    debits = transfers.group_by("payer", name="debits").agg(debit=F.sum("amount"))
    both = credits_.join("balances", debits, on={"payee": "payer"}, how="full")
    paid, spent = (F.coalesce(name, F.lit(0)) for name in ("credit", "debit"))
    return both.select(F.col("payee").alias("account"), balance=paid - spent, paid=paid)


def pipeline(topic: str) -> Pipeline:
    """Return the pipeline: balances, and their total beside how much was moved, each a view."""
    of_accounts = balances(topic)
    total = of_accounts.agg(total=F.sum("balance"), moved=F.sum("paid"))
    return Pipeline(topic, balances=of_accounts.to(View("balances")), total=total.to(View("total")))


@dataclass
class Transfers:
    """Random transfers, and what the accounts have after those that were made so far."""

    seed: int = 1
    has: Counter[str] = field(default_factory=Counter)
    made: int = 0

    def rows(self, count: int) -> Iterator[tuple[str, str]]:
        """Yield payer and payee."""
        chance = random.Random(self.seed + self.made)  # noqa: S311
        for _ in range(count):
            payer, payee = chance.sample(ACCOUNTS, 2)
            self.has[payer] -= 1
            self.has[payee] += 1
            self.made += 1
            yield payer, payee


def fill(bootstrap: str, topic: str, count: int) -> Transfers:
    """Write so many transfers to a topic of two partitions."""
    transfers = Transfers()
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 50,
            "batch.size": 256 << 10,
            "queue.buffering.max.messages": 2 * _QUEUED,
        }
    )
    for number, (payer, payee) in enumerate(transfers.rows(count)):
        value = f'{{"id":{number},"payer":"{payer}","payee":"{payee}","amount":1,"at":"{AT}"}}'
        producer.produce(topic, value.encode(), partition=number % 2)
        if number % _QUEUED == 0:
            _flush(producer, topic)
    _flush(producer, topic)
    return transfers


def _flush(producer: Producer, topic: str) -> None:
    if producer.flush(120):
        raise RuntimeError(f"the broker does not take the rows of {topic}")
