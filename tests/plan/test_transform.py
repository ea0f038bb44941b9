"""What only Spark can tell about a transform: its columns, its Python, and what its function raises."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as PF

from headrace import F, Kafka, Pipeline, PlanError, Stream, Tumbling
from headrace.plan import explain
from headrace.plan.layers import Layers
from headrace.run import types
from tests.plan.pipelines import payments


def layers(stream: Stream, **options: object) -> Layers:
    return Layers(Pipeline("transformed", out=stream.to(Kafka("out", **options))))  # type: ignore[arg-type]


def refused(spark: SparkSession, stream: Stream, **options: object) -> str:
    with pytest.raises(PlanError) as caught:
        types.check(layers(stream, **options), spark)
    assert "test_transform.py:" in str(caught.value)
    return str(caught.value)


def test_what_the_function_raises_is_told_at_the_users_line(spark: SparkSession) -> None:
    def wrong_key(frame: DataFrame) -> DataFrame:
        return frame.withColumn("x", PF.lit(dict[str, int]()["missing"]))

    def wrong_name(frame: DataFrame) -> DataFrame:
        return frame.withColumn("x", nowhere)  # type: ignore[name-defined] # noqa: F821

    assert "raised KeyError: 'missing'" in refused(spark, payments.transform(wrong_key))
    assert "raised NameError: name 'nowhere'" in refused(spark, payments.transform(wrong_name))


def test_columns_after_a_transform_that_are_unknown_or_collide(spark: SparkSession) -> None:
    same = payments.transform(lambda frame: frame)
    assert 'no column "crad"' in refused(spark, same, key="crad")
    windows = same.key_by("crad").window("w", Tumbling("1 minute")).agg(n=F.count("*"))
    assert 'no column "crad"' in refused(spark, windows)
    named = payments.transform(lambda frame: frame.withColumn("LATE_by_seconds", PF.lit(1)))
    late = named.key_by("card").window("w", Tumbling("1 minute")).agg(n=F.count("*"))
    assert '"LATE_by_seconds" has the name of one that late rows get' in refused(spark, late)


def test_a_transform_that_replaces_the_time_of_windows(spark: SparkSession) -> None:
    later = payments.transform(lambda frame: frame.withColumn("at", PF.expr("at + interval 1 hour")))
    windows = later.key_by("card").window("w", Tumbling("1 minute")).agg(n=F.count("*"))
    assert '"at" is the event time of payments, and is replaced at ' in refused(spark, windows)
    types.check(layers(later), spark)
    same = payments.transform(lambda frame: frame.withColumn("more", PF.col("at")).where("card <> ''"))
    types.check(layers(same.key_by("card").window("w", Tumbling("1 minute")).agg(n=F.count("*"))), spark)


def test_the_plan_tells_of_python_wherever_it_is(spark: SparkSession) -> None:
    @F.udf("double")
    def scored(amount: float) -> float:
        return float(amount)

    real = PF.udf(lambda text: text, "string")
    stream = payments.transform(lambda frame: frame.withColumn("x", real("id")), name="hidden")
    stream = stream.transform(lambda frame: frame.where("card <> ''"), name="plain")
    windows = stream.key_by("card").window("w", Tumbling("1 minute")).agg(most=F.max(scored("amount")))
    made = layers(windows)
    quick = {step["name"]: step for step in explain.describe(made)["steps"]}
    assert quick["hidden"]["runs"] == quick["plain"]["runs"] == "native or python"
    assert "known when Spark analyses it" in quick["plain"]["why"]
    assert quick["w"]["runs"] == "kernel, python"
    assert "scored is Python" in quick["w"]["why"]
    _, python = types.check(made, spark)
    asked = {step["name"]: step for step in explain.describe(made, python)["steps"]}
    assert {name: step["runs"] for name, step in asked.items()} == {
        "hidden": "python",
        "plain": "native",
        "w": "kernel, python",
    }
    assert "[kernel, python]" in explain.text(made, python)
