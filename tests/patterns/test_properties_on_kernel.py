"""Made-up patterns and events, several to a query: the kernel gives what the oracle gives."""

from dataclasses import replace

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.patterns import on_spark
from tests.patterns.corpus import Case, Epoch, Run, written
from tests.patterns.made_up import made_up

SIZE = 6
# Shrinking would run hundreds of queries; hundreds of cases run on the machine alone.
FEW = settings(
    max_examples=1,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


def arrived(cases: list[Case]) -> list[Case]:
    """Return cases in which something is found, with what the oracle says of them."""
    told = []
    for case in cases:
        run = Run(case)
        told.append(replace(case, expected=tuple(written(case, run.epoch(epoch)) for epoch in case.epochs)))
    return told


@FEW
@given(
    cases=st.lists(made_up(), min_size=40, max_size=40),
    restarts=st.frozensets(st.integers(1, 3), min_size=1, max_size=2),
)
def test_the_kernel_gives_what_the_oracle_gives(
    spark: SparkSession, cases: list[Case], restarts: frozenset[int]
) -> None:
    found = [case for case in arrived(cases) if any("matches" in lines for lines in case.expected)][:SIZE]
    assert found
    found = [replace(case, epochs=_restarted(case.epochs, restarts)) for case in found]
    apart = [case for case in found if not on_spark.plain(case)]
    for case, said in zip(apart, on_spark.run(spark, apart), strict=True):
        assert said == list(case.expected), case


def _restarted(epochs: tuple[Epoch, ...], restarts: frozenset[int]) -> tuple[Epoch, ...]:
    return tuple(replace(epoch, restart=number in restarts) for number, epoch in enumerate(epochs))
