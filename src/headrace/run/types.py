"""Types of a pipeline, as Spark finds them: every expression analysed, nothing started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from headrace.plan import back, between, front
from headrace.plan.kernel import Kernel
from headrace.run.query import source_indices

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType as Schema

    from headrace.declare.node import Node, Port
    from headrace.plan.layers import Layers

KAFKA = StructType(
    [
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("timestamp", TimestampType()),
        StructField("timestampType", IntegerType()),
    ]
)
"""The columns of a Kafka source."""


def check(layers: Layers, spark: SparkSession) -> tuple[dict[Port, Schema], dict[Node, str]]:
    """Return the schema of every port, and the Python functions of every step.

    What Spark refuses is an error at the user's line.
    """
    kernel = Kernel(spark)
    raw = {source: kernel.empty(KAFKA) for source in layers.sources}
    made = front.build(kernel, layers, raw, source_indices(layers, None))
    back.build(kernel, layers, kernel.empty(between.OUTPUTS), made.schemas)
    return made.schemas, kernel.python
