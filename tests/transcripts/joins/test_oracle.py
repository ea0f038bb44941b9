"""Every transcript of a join on the oracle."""

import pytest

from tests.transcripts.joins.corpus import Case, Chain, cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_the_oracle_gives_what_is_written(case: Case) -> None:
    chain = Chain(case)
    for number, (epoch, expected) in enumerate(zip(case.epochs, case.expected, strict=True)):
        outcome, said = chain.epoch(epoch)
        assert said == expected, f"epoch {number}"
        rows = len(epoch.rows["left"]) + len(epoch.rows["left" if case.self_join else "right"])
        assert rows == outcome.used + sum(map(len, outcome.late))


def test_the_corpus_is_there() -> None:
    assert len(cases()) >= 25
