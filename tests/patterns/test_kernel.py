"""Transcripts of patterns on the kernel on Spark, many of them in one query."""

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from tests.patterns import on_spark
from tests.patterns.corpus import Case, cases
from tests.transcripts.corpus import Written

SIZES = {True: 45, False: 8}
"""Cases to a query: of those that share one stream, and of those that do not."""


@pytest.fixture(scope="module")
def ran(spark: SparkSession, request: pytest.FixtureRequest) -> Callable[[Case], list[Written]]:
    """What the kernel made of a case; the cases of its pack run when the first of them is asked for."""
    names = [item.name for item in request.session.items if item.path == request.path]
    chosen = [case for case in cases() if any(f"[{case.title}]" in name for name in names)]
    found: dict[str, list[Written]] = {}

    def of(case: Case) -> list[Written]:
        if case.title not in found:
            plain = on_spark.plain(case)
            alike = sorted(
                (each for each in chosen if on_spark.plain(each) == plain), key=lambda each: len(each.epochs)
            )
            start = alike.index(case) // SIZES[plain] * SIZES[plain]
            pack = alike[start : start + SIZES[plain]]
            said = on_spark.run(spark, pack)
            found.update({each.title: lines for each, lines in zip(pack, said, strict=True)})
        return found[case.title]

    return of


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_the_kernel_gives_what_is_written(case: Case, ran: Callable[[Case], list[Written]]) -> None:
    for number, (said, expected) in enumerate(zip(ran(case), case.expected, strict=True)):
        assert said == expected, f"epoch {number}"
