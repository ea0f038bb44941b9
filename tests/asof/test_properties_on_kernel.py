"""Made-up joins with tables, several to a query: the kernel gives what the oracle gives."""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.asof import on_spark
from tests.asof.corpus import Case, Run, written
from tests.asof.made_up import in_time, made_up
from tests.asof.oracle import at_the_end, result_keys

# Shrinking would run hundreds of queries.
FEW = settings(
    max_examples=2,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


@FEW
@given(
    cases=st.lists(made_up(), min_size=on_spark.SIZE, max_size=on_spark.SIZE),
    held_back=st.booleans(),
    restarts=st.frozensets(st.integers(1, 8), max_size=2),
)
def test_the_kernel_gives_what_the_oracle_gives(
    spark: SparkSession, cases: list[Case], restarts: frozenset[int], *, held_back: bool
) -> None:
    if held_back:
        cases = [in_time(case) for case in cases]
    for case, said in zip(cases, on_spark.run(spark, cases, restarts), strict=True):
        run = Run(case)
        outcomes = [run.epoch(epoch) for epoch in case.epochs]
        assert said == [written(outcome, windowed=False) for outcome in outcomes], case
        if held_back and case.declared.as_of != "now":
            events = [row for epoch in case.epochs for row in epoch.events]
            records = [record for epoch in case.epochs for record in epoch.records]
            came = [result for outcome in outcomes for result in outcome.out]
            assert result_keys(came) == result_keys(at_the_end(events, records, case.declared.how))
