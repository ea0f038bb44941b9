# What is refused is wrong on purpose, for type checkers too.
# mypy: disable-error-code="arg-type, call-arg"

import re
from pathlib import Path

import pytest

from headrace import DeclarationError, F, Global, Sliding, Stream, Tumbling
from headrace.declare.top import TopNode, WindowTopNode
from tests.declare.shop import paid, payments, timeless

keyed = paid.key_by("card")
windows = keyed.window("best", Tumbling("1 hour"))
retracting = keyed.window("best", Tumbling("1 hour"), accumulate="retracting")


def test_a_ranking_has_the_keys_the_window_the_rank_and_the_columns_of_the_row():
    best = windows.top(3, by=F.desc("amount"))
    columns = ("id", "amount", "count", "at", "place", "extra")
    assert best.columns == ("card", "window", "rank", *columns, "pane", "pane_index", "pane_last")
    assert best.late.columns == (*paid.columns, "late_by_seconds")
    assert best.port.column_type("rank").ddl() == "INT"
    assert best.port.column_type("amount").ddl() == paid.port.column_type("amount").ddl()
    assert best.port.column_type("pane").ddl() == "STRING"


def test_only_chosen_columns_and_expressions_of_them():
    best = retracting.top(3, by=F.desc("amount"), columns=["id", F.col("at").alias("paid_at")])
    assert best.columns[2:] == ("rank", "id", "paid_at", "pane", "pane_index", "pane_last", "change")
    assert best.port.column_type("paid_at").ddl() == "TIMESTAMP"


def test_a_ranking_without_a_window_has_changes():
    leaders = keyed.top("leaders", 10, by=F.desc("amount"), columns=["id", "amount"], keep="1 day")
    assert leaders.columns == ("card", "rank", "id", "amount", "change")
    assert leaders.port.column_type("change").ddl() == "INT"
    assert leaders.port.column_type("card").ddl() == "STRING"
    assert leaders.late.columns == (*paid.columns, "late_by_seconds")
    first = paid.top("first", 1, by="at")
    assert first.columns == ("rank", "id", "card", "amount", "count", "at", "place", "extra", "change")


@pytest.mark.parametrize(
    ("by", "text"),
    [
        ("amount", "amount asc"),
        (F.col("amount"), "amount asc"),
        (F.desc("amount"), "amount desc"),
        (F.desc(F.col("place.city")), "place.city desc"),
        (F.col("amount").desc_nulls_first(), "amount desc nulls first"),
        ([F.asc_nulls_last("count"), F.abs("amount").desc()], "count asc nulls last, abs(amount) desc"),
        (("count", "at"), "count asc, at asc"),
    ],
)
def test_what_rows_are_ordered_by_reads_as_in_sql(by, text):
    node = windows.top(3, by=by).port.node
    assert isinstance(node, WindowTopNode)
    assert node.ranking.text() == f"top 3 by {text}"


def test_columns_that_only_planning_knows():
    best = paid.transform(lambda frame: frame).key_by("card").top("best", 3, by=F.desc("amount"))
    assert best.columns is None
    assert isinstance(best.port.node, TopNode)


def _renamed(name: str) -> Stream:
    return paid.select("card", "at", "amount", F.col("id").alias(name))


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: windows.top(0, by="amount"), "top of 0 rows"),
        (lambda: windows.top(-1, by="amount"), "top of -1 rows"),
        (lambda: windows.top(10_001, by="amount"), "top of 10001 rows"),
        (lambda: windows.top(True, by="amount"), "top of True rows"),
        (lambda: windows.top("3", by="amount"), "top of '3' rows"),
        (lambda: windows.top(3.0, by="amount"), "top of 3.0 rows"),
        (lambda: windows.top(3, by=[]), "top is by nothing"),
        (lambda: windows.top(3, by=None), "None is no column expression"),
        (lambda: windows.top(3, by=F.desc("amuont")), 'has no column "amuont"'),
        (lambda: windows.top(3, by="amount desc"), "is SQL text, and names no column"),
        (lambda: windows.top(3, by=F.desc("extra")), "MAP<STRING, BIGINT>: its values cannot be compared"),
        (lambda: windows.top(3, by=F.col("extra").asc()), "its values cannot be compared"),
        (lambda: windows.top(3, by=F.max("amount")), "is an aggregate"),
        (lambda: windows.top(3, by=F.abs(F.desc("amount"))), "says a direction inside of"),
        (lambda: windows.top(3, by=F.row_number()), "looks at more than one row"),
        (lambda: windows.top(3, by=5), "5 is no column expression"),
        (lambda: windows.top(3, by="amount", columns="id"), "columns is one string"),
        (lambda: windows.top(3, by="amount", columns=[]), "no columns are left"),
        (lambda: windows.top(3, by="amount", columns=5), "columns is 5"),
        (lambda: windows.top(3, by="amount", columns=["idd"]), 'has no column "idd"'),
        (lambda: windows.top(3, by="amount", columns=["id", "id"]), 'two columns "id"'),
        (lambda: windows.top(3, by="amount", columns=["id", "card"]), '"card" is a key'),
        (lambda: windows.top(3, by="amount", columns=[F.col("id").alias("Window")]), '"Window" has the name'),
        (lambda: windows.top(3, by="amount", columns=[F.upper("id")]), "has no name"),
        (lambda: _renamed("rank").key_by("card").window("w", Tumbling("1 hour")).top(3, by="at"), '"rank"'),
        (lambda: _renamed("rank").key_by("rank").window("w", Tumbling("1 hour")).top(3, by="at"), "the key"),
        (lambda: _renamed("change").key_by("card").top("w", 3, by="at"), '"change" has the name'),
        (lambda: retracting.top(3, by="at", columns=[F.col("id").alias("change")]), '"change" has the name'),
        (lambda: keyed.window("g", Global()).top(3, by="at"), "a global window never ends"),
        (lambda: keyed.window("s", Sliding("1 hour"), accumulate="discarding"), "has no meaning"),
        (lambda: keyed.top(3, by="amount"), "missing"),
        (lambda: keyed.top("top 3", 3, by="amount"), "is no name for a top"),
        (lambda: keyed.top("t", 0, by="amount"), "top of 0 rows"),
        (lambda: keyed.top("t", 3, by="amount", keep="0 seconds"), "keep of top must be longer than nothing"),
        (lambda: keyed.top("t", 3, by="amount", keep="a day"), "keep of top is no duration"),
        (lambda: keyed.top("t", 3, by="amount").late, "nothing is late there"),
        (lambda: _renamed("late_by_seconds").key_by("card").top("t", 3, by="at", keep="1 day"), "late rows"),
        (lambda: timeless.top("t", 3, by="country"), "has no event time"),
        (lambda: payments.stream().top("t", 3, by="at"), "has no watermark"),
        (lambda: keyed.top("t", 3, by="amount").key_by("card"), "comes from top 't', whose rows are changes"),
        (
            lambda: windows.agg(n=F.count("*")).key_by("card").window("w", Tumbling("1 day")).top(1, by="n"),
            'the column "window" has the name of one that every row of a top has',
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_at_the_users_line(attempt, message):
    if message == "missing":
        with pytest.raises(TypeError, match=message):
            attempt()
        return
    with pytest.raises(DeclarationError, match=re.escape(message)) as caught:
        attempt()
    assert caught.value.where is not None
    assert Path(caught.value.where.split(":")[0]).name == Path(__file__).name
    assert caught.value.cure


def test_the_best_hour_of_a_day_is_a_ranking_of_panes():
    hours = windows.agg(total=F.sum("amount"))
    best = (
        hours.key_by("card")
        .window("day", Tumbling("1 day"))
        .top(1, by=F.desc("total"), columns=["total", F.col("window").alias("hour")])
    )
    assert best.columns == ("card", "window", "rank", "total", "hour", "pane", "pane_index", "pane_last")
