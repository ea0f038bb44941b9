"""Every transcript of a join on the kernel on Spark, many to a query, which is started again in between."""

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from tests.transcripts.corpus import Written
from tests.transcripts.joins import on_spark
from tests.transcripts.joins.corpus import Case, cases

# The machines alone run every transcript both straight and with a new machine for every epoch.
RESTARTS = frozenset({1, 3})


@pytest.fixture(scope="module")
def ran(spark: SparkSession) -> Callable[[Case], list[Written]]:
    """What the kernel made of a case; the cases of its pack run when the first of them is asked for."""
    ordered = sorted(cases(), key=lambda case: (len(case.epochs), case.title))
    found: dict[str, list[Written]] = {}

    def of(case: Case) -> list[Written]:
        if case.title not in found:
            start = ordered.index(case) // on_spark.SIZE * on_spark.SIZE
            pack = ordered[start : start + on_spark.SIZE]
            said = on_spark.run(spark, pack, RESTARTS)
            found.update({each.title: lines for each, lines in zip(pack, said, strict=True)})
        return found[case.title]

    return of


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_the_kernel_gives_what_is_written(case: Case, ran: Callable[[Case], list[Written]]) -> None:
    for number, (said, expected) in enumerate(zip(ran(case), case.expected, strict=True)):
        assert said == expected, f"epoch {number}"
