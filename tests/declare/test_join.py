# What is refused is wrong on purpose, for type checkers too.
# mypy: disable-error-code="arg-type, attr-defined, call-arg, operator"

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from headrace import AfterCount, Bounded, DeclarationError, F, Global, Topic, Tumbling, record
from headrace.declare.node import Port
from tests.declare.shop import paid, timeless


@record
class Refund:
    id: str
    card: str
    number: int
    cents: int
    refunded: datetime
    tags: dict[str, int]


refunds = Topic("refunds", Refund, time="refunded")
refunded = refunds.stream(watermark=Bounded("5 seconds"))
unmarked = refunds.stream(name="unmarked")
NEAR = {"on": "card", "within": "1 minute", "suffix": "_right"}


def test_the_columns_are_the_keys_then_the_lefts_then_the_rights() -> None:
    joined = paid.join("refunds", refunded, **NEAR)
    left = ("card", "id", "amount", "count", "at", "place", "extra")
    assert joined.columns == (*left, "id_right", "number", "cents", "refunded", "tags")
    assert joined.late_left.columns == (*paid.columns, "late_by_seconds")
    assert joined.late_right.columns == (*refunded.columns, "late_by_seconds")


def test_keys_of_two_names_are_there_once_by_the_left_name() -> None:
    joined = paid.select("card", "at").join(
        "j", refunded.select("id", "cents"), on={"card": "id"}, within="1 hour"
    )
    assert joined.columns == ("card", "at", "cents")


@pytest.mark.parametrize("how", ["semi", "anti"])
def test_semi_and_anti_have_the_lefts_columns(how: str) -> None:
    assert paid.join("j", refunded, on="card", within="1 minute", how=how).columns == paid.columns


@pytest.mark.parametrize(
    ("how", "left", "right", "key"),
    [
        ("inner", False, False, False),
        ("left", False, True, False),
        ("right", True, False, False),
        ("full", True, True, False),
    ],
)
def test_what_may_be_missing_may_be_null(how: str, *, left: bool, right: bool, key: bool) -> None:
    port: Port = paid.join("j", refunded, how=how, **NEAR).port
    nullable = [port.column_type(name).nullable for name in ("amount", "cents", "card")]
    assert nullable == [left, right, key]


@pytest.mark.parametrize(
    ("within", "bounds"),
    [
        ("1 minute", (-60, 60)),
        (timedelta(seconds=5), (-5, 5)),
        (("0 seconds", "30 minutes"), (0, 1800)),
        (("-5 minutes", "-1 minute 30 seconds"), (-300, -90)),
        ((timedelta(seconds=-3), "3 seconds"), (-3, 3)),
    ],
)
def test_the_bounds_are_those_of_the_right_rows_time_minus_the_lefts(within: object, bounds: object) -> None:
    node = paid.join("j", refunded, on="card", within=within, suffix="_right").port.node
    assert (node.lower.total_seconds(), node.upper.total_seconds()) == bounds


def test_a_result_is_of_a_time_of_its_own() -> None:
    joined = paid.join("j", refunded, **NEAR).with_columns(at=F.col("refunded"))
    joined.key_by("card").window("w", Tumbling("1 minute"))


def test_a_stream_joins_itself() -> None:
    joined = paid.join("next", paid, on="card", within=("0 seconds", "1 minute"), suffix="_next")
    assert joined.columns[-1] == "extra_next"
    assert joined.port.node.sources == paid.port.node.sources


def join(**changed: object) -> object:
    return paid.join(**{"name": "j", "other": refunded, **NEAR, **changed})


counted = paid.key_by("card").window("g", Global(), trigger=AfterCount(1)).agg(n=F.count("*"))


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: join(name=refunded), "is no name for a join"),
        (lambda: join(other="refunds"), "join takes a stream or a table, not 'refunds'"),
        (lambda: join(on="crad"), 'did you mean "card"?'),
        (lambda: join(on={"card": "crad"}), 'refunds has no column "crad"'),
        (lambda: join(on=[]), "the join has no keys"),
        (lambda: join(on=["card", "card"]), "on= names a column twice"),
        (lambda: join(on={"card": "id", "id": "id"}), "on= names a column twice"),
        (lambda: join(on=F.col("card")), "on= takes names of columns"),
        (lambda: join(on=7), "on= takes names of columns, not 7"),
        (lambda: join(on={"extra": "tags"}), "which cannot be compared"),
        (lambda: join(on={"card": "number"}), 'is STRING, and "number" of refunds is BIGINT'),
        (lambda: join(on={"card": "number"}), '.with_columns(number=F.col("number").cast("string"))'),
        (lambda: join(how="outer"), "how='outer' is no kind of join"),
        (lambda: join(how="lefft"), 'did you mean "left"?'),
        (lambda: join(within="-5 minutes"), "within of the join is negative"),
        (lambda: join(within=("1 minute", "0 seconds")), "the lower bound 1 minute is above the upper one"),
        (lambda: join(within=("1 minute",)), "are not two bounds"),
        (lambda: join(within=("soon", "later")), "a bound of within is no duration"),
        (lambda: join(lateness="-1 second"), "the lateness is negative"),
        (lambda: join(suffix=None), 'the join "j" would have two columns "id"'),
        (lambda: join(suffix=None), 'write suffix="_right"'),
        (lambda: join(suffix=""), "suffix='' is no text"),
        (lambda: join(other=paid).join("k", paid, **NEAR), 'two columns each "id_right", "amount_right"'),
        (lambda: join(other=timeless), "clicks has no column"),
        (lambda: join(other=timeless, on={"id": "country"}), "clicks has no event time"),
        (lambda: join(other=unmarked), "unmarked has no watermark: a join would have to hold"),
        (lambda: join(other=refunded.rejected, on={"id": "topic"}), "has no event time"),
        (lambda: join(other=counted), "comes from a global window"),
        (lambda: join(other=refunded.with_columns(refunded=F.lit(1))), "is replaced at"),
        (lambda: paid.with_columns(late_by_seconds=F.lit(1)).join("j", refunded, **NEAR), "late rows get"),
        (lambda: join().late, "take .late_left or .late_right"),
        (lambda: paid.late_left, "is not the result of such a step"),
        (lambda: join().duplicates, "has no duplicates"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_at_the_users_line(attempt: object, message: str) -> None:
    with pytest.raises(DeclarationError, match=re.escape(message)) as caught:
        attempt()
    assert Path(caught.value.where.rpartition(":")[0]).name == Path(__file__).name
