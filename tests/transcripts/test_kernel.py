"""Every transcript on the kernel on Spark, many of them in one query."""

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from tests.transcripts import on_spark
from tests.transcripts.corpus import Case, Written, cases
from tests.transcripts.packing import packs


@pytest.fixture(scope="module")
def ran(spark: SparkSession, request: pytest.FixtureRequest) -> Callable[[Case], list[Written]]:
    """What the kernel made of a case; the pack of a case runs when the first of them is asked for."""
    chosen = [item.name for item in request.session.items if item.path == request.path]
    waiting = packs([case for case in cases() if any(f"[{case.title}]" in name for name in chosen)])
    found: dict[str, list[Written]] = {}

    def of(case: Case) -> list[Written]:
        if case.title not in found:
            pack = next(pack for pack in waiting if case in [member for member, _ in pack.members])
            waiting.remove(pack)
            said = on_spark.run(spark, pack)
            found.update({member.title: each for (member, _), each in zip(pack.members, said, strict=True)})
        return found[case.title]

    return of


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_the_kernel_gives_what_is_written(case: Case, ran: Callable[[Case], list[Written]]) -> None:
    for number, (said, expected) in enumerate(zip(ran(case), case.expected, strict=True)):
        assert said == expected, f"epoch {number}"
