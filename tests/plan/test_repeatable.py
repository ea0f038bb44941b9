"""What a replay would change is refused ahead of exactly-once, wherever it hides: Spark itself is asked."""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as PF

from headrace import F, Kafka, Pipeline, PlanError, Stream, Tumbling
from headrace.plan.checks import check
from headrace.plan.layers import Layers
from headrace.run import types
from tests.plan.pipelines import limits, payments

HIDDEN: dict[str, Callable[[], Any]] = {
    "java_method": lambda: F.java_method(F.lit("java.util.UUID"), F.lit("randomUUID")),
    "reflect in SQL": lambda: F.expr("reflect('java.util.UUID', 'randomUUID')"),
    "try_reflect": lambda: F.try_reflect(F.lit("java.util.UUID"), F.lit("randomUUID")),
    "by name": lambda: F.call_function("uuid"),
    "real rand": PF.rand,
    "real uuid, inside": lambda: PF.concat(PF.col("id"), PF.uuid()),
    "a vector that is drawn": lambda: F.aes_encrypt(F.col("id"), F.lit("0000111122223333")),
}


def refused(spark: SparkSession, stream: Stream, sink: Callable[[str], Kafka]) -> str:
    with pytest.raises(PlanError) as caught:
        asked(spark, stream, sink("exactly-once"))
    asked(spark, stream, sink("at-least-once"))
    assert "test_repeatable.py" in str(caught.value)
    return str(caught.value)


def asked(spark: SparkSession, stream: Stream, sink: Kafka) -> None:
    layers = Layers(Pipeline("chance", out=stream.to(sink)))
    check(layers)
    types.check(layers, spark)


def plain(guarantee: Any) -> Kafka:
    return Kafka("out", guarantee=guarantee)


@pytest.mark.parametrize("name", HIDDEN)
def test_chance_in_a_column(spark: SparkSession, name: str) -> None:
    assert "replayed" in refused(spark, payments.with_columns(x=HIDDEN[name]()), plain)


@pytest.mark.parametrize("name", HIDDEN)
def test_chance_in_a_key(spark: SparkSession, name: str) -> None:
    def keyed(guarantee: Any) -> Kafka:
        return Kafka("out", key=HIDDEN[name](), guarantee=guarantee)

    assert "replayed" in refused(spark, payments, keyed)


def test_chance_after_and_in_a_window(spark: SparkSession) -> None:
    windows = payments.key_by("card").window("w", Tumbling("1 minute"))
    after = windows.agg(n=F.count("*")).with_columns(x=PF.rand())
    assert "rand()" in refused(spark, after, plain)
    # Spark takes none inside an aggregate, whatever is promised; a drawn vector it does not notice.
    with pytest.raises(PlanError, match="Non-deterministic"):
        asked(spark, windows.agg(n=F.max(F.col("amount") * PF.rand())), plain("at-least-once"))
    sealed = F.aes_encrypt(F.col("id"), F.lit("0000111122223333"))
    assert "aes_encrypt()" in refused(spark, windows.agg(n=F.max(sealed)), plain)


def test_chance_in_a_transform(spark: SparkSession) -> None:
    def column(frame: DataFrame) -> DataFrame:
        return frame.withColumn("x", PF.rand())

    def sampled(frame: DataFrame) -> DataFrame:
        return frame.where(PF.rand() < 0.5)

    assert "rand()" in refused(spark, payments.transform(column), plain)
    assert "rand()" in refused(spark, payments.transform(sampled), plain)


def test_by_name_it_is_refused_without_spark() -> None:
    for key in (F.uuid(), F.expr("java_method('java.util.UUID', 'randomUUID')"), F.call_function("UUID")):
        with pytest.raises(PlanError, match="replayed"):
            check(Layers(Pipeline("chance", out=payments.to(Kafka("out", key=key)))))


def test_a_look_up_ahead_of_state() -> None:
    def planned(guarantee: Any, **options: Any) -> None:
        found = payments.lookup("limits", limits, on={"card": "number"}, suffix="_2", **options)
        windows = found.key_by("country_2").window("w", Tumbling("1 minute")).agg(n=F.count("*"))
        outputs = {"plain": found.to(Kafka("plain")), "out": windows.to(plain(guarantee))}
        check(Layers(Pipeline("chance", **outputs)))

    with pytest.raises(
        PlanError, match=r"look-up 'limits' may find another row .* window 'w' keeps"
    ) as caught:
        planned("exactly-once")
    assert "test_repeatable.py" in str(caught.value)
    assert "repeatable=True" in str(caught.value)
    planned("at-least-once")
    planned("exactly-once", repeatable=True)


def test_what_is_repeatable_stays_allowed(spark: SparkSession) -> None:
    @F.udf("string")
    def spelled(value: str) -> str:
        return value.upper()

    stream = payments.with_columns(
        seen=F.current_timestamp(),
        hashed=F.xxhash64("id"),
        upper=spelled("id"),
        sealed=F.aes_encrypt(F.col("id"), F.lit("0000111122223333"), F.lit("ECB")),
    )
    asked(spark, stream, Kafka("out", key=F.md5("id")))
