"""What is one key and what is two."""

from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from headrace import Bounded, F, Kafka, Pipeline, PlanError, Topic, Tumbling, record
from headrace.testing import Harness
from tests.pipeline.shop import at


@record
class Reading:
    ratio: float
    at: datetime


readings = Topic("readings", Reading, time="at").stream(watermark=Bounded("1 second"))


def test_equal_floats_are_one_key(spark: SparkSession) -> None:
    # In JSON there is no NaN; two ways to make one.
    stream = readings.with_columns(
        ratio=F.when(F.col("ratio") == 7, F.lit("NaN").cast("double"))
        .when(F.col("ratio") == 8, -F.lit("NaN").cast("double"))
        .otherwise(F.col("ratio"))
    )
    windows = stream.key_by("ratio").window("ratios", Tumbling("10 seconds")).agg(n=F.count("*"))
    with Harness(Pipeline("ratios", panes=windows.to(Kafka("panes"))), spark) as harness:
        for ratio in ("0.0", "-0.0", "0.5", "7", "8"):
            harness.feed("readings", f'{{"ratio": {ratio}, "at": "{at(1)}"}}'.encode())
        assert sorted(row["n"] for row in harness.drain()["panes"]) == [1, 2, 2]


def test_floats_inside_a_key_are_refused(spark: SparkSession) -> None:
    stream = readings.with_columns(pair=F.array("ratio", "ratio"))
    windows = stream.key_by("pair").window("pairs", Tumbling("10 seconds")).agg(n=F.count("*"))
    with pytest.raises(PlanError, match="floating point inside a key"):
        Harness(Pipeline("pairs", panes=windows.to(Kafka("panes"))), spark)
