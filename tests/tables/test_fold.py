"""A fold: a state for each key, made of its rows one after another, by the kernel itself."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace import (
    Bounded,
    DeclarationError,
    F,
    Kafka,
    Pipeline,
    PlanError,
    RunError,
    Stream,
    Topic,
    decimal,
    record,
)
from headrace.testing import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)


@record
class Payment:
    card: str
    country: str | None
    amount: decimal(12, 2)  # type: ignore[valid-type]
    at: datetime


def payments(**options: Any) -> Stream:
    topic = Topic("payments", Payment, time="at", **options)
    return topic.stream(watermark=Bounded("1 second", ahead="36500 days"))


def paid(card: str, second: float, amount: str, country: str | None = "CH") -> dict[str, Any]:
    at = START + timedelta(seconds=second)
    return {"card": card, "country": country, "amount": amount, "at": at}


INITIAL = {"n": 0, "total": F.lit(0).cast("decimal(12,2)"), "path": "", "last": F.lit(None).cast("timestamp")}


def step(state: Any, row: Any) -> dict[str, Any]:
    return {
        "n": state["n"] + 1,
        "total": state["total"] + row["amount"],
        "path": F.concat_ws(">", F.nullif(state["path"], F.lit("")), row["country"]),
        "last": F.when(row["amount"].between(5, 50), row["at"]).otherwise(state["last"]),
    }


def test_a_state_is_made_of_its_rows_one_after_another(spark: SparkSession) -> None:
    stream = payments()
    table = stream.fold("spent", INITIAL, step, by="card")
    sums = table.group_by("n").agg(cards=F.count("*"), total=F.sum("total"))
    pipeline = Pipeline("fold", spent=table.to(Kafka("spent")), sums=sums.to(Kafka("sums")))
    with Harness(pipeline, spark) as harness:
        harness.feed("payments", paid("a", 3, "7.50", "DE"), paid("a", 1, "1.00"), paid("b", 2, "2.00", None))
        out = harness.epoch()
        assert sorted(out["spent"], key=lambda row: row["n"]) == [
            {"card": "b", "n": 1, "total": Decimal("2.00"), "path": "", "last": None},
            {
                "card": "a",
                "n": 2,
                "total": Decimal("8.50"),
                "path": "CH>DE",
                "last": START + timedelta(seconds=3),
            },
        ]
        harness.restart()
        # Older than what was folded: it comes after all the same.
        harness.feed("payments", paid("a", 0, "60.00", "FR"))
        [row] = harness.epoch()["spent"]
        assert (row["n"], row["path"], row["last"]) == (3, "CH>DE>FR", START + timedelta(seconds=3))
        assert sorted(each["n"] for each in harness.table("sums")) == [1, 3]
        assert harness.ledger()["spent"]["used"] == 1


def test_a_row_on_which_the_step_fails_is_rejected_and_the_state_stays(spark: SparkSession) -> None:
    stream = payments()
    table = stream.fold(
        "shares",
        {"share": F.lit(100).cast("decimal(12,2)")},
        lambda state, row: {"share": state["share"] / row["amount"]},
        by="card",
    )
    pipeline = Pipeline(
        "fold", shares=table.to(Kafka("shares")), rejected=stream.rejected.to(Kafka("rejected"))
    )
    with Harness(pipeline, spark) as harness:
        harness.feed("payments", paid("a", 1, "2"), paid("a", 2, "0"), paid("a", 3, "5"), paid("b", 1, "0"))
        out = harness.epoch()
        assert out["shares"] == [{"card": "a", "share": Decimal("10.00")}]
        assert [row["step"] for row in out["rejected"]] == ["shares", "shares"]
        assert all("DIVIDE_BY_ZERO" in row["reason"] for row in out["rejected"])
        assert {b'"card":"a"' in row["value"] for row in out["rejected"]} == {True, False}
        assert harness.ledger()["shares"] == {"in": 4, "used": 2, "late": 0, "duplicate": 0, "rejected": 2}
        harness.feed("payments", paid("b", 4, "4"))
        assert harness.epoch()["shares"] == [{"card": "b", "share": Decimal("25.00")}]


def test_a_topic_that_stops_on_errors_stops(spark: SparkSession) -> None:
    table = payments(on_error="fail").fold(
        "n", {"n": 1}, lambda state, row: {"n": state["n"] + row["country"].cast("int")}, by="card"
    )
    with Harness(Pipeline("fold", n=table.to(Kafka("n"))), spark) as harness:
        harness.feed("payments", paid("a", 1, "2"))
        with pytest.raises(RunError, match="step n of topic payments failed"):
            harness.epoch()


def test_a_state_that_changes_its_type_is_refused(spark: SparkSession) -> None:
    table = payments().fold("n", {"n": 0}, lambda _state, row: {"n": row["country"]}, by="card")
    with pytest.raises(PlanError, match=r"begins as int, and the step makes it string") as caught:
        Harness(Pipeline("fold", n=table.to(Kafka("n"))), spark)
    assert "test_fold.py" in str(caught.value)


REFUSED: dict[str, tuple[tuple[Any, Any], str]] = {
    "no state": (({}, lambda _state, _row: {}), "begins with a state of named fields"),
    "a state without type": (({"n": None}, lambda _state, _row: {}), "None, which has no type"),
    "a state of a row": (({"n": F.col("amount")}, lambda _state, _row: {}), "reads a row"),
    "a state named as the key": (({"card": 1}, lambda _state, _row: {}), "and so has the key"),
    "a step that is none": (({"n": 0}, "n + 1"), "is a function of state and row"),
    "a step of one": (({"n": 0}, lambda _state: {}), "give it two parameters"),
    "a step that gives nothing": (({"n": 0}, lambda _state, _row: None), "returned None"),
    "a step that gives more": (({"n": 0}, lambda _state, _row: {"m": 1}), 'gives "m"'),
    "a column beside the row": (({"n": 0}, lambda _state, _row: {"n": F.col("amount")}), r'row\["amount"\]'),
    "a field that is not there": (
        ({"n": 0}, lambda _state, row: {"n": row["amout"]}),
        'did you mean "amount"',
    ),
    "a state that is not there": (
        ({"n": 0}, lambda state, _row: {"n": state["m"]}),
        'the state has no field "m"',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_while_declaring(case: str) -> None:
    (initial, made), said = REFUSED[case]
    with pytest.raises(DeclarationError, match=said):
        payments().fold("n", initial, made, by="card")
