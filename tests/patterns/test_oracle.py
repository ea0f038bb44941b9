"""Every transcript of a pattern on the oracle, in a moment and without Spark."""

import pytest

from tests.patterns.corpus import Case, Run, cases, written


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_the_oracle_gives_what_is_written(case: Case) -> None:
    run = Run(case)
    for number, (epoch, expected) in enumerate(zip(case.epochs, case.expected, strict=True)):
        outcome = run.epoch(epoch)
        assert written(case, outcome) == expected, f"epoch {number}"
        assert len(epoch.events) == outcome.used + len(outcome.late)


def test_the_corpus_is_there() -> None:
    assert len(cases()) >= 80
