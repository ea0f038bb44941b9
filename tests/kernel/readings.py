"""Rows of many types, at random, for aggregates to be made of."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import StructType

from headrace import Bounded, Stream, Topic, decimal, record

START = datetime(2026, 1, 1, tzinfo=UTC)


@record
class Top:
    sketch: bytes
    tracked: int
    item: str | None
    ddl: str


@record
class Reading:
    id: int
    shop: str
    number: int | None
    real: float | None
    price: decimal(12, 2) | None  # type: ignore[valid-type]
    wide: decimal(38, 4) | None  # type: ignore[valid-type]
    word: str | None
    flag: bool | None
    day: date | None
    tags: list[str] | None
    theta: bytes | None
    hll: bytes | None
    tuples: bytes | None
    counts: bytes | None
    longs: bytes | None
    floats: bytes | None
    doubles: bytes | None
    top: Top
    at: datetime


def readings() -> Stream:
    return Topic("readings", Reading, key="shop", time="at").stream(watermark=Bounded("5 seconds"))


def schema() -> StructType:
    return StructType.fromJson(readings().port.node.sources[0].topic.schema.schema_json())


def sketches(spark: SparkSession) -> list[dict[str, Any]]:
    """Sketches of three values each, one of which they share."""
    rows = [(kind, f"word {word}", word) for kind in range(6) for word in (0, kind, 9 + kind)]
    frame = spark.createDataFrame(rows, "kind int, word string, number int")
    top = sql.call_function("approx_top_k_accumulate", "word", sql.lit(100))
    made = frame.groupBy("kind").agg(
        sql.theta_sketch_agg("word").alias("theta"),
        sql.hll_sketch_agg("word").alias("hll"),
        sql.tuple_sketch_agg_double("word", sql.col("number").cast("double")).alias("tuples"),
        sql.tuple_sketch_agg_integer("word", "number").alias("counts"),
        sql.kll_sketch_agg_bigint(sql.col("number").cast("long")).alias("longs"),
        sql.kll_sketch_agg_float(sql.col("number").cast("float")).alias("floats"),
        sql.kll_sketch_agg_double(sql.col("number").cast("double")).alias("doubles"),
        top.alias("top"),
    )
    names = ("sketch", "tracked", "item", "ddl")
    found = []
    for row in sorted(made.collect()):
        one = {name: bytes(value) for name, value in row.asDict().items() if name not in {"kind", "top"}}
        values = [bytes(value) if isinstance(value, bytearray) else value for value in row["top"]]
        found.append({**one, "top": dict(zip(names, values, strict=True))})
    return found


def rows(spark: SparkSession, count: int) -> list[dict[str, Any]]:
    """Rows over three minutes, a fifth of all values null, no two at one time."""
    dice = random.Random(7)
    made = sketches(spark)
    found = []
    for number in range(count):
        values = {
            "number": dice.randrange(-1000, 1000),
            "real": dice.choice([-0.0, 0.0, dice.randrange(40) / 8]),
            "price": Decimal(dice.randrange(10**6)) / 100,
            "wide": Decimal(10) ** 25 + Decimal(dice.randrange(100)) / 4,
            "word": dice.choice(["a", "b", "c", "ä", "ö", "long-words", ""]),
            "flag": dice.random() < 0.9,
            "day": date(2026, 1, dice.randrange(1, 5)),
            "tags": dice.sample(["x", "y", "z"], dice.randrange(3)),
            **{name: dice.choice(made)[name] for name in made[0]},
        }
        values = {name: None if dice.random() < 0.2 else value for name, value in values.items()}
        # A count of frequent values wants its sketches whole.
        values["top"] = values["top"] or made[0]["top"]
        at = START + timedelta(milliseconds=number * 180_000 // count, microseconds=number)
        found.append({"id": number, "shop": dice.choice("uvwx"), **values, "at": at})
    return found
