"""Delivered rows beside those that must come: what is missing, what is too many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from proofs.batch import LATE, PANES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHOWN = 3


@dataclass(frozen=True)
class Difference:
    """How many rows must come and came, and those that are only on one side."""

    expected: int
    came: int
    missing: int
    extra: int
    examples: tuple[str, ...] = ()

    @property
    def none(self) -> bool:
        """Whether both are the same."""
        return self.missing == self.extra == 0


def compare(expected: DataFrame, came: DataFrame) -> Difference:
    """Compare two frames as multisets of rows: none may be missing, none too many, none twice."""
    columns = expected.columns
    sides = expected.withColumn("side", F.lit(1)).unionByName(came.withColumn("side", F.lit(-1)))
    counted = (
        sides.groupBy(*columns)
        .agg(
            F.count_if(F.col("side") > 0).alias("expected"),
            F.count_if(F.col("side") < 0).alias("came"),
        )
        .withColumn("differ", F.col("expected") - F.col("came"))
    )
    row = F.to_json(F.struct(*columns))
    text = F.when(F.col("differ") > 0, F.concat(F.lit("missing "), row)).when(
        F.col("differ") < 0, F.concat(F.lit("extra "), row)
    )
    [told] = counted.agg(
        F.coalesce(F.sum("expected"), F.lit(0)).alias("expected"),
        F.coalesce(F.sum("came"), F.lit(0)).alias("came"),
        F.coalesce(F.sum(F.greatest("differ", F.lit(0))), F.lit(0)).alias("missing"),
        F.coalesce(-F.sum(F.least("differ", F.lit(0))), F.lit(0)).alias("extra"),
        # Not all are collected where everything differs.
        F.min(text).alias("first"),
        F.max(text).alias("last"),
    ).collect()
    examples = tuple(dict.fromkeys(each for each in (told["first"], told["last"]) if each))
    return Difference(told["expected"], told["came"], told["missing"], told["extra"], examples)


def delivered(spark: SparkSession, bootstrap: str, topic: str) -> DataFrame:
    """Return what a topic holds, and only what was committed."""
    return (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", topic)
        .load()
        .select("partition", "offset", F.col("value").cast("string").alias("value"))
    )


def panes(messages: DataFrame) -> DataFrame:
    """Return the panes in messages, in the columns of the answers."""
    kinds = dict(column.split(" ") for column in PANES.split(", "))
    inside = {"start": F.col("pane.window.start"), "end": F.col("pane.window.end")}
    schema = "window struct<start timestamp, end timestamp>, " + ", ".join(
        f"{name} {kind}" for name, kind in kinds.items() if name not in inside
    )
    return messages.select(F.from_json("value", schema, {"mode": "FAILFAST"}).alias("pane")).select(
        *(
            F.unix_micros(inside[name]).alias(name) if name in inside else F.col(f"pane.{name}")
            for name in kinds
        )
    )


def late(messages: DataFrame) -> DataFrame:
    """Return the late rows in messages, in the columns of the answers."""
    return messages.select(F.from_json("value", LATE).alias("row")).select("row.*")
