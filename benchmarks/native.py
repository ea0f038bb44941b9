"""Spark's side: the same questions asked with Spark's own operators."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from benchmarks.events import AMOUNTS, LAG, WINDOW
from benchmarks.timing import Run, epochs, measured, processor_seconds
from headrace.run import kafka

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SCHEMA = "card string, amount bigint, at timestamp"


def events(
    spark: SparkSession, bootstrap: str, topic: str, rows: int | None = None, *, name: str = "events"
) -> DataFrame:
    """Return the events of a topic, read with the options that ours are read with: only operators compete."""
    reader = (
        spark.readStream.format("kafka")
        # Named sources are on in our sessions, and then every source must have a name.
        .name(name)
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
    )
    for option, value in kafka.READING.items():
        reader = reader.option(f"kafka.{option}", value)
    if rows is not None:
        reader = reader.option("maxOffsetsPerTrigger", rows)
    decoded = F.from_json(F.col("value").cast("string"), SCHEMA).alias("event")
    return reader.load().select(decoded).select("event.*")


def counted(source: DataFrame, window: timedelta = WINDOW) -> DataFrame:
    """Sum and count per card."""
    return (
        source.withWatermark("at", _seconds(LAG))
        .groupBy(F.window("at", _seconds(window)), "card")
        .agg(F.sum("amount").alias("total"), F.count("*").alias("payments"))
    )


def tumbling(source: DataFrame) -> DataFrame:
    """Sum and count per card; every row is made a message."""
    return _messages(counted(source))


def dear(source: DataFrame) -> DataFrame:
    """Half of the events pass a filter and are made messages; no state."""
    return _messages(source.where(F.col("amount") >= AMOUNTS // 2))


def _messages(rows: DataFrame) -> DataFrame:
    return rows.select(
        F.col("card").cast("binary").alias("key"),
        F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).cast("binary").alias("value"),
    )


def _seconds(duration: timedelta) -> str:
    return f"{duration / timedelta(seconds=1):g} seconds"


def start(spark: SparkSession, rows: DataFrame, checkpoint: str, *, bounded: bool) -> StreamingQuery:
    """Start a query whose rows go nowhere."""
    spark.conf.set("spark.sql.shuffle.partitions", str(spark.sparkContext.defaultParallelism))
    writer = rows.writeStream.format("noop").outputMode("append").option("checkpointLocation", checkpoint)
    writer = writer.trigger(availableNow=True) if bounded else writer.trigger(processingTime="0 seconds")
    return writer.start()


def run(spark: SparkSession, rows: DataFrame, seconds: float) -> Run:
    """Run a query over all that its topic holds."""
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as checkpoint:
        query = start(spark, rows, checkpoint, bounded=True)
        before = processor_seconds(spark)
        try:
            if not query.awaitTermination(int(seconds)):
                raise TimeoutError(f"Spark's own query took more than {seconds:.0f} s")
        finally:
            query.stop()
        processor = processor_seconds(spark) - before
        done = epochs(query._jsq)
        results = sum(max(each["sink"]["numOutputRows"], 0) for each in done)
        return measured(done, results, processor)
