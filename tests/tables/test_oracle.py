"""Every transcript of tables on the oracle, in a moment and without Spark."""

import pytest

from tests.tables.corpus import Case, cases, written
from tests.tables.oracle import Run


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_the_oracle_gives_what_is_written(case: Case) -> None:
    run = Run(case.of, case.table)
    for number, (epoch, expected) in enumerate(zip(case.epochs, case.expected, strict=True)):
        said = written(run.epoch(epoch.records, **epoch.others))
        assert said == {kind: found for kind, found in expected.items() if kind != "rejected"}, (
            f"epoch {number}"
        )
        assert len(epoch.bad) == len(expected.get("rejected", []))


def test_the_corpus_is_there() -> None:
    assert len(cases()) >= 50
