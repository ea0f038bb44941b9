"""The proof of `make proof`, on fewer events; and that it would tell if something were wrong."""

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from proofs import compare, exact, sessions
from proofs.events import PARTITIONS, Size

HUNDRED_THOUSAND = Size(100_000, timedelta(minutes=15))


@pytest.mark.stack
@pytest.mark.slow
def test_the_stream_equals_the_batch_to_the_row_and_the_ledger_closes(
    spark: SparkSession, kafka: str, tmp_path: Path
) -> None:
    proof = exact.prove(spark, kafka, HUNDRED_THOUSAND, tmp_path)
    assert not proof.wrong, proof.text()
    assert proof.epochs > 20
    assert 0.19 < proof.out_of_order / proof.events < 0.21
    assert 0.009 < proof.too_late / proof.events < 0.011
    # What the events are for has come: late panes, rows late for each step, copies, what cannot be computed.
    assert proof.compared["tumbling"].came > 15 * HUNDRED_THOUSAND.cards
    assert all(proof.compared[f"{step} late"].came for step in proof.ledger)
    assert proof.ledger["dedup"]["duplicate"]
    assert proof.ledger["hopping"]["rejected"]
    assert proof.compared["rejected"].came


def test_what_is_missing_extra_or_twice_is_told(spark: SparkSession) -> None:
    def frame(*rows: tuple[str, int]) -> DataFrame:
        return spark.createDataFrame([*rows], "card string, n int")

    same = compare.compare(frame(("a", 1), ("b", 2)), frame(("b", 2), ("a", 1)))
    assert same.none
    assert (same.expected, same.came) == (2, 2)
    twice = compare.compare(frame(("a", 1)), frame(("a", 1), ("a", 1)))
    assert (twice.missing, twice.extra) == (0, 1)
    other = compare.compare(frame(("a", 1)), frame(("a", 2)))
    assert (other.missing, other.extra) == (1, 1)
    assert other.examples == ('extra {"card":"a","n":2}', 'missing {"card":"a","n":1}')
    nothing = compare.compare(frame(("a", 1)), frame())
    assert (nothing.missing, nothing.extra) == (1, 0)


def test_a_late_event_is_in_a_session_if_it_leads_to_one_that_is_kept() -> None:
    def place(at: int) -> sessions.Place:
        return (at, 0, at % PARTITIONS, at)

    # Of the third epoch's, both late by themselves, 95 meets the session and 88 meets 95; 50 meets nothing.
    events = [(0, 1, place(100)), (2, 1, place(88)), (2, 1, place(95)), (2, 1, place(50))]
    found = sessions.find(events, [0, 112, 120, 2**63 - 1], 10, 5)
    assert found.late == [(50, 6e-5)]
    assert [pane[:3] for pane in found.panes] == [(100, 110, 1), (88, 110, 3)]
    assert found.used == {0: 1, 2: 2}
