"""The proof of `python -m proofs.versions`, on fewer events; and that its batch is right."""

from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from proofs import versions
from proofs.versions import Rows

EVENTS = 50_000


@pytest.mark.stack
@pytest.mark.slow
def test_shuffled_events_meet_the_versions_of_their_times(
    spark: SparkSession, kafka: str, tmp_path: Path
) -> None:
    proof = versions.prove(spark, kafka, tmp_path, events=EVENTS, keys=EVENTS // 10, epochs=4)
    assert not proof.wrong, proof.text()
    assert 0.85 * EVENTS < proof.found < 0.95 * EVENTS
    for counts in proof.ledger.values():
        assert counts == {"in": 2 * EVENTS, "used": 2 * EVENTS, "late": 0, "duplicate": 0, "rejected": 0}


def test_the_batch_looks_through_all_versions() -> None:
    sent, held = versions.make(500, 20, seed=7)
    place = {number: (at, i % versions.PARTITIONS, i) for i, (number, at) in enumerate(_pairs(held))}
    met = versions.answer(sent, held)
    for number, key, at in zip(sent.number, sent.key, sent.at, strict=True):
        before = [each for each in held.number[held.key == key] if place[each][0] <= at]
        assert met[number] == max(before, key=place.__getitem__, default=-1)


def test_rows_are_shuffled() -> None:
    sent, held = versions.make(1_000, 50, seed=3)
    for rows in (sent, held):
        assert np.any(np.diff(rows.at) < 0)
        assert len(np.unique(rows.number)) == len(rows.number)


def _pairs(rows: Rows) -> list[tuple[int, int]]:
    return list(zip(rows.number.tolist(), rows.at.tolist(), strict=True))
