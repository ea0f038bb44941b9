"""Every transcript of tables on the kernel on Spark, many of them in one query."""

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from tests.tables import on_spark
from tests.tables.corpus import Case, Written, cases

PACK = 3


@pytest.fixture(scope="module")
def ran(spark: SparkSession, request: pytest.FixtureRequest) -> Callable[[Case], list[Written]]:
    """What the kernel made of a case; the pack of a case runs when the first of them is asked for."""
    names = [item.name for item in request.session.items if item.path == request.path]
    chosen = [case for case in cases() if any(f"[{case.title}]" in name for name in names)]
    found: dict[str, list[Written]] = {}

    def of(case: Case) -> list[Written]:
        if case.title not in found:
            first = chosen.index(case) // PACK * PACK
            pack = chosen[first : first + PACK]
            said = on_spark.run(spark, pack)
            found.update({member.title: each for member, each in zip(pack, said, strict=True)})
        return found[case.title]

    return of


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_the_kernel_gives_what_is_written(case: Case, ran: Callable[[Case], list[Written]]) -> None:
    for number, (said, expected) in enumerate(zip(ran(case), case.expected, strict=True)):
        assert said == expected, f"epoch {number}"
