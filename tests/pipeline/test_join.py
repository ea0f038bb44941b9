"""Joins of streams as pipelines: against SQL over the same rows, on odd keys, and on old checkpoints."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace import Bounded, CheckpointError, F, Kafka, Pipeline, Stream, Topic, record
from headrace.testing import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)
JOINS = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "semi": "LEFT SEMI JOIN",
    "anti": "LEFT ANTI JOIN",
}
MINUTE = timedelta(minutes=1)
LEFT = "customer string, amount double, number bigint, at timestamp"
RIGHT = "payer string, sum double, number bigint, paid timestamp"


@record
class Order:
    customer: str | None
    amount: float | None
    number: int
    at: datetime


@record
class Payment:
    payer: str | None
    sum: float | None
    number: int
    paid: datetime


ordered = Topic("orders", Order, time="at").stream(watermark=Bounded("1 minute"))
payments = Topic("payments", Payment, time="paid").stream(watermark=Bounded("1 minute"))
ON = {"customer": "payer", "amount": "sum"}


def join(how: Any, name: str = "j", **options: Any) -> Stream:
    chosen = {"on": ON, "within": ("-5 minutes", "10 minutes"), "suffix": "_2", **options}
    return ordered.join(name, payments, how=how, **chosen)


def pipeline(how: str, **options: Any) -> Pipeline:
    return Pipeline("joined", out=join(how, **options).to(Kafka("out")))


def rows(seed: int, count: int, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """A tenth are of one key, some keys are null, zeros have signs, nothing is a minute out of order."""
    chance = random.Random(seed)
    made = []
    for number in range(count):
        key = "hot" if chance.random() < 0.1 else chance.choice(["a", "b", "c", "d", "e", None])
        at = START + MINUTE * number / 4 + timedelta(seconds=chance.randrange(50))
        amount = chance.choice([0.0, -0.0, 1.5, None])
        made.append(dict(zip(names, (key, amount, number, at), strict=True)))
    return made


def test_in_time_the_results_are_those_of_a_batch_join(spark: SparkSession) -> None:
    left = rows(1, 240, ("customer", "amount", "number", "at"))
    right = rows(2, 240, ("payer", "sum", "number", "paid"))
    found: dict[str, Counter[Any]] = {how: Counter() for how in JOINS}
    joined = {how: join(how, name=how) for how in JOINS}
    everything = Pipeline("every-kind", **{how: each.to(Kafka(how)) for how, each in joined.items()})
    with Harness(everything, spark, groups=3) as harness:

        def epoch(**watermark: Any) -> None:
            for how, out in harness.epoch(watermark=watermark).items():
                found[how].update(map(numbers, out))

        # The sides do not come at one speed; rows are judged by the watermark of the epoch that they come in.
        for cut in range(8):
            harness.feed("orders", *left[cut * 30 : cut * 30 + 30])
            if cut % 2:
                harness.feed("payments", *right[cut * 30 - 30 : cut * 30 + 30])
            passed = cut * 30, cut // 2 * 60
            epoch(
                **{
                    name: START + MINUTE / 4 * each
                    for name, each in zip(("orders", "payments"), passed, strict=True)
                }
            )
            if cut == 4:
                harness.restart()
        epoch(orders="end", payments="end")
    spark.createDataFrame(left, LEFT).createOrReplaceTempView("l")
    spark.createDataFrame(right, RIGHT).createOrReplaceTempView("r")
    for how, words in JOINS.items():
        chosen = "l.number" if how in {"semi", "anti"} else "l.number, r.number AS number_2"
        expected = spark.sql(
            f"SELECT {chosen} FROM l {words} r ON l.customer = r.payer AND l.amount = r.sum "  # noqa: S608 - our own
            "AND r.paid BETWEEN l.at - INTERVAL 5 MINUTES AND l.at + INTERVAL 10 MINUTES"
        ).collect()
        assert found[how] == Counter(numbers(row.asDict()) for row in expected), how
        assert found[how]


def numbers(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["number"], row.get("number_2")


def test_a_column_that_is_new_ahead_of_a_join_is_refused_on_its_checkpoint(
    spark: SparkSession, tmp_path: Any
) -> None:
    checkpoint = str(tmp_path)
    with Harness(pipeline("inner"), spark, checkpoint=checkpoint) as harness:
        harness.feed("orders", {"customer": "a", "amount": 1.0, "number": 1, "at": START})
        harness.run()
    more = ordered.with_columns(twice=F.col("number") * 2)
    joined = more.join("j", payments, on=ON, within=("-5 minutes", "10 minutes"), suffix="_2")
    changed = Pipeline("joined", out=joined.to(Kafka("out")))
    with pytest.raises(CheckpointError, match=r"its rows was .* and is now .*twice bigint"):
        Harness(changed, spark, checkpoint=checkpoint)
    for other, what in (
        (pipeline("left"), "kind inner join"),
        (pipeline("inner", within="5 minutes"), "within -5 minutes to 10 minutes"),
        (pipeline("inner", on={"amount": "sum", "customer": "payer"}), "on customer, amount"),
    ):
        with pytest.raises(CheckpointError, match=what):
            Harness(other, spark, checkpoint=checkpoint)
    with Harness(
        pipeline("inner", lateness="1 minute"), spark, checkpoint=checkpoint, feed=harness.feed_id
    ) as again:
        again.feed("payments", {"payer": "a", "sum": 1.0, "number": 2, "paid": START})
        [pair] = again.run()["out"]
        assert numbers(pair) == (1, 2)


def test_both_sides_have_late_and_rejected_rows_of_their_own(spark: SparkSession) -> None:
    elsewhere = Topic("elsewhere", Order, time="at").stream(watermark=Bounded("1 minute"))
    both = ordered.union(elsewhere)
    joined = both.join("j", payments, on={"customer": "payer"}, within="1 minute", how="full", suffix="_2")
    outputs = {
        "out": joined,
        "left": joined.late_left,
        "right": joined.late_right,
        "bad_orders": ordered.rejected,
        "bad_payments": payments.rejected,
    }
    made = Pipeline("sides", **{name: each.to(Kafka(name)) for name, each in outputs.items()})
    order = {"customer": "a", "amount": 1.5, "number": 1, "at": START}
    payment = {"payer": "a", "sum": 2.5, "number": 2, "paid": START + MINUTE}
    with Harness(made, spark) as harness:
        harness.feed("orders", order, {**order, "number": None})
        harness.feed("elsewhere", {**order, "number": 3})
        harness.feed("payments", payment, {**payment, "paid": "soon"})
        out = harness.epoch(watermark=START)
        assert sorted(map(numbers, out["out"])) == [(1, 2), (3, 2)]
        assert (len(out["bad_orders"]), len(out["bad_payments"])) == (1, 1)
        harness.feed("elsewhere", {**order, "number": 4})
        harness.feed("payments", {**payment, "number": 5}, {**payment, "number": 6, "payer": "b"})
        out = harness.epoch(watermark=START + MINUTE + timedelta(seconds=30))
        assert [(row["number"], row["amount"]) for row in out["left"]] == [(4, 1.5)]
        assert [(row["number"], row["sum"]) for row in out["right"]] == [(5, 2.5), (6, 2.5)]
        assert {row["late_by_seconds"] for row in out["right"]} == {30.0}
        assert out["out"] == []
        assert harness.ledger()["j"] == {"in": 6, "used": 3, "late": 3, "duplicate": 0, "rejected": 0}
