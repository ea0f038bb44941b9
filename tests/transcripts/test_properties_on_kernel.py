"""Made-up cases, many to a query: the kernel gives what the oracle gives, also over restarts."""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.transcripts import on_spark
from tests.transcripts.corpus import Case, as_transcript, written
from tests.transcripts.made_up import packed
from tests.transcripts.oracle import Chain
from tests.transcripts.packing import Pack

# Shrinking would run hundreds of queries. What fails is printed as a transcript, to be made small by hand.
FEW = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


@FEW
@given(pack=packed(), restarts=st.frozensets(st.integers(1, 8), max_size=2))
def test_the_kernel_gives_what_the_oracle_gives(
    spark: SparkSession, pack: tuple[list[int | None], list[Case]], restarts: frozenset[int]
) -> None:
    timeline, members = pack
    found = on_spark.run(
        spark, Pack(timeline, [(case, list(range(len(timeline)))) for case in members]), restarts
    )
    failed = []
    for case, said in zip(members, found, strict=True):
        chain = Chain(case.declared())
        expected = [written(chain.epoch(each.rows, each.watermark, each.clock)) for each in case.epochs]
        if said != expected:
            failed.append(as_transcript(case, expected, said))
    assert not failed, f"restarts before {sorted(restarts)}\n" + "\n".join(failed)
