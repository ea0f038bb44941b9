"""What only Spark can tell about a join: types and columns behind a transform."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as PF

from headrace import Kafka, Pipeline, PlanError, PostgresTable, Stream
from headrace.plan.layers import Layers
from headrace.run import types
from tests.plan.pipelines import Limit, payments, refunds

NEAR: dict[str, Any] = {"on": "card", "within": "1 minute"}


def layers(stream: Stream) -> Layers:
    return Layers(Pipeline("joined", out=stream.to(Kafka("out"))))


def refused(spark: SparkSession, stream: Stream) -> str:
    with pytest.raises(PlanError) as caught:
        types.check(layers(stream), spark)
    assert "test_joins.py:" in str(caught.value)
    return str(caught.value)


def test_keys_of_two_types_are_refused_with_a_cast_as_the_cure(spark: SparkSession) -> None:
    def numbered(frame: DataFrame) -> DataFrame:
        return frame.select(PF.hash("card").alias("card"))

    told = refused(spark, payments.join("j", refunds.transform(numbered), **NEAR))
    assert """the key "card" is string on the left, and "card" is int on the right""" in told
    assert """.with_columns(card=F.col("card").cast("string"))""" in told


def test_columns_behind_a_transform_that_clash(spark: SparkSession) -> None:
    same = refunds.transform(lambda frame: frame)
    told = refused(spark, payments.join("j", same, **NEAR))
    assert """the join "j" would have two columns each "id", "country", "amount", "at\"""" in told
    types.check(layers(payments.join("j", same, suffix="_right", **NEAR)), spark)
    types.check(layers(payments.join("j", same, how="anti", **NEAR)), spark)


def test_a_key_behind_a_transform_that_is_not_there(spark: SparkSession) -> None:
    without = refunds.transform(lambda frame: frame.drop("card"))
    assert 'no column "card"' in refused(spark, payments.join("j", without, suffix="_right", **NEAR))


def looked_up(stream: Stream, **options: Any) -> Stream:
    table = PostgresTable("postgresql://reader:${NOT_SET}@db.example.com/cards", "cards", Limit)
    return stream.lookup("limits", table, **{"on": {"card": "number"}, "suffix": "_2", **options})


def test_a_look_up_is_planned_without_its_server_and_its_password(spark: SparkSession) -> None:
    found, _ = types.check(layers(looked_up(payments)), spark)
    schema = next(made for port, made in found.items() if port.name == "out")
    assert schema.simpleString().endswith("country_2:string,limit:decimal(38,18)>")
    assert schema["limit"].nullable


def test_a_key_of_a_look_up_that_has_another_type(spark: SparkSession) -> None:
    def numbered(frame: DataFrame) -> DataFrame:
        return frame.withColumn("card", PF.hash("card"))

    told = refused(spark, looked_up(payments.transform(numbered)))
    assert '"card" of payments.transform is INT, and Limit.number is STRING: they are never equal' in told
    assert """.with_columns(card=F.col("card").cast("string"))""" in told


def test_columns_of_a_look_up_behind_a_transform(spark: SparkSession) -> None:
    same = payments.transform(lambda frame: frame)
    told = refused(spark, looked_up(same, suffix=None))
    assert 'the look-up "limits" would have two columns "country"' in told
    assert 'no column "card"' in refused(
        spark, looked_up(payments.transform(lambda frame: frame.drop("card")))
    )
