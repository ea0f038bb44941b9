"""Every transcript on the oracle, in a moment and without Spark."""

import pytest

from tests.transcripts.corpus import Case, cases, written
from tests.transcripts.oracle import Chain


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_the_oracle_gives_what_is_written(case: Case) -> None:
    chain = Chain(case.declared())
    for number, (epoch, expected) in enumerate(zip(case.epochs, case.expected, strict=True)):
        outcomes = chain.epoch(epoch.rows, epoch.watermark, epoch.clock)
        assert written(outcomes) == expected, f"epoch {number}"
        rows = len(epoch.rows)
        for outcome in outcomes:
            late, rejected, duplicates = len(outcome.late), len(outcome.rejected), len(outcome.duplicates)
            assert rows == outcome.used + late + rejected + duplicates
            rows = len(outcome.panes) + len(outcome.passed)


def test_the_corpus_is_there() -> None:
    assert len(cases()) >= 80
