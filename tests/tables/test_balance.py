"""The balance test of internal consistency: in every epoch the total of all accounts is 0."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace.testing import Harness
from proofs import balance, transfers

TRANSFERS = 1_000_000
PER_EPOCH = 40_000


def test_the_accounts_add_up_in_every_epoch_over_restarts(spark: SparkSession) -> None:
    sent = transfers.Transfers()
    with Harness(transfers.pipeline("transfers"), spark) as harness:
        harness.partitions("transfers", 2)
        for epoch, count in enumerate([1, 7, 300, 2, 40, 1, 120]):
            if epoch in {2, 5}:
                harness.restart()
            for number, (payer, payee) in enumerate(sent.rows(count)):
                row = {"id": number, "payer": payer, "payee": payee, "amount": 1, "at": transfers.AT}
                harness.feed("transfers", row, partition=number % 2)
            out = harness.epoch()
            assert out["total"] == [{"total": 0, "moved": sent.made}]
            assert harness.table("total") == out["total"]
            has = {row["account"]: row["balance"] for row in harness.table("balances")}
            assert has == {name: sent.has[name] for name in has}
            assert sum(has.values()) == 0


@pytest.mark.stack
def test_whoever_reads_while_a_million_transfers_are_made_never_sees_a_dollar_made_or_lost(
    spark: SparkSession, kafka: str, tmp_path: Path
) -> None:
    """The views are read all the time, each time in one transaction, by one who does not wait for epochs."""
    proof = balance.prove(
        spark,
        kafka,
        tmp_path,
        count=TRANSFERS,
        store=str(tmp_path / "views"),
        per_epoch=PER_EPOCH,
        seconds=300,
    )
    assert not proof.wrong, proof.text()
    assert proof.epochs >= TRANSFERS // PER_EPOCH
    assert len(proof.seen) >= proof.epochs // 2, proof.text()
    assert proof.reads > len(proof.seen)


def test_the_proof_tells_what_would_be_wrong(tmp_path: Path) -> None:
    proof = balance.Proof(10)
    look = balance.Reader(None, "none", proof)._look
    look(0, 0, 0, 0, [])
    look(1, 2, 0, 4, [(0, 4)])
    look(2, 2, 0, 10, [(0, 10)])
    assert proof.wrong == []
    assert proof.seen == {0: 0, 1: 4, 2: 10}
    look(2, 2, 1, 10, [(0, 10)])
    look(2, 2, 0, 10, [(1, 10)])
    look(2, 2, 0, 10, [(0, 4)])
    look(2, 2, 0, 10, [])
    look(2, 2, 0, 11, [(0, 11)])
    assert len(proof.wrong) == 5
