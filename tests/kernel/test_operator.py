"""The operator on Spark and RocksDB, driven epoch by epoch, each from the last one's checkpoint."""

from __future__ import annotations

import json
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START = datetime(2026, 1, 1, tzinfo=UTC)
START_MICROS = int(START.timestamp()) * 1_000_000
MINUTE = 60_000_000
END = 2**63 - 1
PARTITIONS = 2
GROUPS = 4
CARDS, COUNTRIES, CARDS_LATE, COUNTRIES_LATE, COPIES, REJECTED = range(1, 7)
PROVIDER = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": PROVIDER,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.sql.session.timeZone": "UTC",
}
EVENT = (
    "partition int, offset long, at timestamp, card string, country string, "
    "amount decimal(12,2), points long, weight double, day date"
)
INPUT = "program int, grp int, kind int, source int, partition int, offset long, time long, payload binary"
REJECTED_ROW = (
    "topic string, partition int, offset long, timestamp timestamp, "
    "key binary, value binary, step string, reason string"
)
ROW = "card string, country string, amount decimal(12,2), at timestamp"
AGGREGATES: list[tuple[str, str, str | None, str]] = [
    ("payments", "count", None, "bigint"),
    ("known", "count", "points", "bigint"),
    ("total", "sum", "amount", "decimal(22,2)"),
    ("mean", "avg", "amount", "decimal(16,6)"),
    ("points", "sum", "points", "bigint"),
    ("mean_points", "avg", "points", "double"),
    ("weight", "sum", "weight", "double"),
    ("least", "min", "country", "string"),
    ("latest_day", "max", "day", "date"),
    ("first_points", "first", "points", "bigint"),
    ("last_country", "last", "country", "string"),
    ("countries", "approx_count_distinct", "country", "bigint"),
]
INPUTS = ["amount", "points", "weight", "country", "day"]


def schema(ddl: str) -> T.StructType:
    """The schema in words, as a value."""
    made = T.StructType.fromDDL(ddl)
    assert isinstance(made, T.StructType)
    return made


def outputs(key: str, aggregates: list[tuple[str, str, str | None, str]]) -> T.StructType:
    """What a pane looks like."""
    slots = ", ".join(f"{name} {kind}" for name, _, _, kind in aggregates)
    return schema(
        f"{key} string, window struct<start: timestamp, end: timestamp>, {slots}, "
        "pane string, pane_index int, pane_last boolean"
    )


class Bench:
    """A layer of two programs over one stream of payments, fed and ticked by hand."""

    def __init__(self, spark: SparkSession, folder: Path, *, narrow: bool = False) -> None:
        self.spark = spark
        self.folder = folder
        self.epoch = 0
        self.read: list[int] = []
        self.operators: list[int] = []
        aggregates = [
            (n, f, i, "decimal(12,2)" if narrow and n == "total" else t) for n, f, i, t in AGGREGATES
        ]
        self.ports = {
            CARDS: outputs("card", aggregates),
            COUNTRIES: outputs("country", AGGREGATES[:1]),
            CARDS_LATE: schema(f"{ROW}, late_by_seconds double"),
            COUNTRIES_LATE: schema(f"{ROW}, late_by_seconds double"),
            COPIES: schema("card string, amount decimal(12,2)"),
            REJECTED: schema(REJECTED_ROW),
        }
        self.programs = [
            self._program(1, "by-card", "card", MINUTE, aggregates, CARDS, CARDS_LATE),
            self._program(2, "by-country", "country", MINUTE // 2, AGGREGATES[:1], COUNTRIES, COUNTRIES_LATE),
        ]
        for name in ("events", "ticks"):
            (folder / name).mkdir()

    def _numbers(self, program: int, groups: int) -> list[int]:
        return list(self.spark._jvm.headrace.operator.KeyGroups.numbers(program, groups, PARTITIONS))

    def _program(
        self,
        number: int,
        name: str,
        key: str,
        size: int,
        aggregates: list[tuple[str, str, str | None, str]],
        port: int,
        late: int,
    ) -> dict[str, Any]:
        return {
            "id": number,
            "name": name,
            "sources": ["payments"],
            "groups": self._numbers(number, GROUPS),
            "window": {"kind": "tumbling", "size": size, "offset": 0},
            "key": schema(f"{key} string").jsonValue(),
            "inputs": T.StructType([schema(EVENT)[column] for column in INPUTS]).jsonValue(),
            "aggregates": [
                {
                    "name": slot,
                    "function": function,
                    "input": None if column is None else INPUTS.index(column),
                    "type": schema(f"x {kind}")["x"].dataType.jsonValue(),
                    "options": {},
                }
                for slot, function, column, kind in aggregates
            ],
            "port": port,
            "rejectedPort": REJECTED,
            "output": self.ports[port].jsonValue(),
            "sides": [
                {
                    "row": schema(ROW).jsonValue(),
                    "latePort": late,
                    "late": self.ports[late].jsonValue(),
                }
            ],
        }

    def frame(self) -> DataFrame:
        """The layer's output over the two streams."""
        events = self.spark.readStream.name("events").schema(EVENT).parquet(str(self.folder / "events"))
        ticks = self.spark.readStream.name("ticks").schema(INPUT).json(str(self.folder / "ticks"))
        exits = [
            F.struct(
                F.col("at").alias("time"),
                F.struct(key).alias("key"),
                F.struct(*INPUTS).alias("inputs"),
                F.struct("card", "country", "amount", "at").alias("row"),
            )
            for key in ("card", "country")
        ]
        copy = F.when(F.col("amount") > 50, F.struct("card", "amount"))
        packed = F.struct(
            F.lit(0).alias("source"),
            F.col("partition"),
            F.col("offset"),
            F.col("at").alias("event_time"),
            exits[0].alias("cards"),
            exits[1].alias("countries"),
            copy.alias("copy"),
        )
        jvm = self.spark._jvm
        layer = {
            "partitions": PARTITIONS,
            "programs": self.programs,
            "passGroups": self._numbers(0, PARTITIONS),
            "exits": [
                {"ordinal": 4, "program": 1},
                {"ordinal": 5, "program": 2},
                {"ordinal": 6, "port": COPIES},
            ],
        }
        rows = events.select(Column(jvm.headrace.expression.Expressions.pack(packed._jc)).alias("packed"))
        maxima = jvm.headrace.clock.Maxima()
        self.spark._jsc.sc().register(maxima, "maxima")
        return DataFrame(
            jvm.headrace.operator.Layer.apply(rows._jdf, ticks._jdf, json.dumps(layer), maxima), self.spark
        )

    def run(self, events: list[Row], tick: int | None = None, *, known: int | None = None) -> None:
        """One epoch, in a query of its own: the rows, and the tick.

        Map tasks are told the watermark ``known``, by default the tick's.
        """
        name = f"{self.epoch:04d}"
        if events:
            frame = self.spark.createDataFrame(events, EVENT).coalesce(1)
            frame.write.parquet(str(self.folder / f"staged-{name}"))
            for number, file in enumerate(sorted((self.folder / f"staged-{name}").glob("*.parquet"))):
                file.rename(self.folder / "events" / f"{name}-{number}.parquet")
        if tick is not None:
            rows = [
                {
                    "program": p["id"],
                    "grp": g,
                    "kind": 2,
                    "source": 0,
                    "partition": 0,
                    "offset": self.epoch,
                    "time": tick,
                }
                for p in self.programs
                for g in p["groups"]
            ]
            (self.folder / f".{name}").write_text("\n".join(json.dumps(row) for row in rows))
            (self.folder / f".{name}").rename(self.folder / "ticks" / f"{name}.json")
        told = known if known is not None else tick
        self.spark.sparkContext.setLocalProperty(
            "headrace.watermarks", "" if told is None else f"1={told};2={told}"
        )
        query = (
            self.frame()
            .writeStream.format("parquet")
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .option("path", str(self.folder / "out"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        progress = query.lastProgress
        assert progress is not None
        self.read.append(progress["sources"][0]["numInputRows"])
        self.operators.append(len(progress["stateOperators"]))
        self.epoch += 1

    def out(self, port: int) -> list[Row]:
        """Everything that came out of a port so far, unpacked."""
        expressions = self.spark._jvm.headrace.expression.Expressions
        content = Column(expressions.unpack(F.col("payload")._jc, self.ports[port].json()))
        rows = self.spark.read.parquet(str(self.folder / "out")).where(F.col("port") == port)
        return rows.select(content.alias("x")).select("x.*").collect()


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Iterator[Bench]:
    """A layer with nothing in it yet."""
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    yield Bench(spark, tmp_path)
    spark.sparkContext.setLocalProperty("headrace.watermarks", None)
    for name, earlier in before.items():
        if earlier is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, earlier)


def payment(
    offset: int,
    seconds: float,
    card: str = "a",
    country: str | None = "DE",
    amount: str = "10.00",
    **more: Any,
) -> Row:
    """One payment."""
    values: dict[str, Any] = {"points": offset, "weight": 0.5, "day": date(2026, 1, 1), **more}
    at = START + timedelta(seconds=seconds)
    return Row(  # type: ignore[call-overload]
        offset % 2,
        offset,
        at,
        card,
        country,
        Decimal(amount),
        values["points"],
        values["weight"],
        values["day"],
    )


def random_payments(count: int) -> list[Row]:
    """Payments over five minutes, nulls among them."""
    dice = random.Random(42)
    return [
        payment(
            offset,
            round(dice.uniform(-150, 150), 6),
            card=f"card-{dice.randrange(60)}",
            country=dice.choice(["DE", "FR", "ä", None]),
            amount=f"{dice.randrange(10**7) / 100:.2f}",
            points=dice.choice([None, dice.randrange(-(10**9), 10**9)]),
            # Halves add up exactly, so that the order in which Spark adds them does not show.
            weight=dice.randrange(1000) / 2,
            day=date(2026, 1, dice.randrange(1, 28)),
        )
        for offset in range(count)
    ]


def batch(spark: SparkSession, events: list[Row]) -> list[Row]:
    """The panes by card as Spark computes them over all events at once."""
    at = F.struct("at", F.lit(0), "partition", "offset")
    aggregates = {
        "payments": F.count("*"),
        "known": F.count("points"),
        "total": F.sum("amount"),
        "mean": F.avg("amount"),
        "points": F.sum("points"),
        "mean_points": F.avg("points"),
        "weight": F.sum("weight"),
        "least": F.min("country"),
        "latest_day": F.max("day"),
        "first_points": F.min_by("points", at),
        "last_country": F.max_by("country", at),
        "countries": F.approx_count_distinct("country"),
    }
    grouped = spark.createDataFrame(events, EVENT).groupBy("card", F.window("at", "1 minute").alias("window"))
    slots = [column.alias(name) for name, column in aggregates.items()]
    return (
        grouped.agg(*slots)
        .select(
            "*", F.lit("on_time").alias("pane"), F.lit(0).alias("pane_index"), F.lit(True).alias("pane_last")
        )
        .collect()
    )


def micros(seconds: float) -> int:
    """Seconds from the start of the test's time, as the kernel counts."""
    return START_MICROS + int(seconds * 1_000_000)


def test_panes_equal_a_batch_run_whatever_the_cut_and_across_restarts(
    bench: Bench, spark: SparkSession
) -> None:
    events = random_payments(1500)
    shuffled = random.Random(1).sample(events, len(events))
    bench.run(shuffled[:900], micros(-151))
    bench.run(shuffled[900:1200])
    bench.run(shuffled[1200:], micros(-150))
    bench.run([], micros(31))
    fired = len(bench.out(CARDS))
    bench.run([], END)
    expected = batch(spark, events)
    panes = bench.out(CARDS)
    assert 0 < fired < len(expected)
    assert sorted(map(repr, panes)) == sorted(map(repr, expected))
    assert sum(pane["payments"] for pane in bench.out(COUNTRIES)) == len(events)
    assert bench.out(CARDS_LATE) == []
    assert len(bench.out(COPIES)) == sum(event[5] > 50 for event in events)
    assert set(bench.operators) == {1}, "two programs and the rows that pass ride in one operator"
    assert sum(bench.read) == len(events), "every row is read once"


def test_what_is_late_leaves_with_its_row_and_is_in_no_pane(bench: Bench) -> None:
    bench.run([payment(0, 1), payment(1, 59)], micros(0))
    bench.run([payment(2, 30, amount="7.00"), payment(3, 60)], micros(60))
    bench.run([], END)
    late = bench.out(CARDS_LATE)
    assert late == [
        Row(card="a", country="DE", amount=Decimal("7.00"), at=late[0]["at"], late_by_seconds=0.0)
    ]
    assert sorted((pane["window"]["start"].second, pane["payments"]) for pane in bench.out(CARDS)) == [
        (0, 1),
        (0, 2),
    ]
    assert [row["late_by_seconds"] for row in bench.out(COUNTRIES_LATE)] == [0.0]


def test_an_overflow_is_null_in_its_pane_and_said_aloud(
    spark: SparkSession, bench: Bench, tmp_path: Path
) -> None:
    (tmp_path / "narrow").mkdir()
    narrow = Bench(spark, tmp_path / "narrow", narrow=True)
    narrow.run([payment(0, 1, amount="9999999999.99"), payment(1, 2, amount="9999999999.99")], micros(0))
    narrow.run([], END)
    assert [(pane["payments"], pane["total"]) for pane in narrow.out(CARDS)] == [(2, None)]
    [rejected] = narrow.out(REJECTED)
    assert rejected["step"] == "by-card"
    assert rejected["reason"].startswith(
        "sum total overflowed decimal(12,2) for key {card=a} window [2026-01-01T00:00:00Z, "
    )
    assert bench.epoch == 0


def test_no_filter_reaches_the_clock(bench: Bench, spark: SparkSession) -> None:
    split = bench.frame().where("port = 1 and payload is not null and time > 5").select("payload")
    text = spark._jvm.PythonSQLUtils.explainString(split._jdf.queryExecution(), "extended")
    plan = text[text.index("== Optimized Logical Plan ==") : text.index("== Physical Plan ==")]
    above, below = plan.split("TransformWithState", 1)
    assert "Filter" in above
    assert "Filter" not in below
    assert below.count("Union") == 1
    assert plan.count("TransformWithState") == 1
