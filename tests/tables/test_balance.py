"""The balance test of internal consistency: in every epoch the total of all accounts is 0."""

import uuid
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace.run import query
from headrace.run import settings as all_settings
from headrace.testing import Harness
from tests.run.broker import Broker
from tests.tables import balance

TRANSFERS = 1_000_000
PER_EPOCH = 40_000


def test_the_accounts_add_up_in_every_epoch_over_restarts(spark: SparkSession) -> None:
    transfers = balance.Transfers()
    with Harness(balance.pipeline("transfers"), spark) as harness:
        harness.partitions("transfers", 2)
        for epoch, count in enumerate([1, 7, 300, 2, 40, 1, 120]):
            if epoch in {2, 5}:
                harness.restart()
            for number, (payer, payee) in enumerate(transfers.rows(count)):
                row = {"id": number, "payer": payer, "payee": payee, "amount": 1, "at": balance.AT}
                harness.feed("transfers", row, partition=number % 2)
            out = harness.epoch()
            assert out["total"] == [{"total": 0, "moved": transfers.made}]
            assert harness.table("total") == out["total"]
            has = {row["account"]: row["balance"] for row in harness.table("balances")}
            assert has == {name: transfers.has[name] for name in has}
            assert sum(has.values()) == 0


@pytest.mark.stack
def test_a_million_transfers_never_make_or_lose_a_dollar(
    spark: SparkSession, kafka: str, tmp_path: Path
) -> None:
    broker, topic = Broker(kafka), f"transfers-{uuid.uuid4().hex[:8]}"
    broker.create(topic)
    transfers = balance.fill(kafka, topic, TRANSFERS)
    settings = all_settings.load(
        {
            "kafka.bootstrap": kafka,
            "checkpoint": str(tmp_path),
            "state.groups": 4,
            "epoch.fixed-rows": PER_EPOCH,
        },
        tmp_path,
    )
    running = query.start(balance.pipeline(topic), settings, until="caught up", spark=spark)
    assert running.wait(300)
    running.finish()

    totals = [value for _, _, _, value in broker.read(f"{topic}.total")]
    assert len(totals) >= TRANSFERS // PER_EPOCH, "every epoch has its total"
    assert {each["total"] for each in totals} == {0}
    moved = [each["moved"] for each in totals]
    assert moved == sorted(set(moved))
    assert moved[-1] == TRANSFERS
    last = {key: value["balance"] for _, _, key, value in broker.read(f"{topic}.balances")}
    assert Counter({key.decode(): has for key, has in last.items() if key}) == transfers.has
