"""Made-up joins, several to a query: the kernel gives what the oracle gives, also over restarts."""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.transcripts.joins import on_spark
from tests.transcripts.joins.corpus import Case, Chain, as_transcript
from tests.transcripts.joins.made_up import made_up

# Shrinking would run hundreds of queries. What fails is printed as a transcript, to be made small by hand.
FEW = settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


@FEW
@given(
    cases=st.lists(made_up(), min_size=on_spark.SIZE, max_size=on_spark.SIZE),
    restarts=st.frozensets(st.integers(1, 8), max_size=2),
)
def test_the_kernel_gives_what_the_oracle_gives(
    spark: SparkSession, cases: list[Case], restarts: frozenset[int]
) -> None:
    failed = []
    for case, said in zip(cases, on_spark.run(spark, cases, restarts), strict=True):
        chain = Chain(case)
        expected = [chain.epoch(epoch)[1] for epoch in case.epochs]
        if said != expected:
            failed.append(as_transcript(case, expected, said))
    assert not failed, f"restarts before {sorted(restarts)}\n" + "\n".join(failed)
