"""Rows that cannot be used leave with a reason, and the pipeline goes on."""

from collections import Counter
from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from headrace import Bounded, F, HeadraceError, Kafka, Pipeline, Topic, Tumbling, record
from headrace.testing import Harness
from headrace.testing.values import encode
from tests.pipeline.shop import at, batch, panes, pipeline, sale, sales

DAMAGES: dict[str, tuple[object, str]] = {
    "broken": (b'{"id": "1", "shop": ', "not JSON"),
    "empty": (b"", "empty"),
    "not an object": (b"[1, 2]", "not a JSON object"),
    "no field": ({"id": "1", "shop": "a", "price": "1", "at": at(1)}, "field pieces: missing"),
    "null field": (sale(1, 1) | {"shop": None}, "field shop: null"),
    "wrong type": (sale(1, 1) | {"pieces": "many"}, "field pieces: expected"),
    "too large": (sale(1, 1) | {"pieces": 2**63}, "does not fit"),
    "too precise": (sale(1, 1) | {"price": "1.005"}, "does not fit decimal(10,2)"),
    "no time": (sale(1, 1) | {"at": None}, "at"),
    "bad time": (sale(1, 1) | {"at": "yesterday"}, "field at: expected timestamp"),
    "future": (sale(1, 1) | {"at": "2190-01-01T00:00:00Z"}, "ahead of the clock"),
    "not UTF-8": (b'{"id": "\xff\xfe"}', "UTF-8"),
    "trailing": (b'{"id": "1"} {', ""),
    "tombstone": (None, "null value"),
}


def test_a_tenth_of_ten_thousand_rows_is_damaged_in_many_ways(spark: SparkSession) -> None:
    good = [sale(number, number / 100, shop=f"s{number % 7}") for number in range(9_000)]
    kinds = list(DAMAGES)
    rows: list[object] = []
    for number, row in enumerate(good):
        rows.append(row)
        if number % 9 == 0:
            rows.append(DAMAGES[kinds[number // 9 % len(kinds)]][0])
    assert len(rows) == 10_000
    with Harness(pipeline(sales()), spark) as harness:
        harness.feed("sales", *rows)
        harness.drain()
        rejected = harness.rows("rejected")
        assert len(rejected) == 1_000
        damaged = [offset for offset, row in enumerate(rows) if _damaged(row)]
        assert sorted(row["offset"] for row in rejected) == damaged
        reasons: Counter[str] = Counter()
        for row in rejected:
            kind, (_, reason) = next(
                (kind, each) for kind, each in DAMAGES.items() if encode(each[0]) == row["value"]
            )
            assert reason in row["reason"], (kind, row["reason"])
            assert row["topic"] == "sales"
            assert row["step"] == "sales"
            reasons[kind] += 1
        assert len(reasons) == len(DAMAGES)
        assert panes(harness.rows("panes")) == batch(good)
        assert harness.counts["rejected sales"] == 1_000
        assert not harness.rows("late")


def _damaged(row: object) -> bool:
    return any(row is damaged for damaged, _ in DAMAGES.values())


@record
class Reading:
    sensor: str
    text: str
    value: int
    at: datetime


readings = Topic("readings", Reading, time="at").stream(watermark=Bounded("1 second"))


@F.udf("int")
def half(value: int) -> int:
    if value % 2:
        raise ValueError(f"{value} is odd")
    return value // 2


def reading(value: int, text: str = "1", seconds: float = 1) -> dict[str, object]:
    return {"sensor": "s", "text": text, "value": value, "at": at(seconds)}


def test_expressions_that_fail_reject_their_row_alone(spark: SparkSession) -> None:
    parsed = readings.with_columns(
        name="parsed", number=F.col("text").cast("int"), doubled=F.col("value") * 4_000_000_000
    )
    halved = parsed.with_columns(name="halved", half=half("value"))
    windows = (
        halved.key_by("sensor")
        .window("ratio", Tumbling("10 seconds"))
        .agg(n=F.count("*"), ratio=F.max(F.lit(12) / F.col("number")))
    )
    checked = windows.with_columns(name="checked", inverse=F.lit(1) / (F.col("n") - 2))
    pipeline = Pipeline(
        "failing",
        panes=checked.to(Kafka("panes")),
        rejected=readings.rejected.to(Kafka("rejected")),
    )
    with Harness(pipeline, spark) as harness:
        harness.feed(
            "readings",
            reading(2),
            reading(4, text="x"),
            reading(2**62),
            reading(3),
            reading(6, text="0"),
            reading(8, text="3"),
            reading(8, seconds=11),
        )
        out = harness.drain()
        steps = {row["step"]: row["reason"] for row in harness.rows("rejected")}
        assert set(steps) == {"parsed", "halved", "ratio", "checked"}
        assert "3 is odd" in steps["halved"]
        assert "DIVIDE_BY_ZERO" in steps["ratio"]
        assert "DIVIDE_BY_ZERO" in steps["checked"]
        assert [row["offset"] for row in harness.rows("rejected") if row["step"] == "parsed"] == [1, 2]
        assert [row["n"] for row in out["panes"]] == [1]


def test_on_error_fail_stops_the_pipeline_with_the_reason(spark: SparkSession) -> None:
    strict = Topic("readings", Reading, time="at", on_error="fail").stream(watermark=Bounded("1 second"))
    with Harness(Pipeline("strict", all=strict.to(Kafka("all"))), spark) as harness:
        harness.feed("readings", reading(1))
        assert len(harness.run()["all"]) == 1
        harness.feed("readings", b"{")
        with pytest.raises(HeadraceError, match="step readings of topic readings failed: not JSON"):
            harness.run()
