# What is refused is wrong on purpose, for type checkers too.
# mypy: disable-error-code="arg-type, call-arg, misc"

from datetime import datetime, timedelta

import pytest

from headrace import Bounded, DeclarationError, F, Topic, Tumbling, limited, record
from headrace.declare.node import WindowAggNode
from tests.declare.shop import paid, payments

DISTINCT = "approx_count_distinct"


def windows():
    return paid.key_by("card").window("velocity", Tumbling("1 minute"))


def test_a_window_has_its_keys_itself_the_aggregates_and_the_pane():
    made = windows().agg(F.count("*").alias("n"), total=F.sum("amount"))
    assert made.columns == ("card", "window", "n", "total", "pane", "pane_index", "pane_last")
    assert made.late.columns == (*paid.columns, "late_by_seconds")
    assert made.rejected == paid.rejected
    node = made.port.node
    assert isinstance(node, WindowAggNode)
    assert (node.name, node.keys, node.window) == ("velocity", ("card",), Tumbling("1 minute"))
    assert node.stateful
    assert node.sources == paid.port.node.sources


@pytest.mark.parametrize(
    ("recorded", "function", "text", "options"),
    [
        (F.count("*"), "count", "count(*)", {}),
        (F.count("card"), "count", "count(card)", {}),
        (F.count(F.lit(1)), "count", "count(1)", {}),
        (F.sum("amount"), "sum", "sum(amount)", {}),
        (F.sum(F.col("amount") * 2), "sum", "sum(amount * 2)", {}),
        (F.avg("amount"), "avg", "avg(amount)", {}),
        (F.mean(col="amount"), "avg", "avg(amount)", {}),
        (F.min("place"), "min", "min(place)", {}),
        (F.max("place.country"), "max", "max(place.country)", {}),
        (F.first("card"), "first", "first(card)", {"ignore_nulls": False}),
        (F.last("card", ignorenulls=True), "last", "last(card)", {"ignore_nulls": True}),
        (F.approx_count_distinct("card"), DISTINCT, f"{DISTINCT}(card)", {"rsd": 0.05}),
        (F.approx_count_distinct("card", 0.01), DISTINCT, f"{DISTINCT}(card)", {"rsd": 0.01}),
        (F.any_value("card", True), "first", "first(card)", {"ignore_nulls": True}),
        (F.stddev("amount"), "stddev_samp", "stddev(amount)", {}),
        (F.variance("amount"), "var_samp", "variance(amount)", {}),
        (F.every(F.col("count") > 1), "bool_and", "bool_and(count > 1)", {}),
        (F.max_by("card", "amount"), "max_by", "max_by(card, amount)", {"columns": 2}),
        (F.collect_list("card"), "collect_list", "collect_list(card)", {"limit": 10_000}),
        (limited(F.array_agg("card"), 5), "collect_list", "collect_list(card)", {"limit": 5}),
        (limited(F.collect_set("card").alias("y"), 5), "collect_set", "collect_set(card)", {"limit": 5}),
        (F.count_distinct("card"), "count_distinct", "count_distinct(card)", {"limit": 10_000}),
        (F.countDistinct("card", F.col("amount")), "count_distinct", "count_distinct(card, amount)",
         {"limit": 10_000, "columns": 2}),
        (F.approx_percentile("amount", [0.5, 0.9]), "percentile_approx",
         "approx_percentile(amount, [0.5, 0.9])", {}),
        (F.hll_sketch_agg("card", 10), "hll_sketch_agg", "hll_sketch_agg(card, 10)", {}),
        (F.call_function("approx_top_k", "card", F.lit(3)), "approx_top_k",
         "call_function('approx_top_k', card, 3)", {}),
    ],
)  # fmt: skip
def test_the_aggregates(recorded, function, text, options):
    node = windows().agg(x=recorded).port.node
    assert isinstance(node, WindowAggNode)
    (made,) = node.aggregates
    assert (made.name, made.function, made.text(), dict(made.options)) == ("x", function, text, options)


@pytest.mark.parametrize(
    ("attempt", "message", "cure"),
    [
        (lambda: windows().agg(), "no aggregates", "F.count"),
        (lambda: windows().agg(F.sum("amount")), "has no name", ".agg(total=F.sum('amount'))"),
        (lambda: windows().agg(x=F.col("amount")), "is no aggregate", "F.approx_count_distinct"),
        (lambda: windows().agg(x="amount"), "and no aggregate of it", 'F.max("amount")'),
        (lambda: windows().agg(x=F.expr("sum(amount)")), "is no aggregate", "F.sum"),
        (lambda: windows().agg(x=F.corr("amount", "count")), "not available in a window", "others follow"),
        (lambda: windows().agg(x=F.mode("amount")), "F.mode is not available", "approx_top_k"),
        (lambda: windows().agg(x=F.listagg("card")), "F.listagg is not available", "F.array_join"),
        (lambda: windows().agg(x=F.median("amount")), "F.median is not available", '("amount", 0.5)'),
        (lambda: windows().agg(x=F.string_agg("card")), "F.string_agg is not available", "aggregates.md"),
        (lambda: windows().agg(x=limited(F.sum("amount"), 5)), "keeps no values", "F.collect_list"),
        (lambda: limited(F.collect_list("card"), 0), "limited to 0 values", "from 1 to 10,000,000"),
        (lambda: limited(F.collect_list("card"), True), "limited to True values", "1000"),
        (lambda: windows().agg(x=F.stddev("card")), '"card" is STRING, and no number', ".cast"),
        (lambda: windows().agg(x=F.max_by("card")), "F.max_by needs two columns", 'F.max_by("amount", "at")'),
        (lambda: windows().agg(x=F.max_by("card", "extra")), "cannot be compared", "a part"),
        (lambda: windows().agg(x=F.max_by("card", "amount", 3)), "several rows", "F.struct"),
        (lambda: windows().agg(x=F.count_distinct("card", "extra")), "cannot be compared", "a part"),
        (lambda: windows().agg(x=F.count_distinct()), "needs a column", 'F.count_distinct("amount")'),
        (lambda: windows().agg(x=F.min_by("card", "amuont")), 'no column "amuont"', 'did you mean "amount"'),
        (lambda: windows().agg(x=F.percentile_approx("amount", 50)), "the percentile 50", "a part of 1"),
        (lambda: windows().agg(x=F.percentile_approx("amount", [0.5, 2])), "the percentile 2", "a part of 1"),
        (lambda: windows().agg(x=F.count_min_sketch("card", 0.1, 0.9)), "has no seed", "42"),
        (lambda: windows().agg(x=F.sum("amount") / F.count("*")), "computes with", ".with_columns"),
        (lambda: windows().agg(x=F.sum(F.max("amount"))), "aggregate of an aggregate", "another window"),
        (lambda: windows().agg(x=F.sum("card")), '"card" is STRING, and no number', ".cast"),
        (lambda: windows().agg(x=F.avg(F.col("place.country"))), "STRING, and no number", ".cast"),
        (lambda: windows().agg(x=F.max("extra")), "cannot be compared", "a part"),
        (lambda: windows().agg(x=F.sum("amuont")), 'no column "amuont"', 'did you mean "amount"'),
        (lambda: windows().agg(x=F.sum()), "needs a column", 'F.sum("amount")'),
        (lambda: windows().agg(x=F.sum("*")), "takes a column", "F.lit"),
        (lambda: windows().agg(x=F.approx_count_distinct("card", 2)), "deviation of 2", "0.05"),
        (lambda: windows().agg(card=F.count("*")), '"card" needs another name: this is a key', "of_window"),
        (lambda: windows().agg(pane=F.count("*")), "every pane has", "of_window"),
        (lambda: windows().agg(F.count("*").alias("n"), n=F.count("*")), "another aggregate", "of_window"),
        (lambda: paid.key_by("card").window(Tumbling("1 minute"), "v"), "no name for a window", "velocity"),
        (lambda: paid.key_by("card").window("v", "1 minute"), "is no window", "Tumbling"),
        (lambda: payments.stream().key_by("id").window("v", Tumbling("1 day")), "no watermark", "Bounded"),
        (lambda: Tumbling("0 seconds"), "longer than nothing", "5 minutes"),
        (lambda: Tumbling("1 minute", offset="90 seconds"), "not shorter", "the offset 30 seconds"),
        (lambda: Bounded("-1 second"), "negative", "5 minutes"),
        (lambda: Bounded("1 second", idle="0 seconds"), "longer than nothing", "5 minutes"),
    ],
)  # fmt: skip
def test_what_a_window_refuses(attempt, message, cure):
    with pytest.raises(DeclarationError) as refused:
        attempt()
    assert message in refused.value.message
    assert cure in str(refused.value.cure)
    assert "test_window.py:" in str(refused.value.where)


def test_windows_after_windows_can_be_declared():
    first = windows().agg(total=F.sum("amount"))
    second = first.key_by("total").window("second", Tumbling("1 hour")).agg(n=F.count("*"))
    assert second.columns == ("total", "window", "n", "pane", "pane_index", "pane_last")
    assert [node.name for node in second.port.node.walk()] == ["payments_eu", "velocity", "second"]
    assert first.where("total > 1").port.node.name == "velocity.where"
    assert first.late.where("true").port.node.name == "velocity.late.where"


def test_the_window_is_a_struct_whose_fields_are_known():
    made = windows().agg(total=F.sum("amount"))
    assert made.select(since=F.col("window.start")).columns == ("since",)
    with pytest.raises(DeclarationError, match='no field "begin"'):
        made.select(since=F.col("window.begin"))


def test_watermarks_and_windows_tell_themselves():
    assert Bounded("5 seconds").text() == "at most 5 seconds out of order, idle after 30 seconds"
    assert Tumbling(timedelta(hours=1), offset="15 minutes").text() == "tumbling 1 hour, offset 15 minutes"
    assert Tumbling("60 seconds") == Tumbling("1 minute")
    assert repr(Bounded("1 minute", ahead="1 hour")) == (
        "Bounded(lag=datetime.timedelta(seconds=60), idle=datetime.timedelta(seconds=30), "
        "ahead=datetime.timedelta(seconds=3600))"
    )


@record
class Sensor:
    id: str
    Window: str
    Late_by_seconds: float
    seen: datetime
    at: datetime


sensors = Topic("sensors", Sensor, time="at").stream(watermark=Bounded("5 seconds"))


def refusal(attempt):
    with pytest.raises(DeclarationError) as refused:
        attempt()
    assert "test_window.py:" in str(refused.value.where)
    return str(refused.value)


def test_columns_that_collide_with_those_of_panes_and_late_rows_whatever_their_case():
    late = refusal(lambda: sensors.key_by("id").window("w", Tumbling("1 minute")))
    assert '"Late_by_seconds" has the name of one that late rows get' in late
    key = refusal(lambda: sensors.key_by("Window"))
    assert 'the key "Window" has the name of a column that every pane has' in key
    assert 'Window_key=F.col("Window")' in key


@pytest.mark.parametrize(
    ("attempt", "message", "cure"),
    [
        (lambda: F.sum("count", "amount"), "F.sum has no place for 'amount'", "it takes col"),
        (lambda: F.count("*", "card"), "F.count has no place for 'card'", "it takes col"),
        (lambda: F.sum("count", foo=1), "F.sum has no argument foo", "it takes col"),
        (lambda: F.max("count", col="amount"), "F.max is given col twice", "it takes col"),
        (lambda: F.last("card", True, 1), "F.last has no place for 1", "it takes col, ignorenulls"),
    ],
)
def test_arguments_that_an_aggregate_does_not_take(attempt, message, cure):
    text = refusal(lambda: windows().agg(x=attempt()))
    assert message in text
    assert cure in text


@pytest.mark.parametrize(
    "replaced",
    [
        lambda: sensors.with_columns(at=F.col("seen")),
        lambda: sensors.with_columns(AT=F.current_timestamp()),
        lambda: sensors.select("id", F.col("seen").alias("at")),
        lambda: sensors.select("id").with_columns(at=F.lit("2026-01-01").cast("timestamp")),
        lambda: sensors.select("id", "at").union(sensors.select("id", at="seen")),
    ],
)
def test_windows_by_a_time_column_that_was_replaced(replaced):
    text = refusal(lambda: replaced().key_by("id").window("w", Tumbling("1 minute")))
    assert '"at" is the event time of sensors, and is replaced at ' in text
    assert 'Topic("sensors", Sensor, time="...")' in text


def test_the_time_column_may_be_dropped_kept_and_renamed():
    for stream in (
        sensors.select("id"),
        sensors.select("id", F.col("at").alias("at")),
        sensors.select("id", at=F.col("at")),
        sensors.select("id", when=F.col("at")),
    ):
        stream.key_by("id").window("w", Tumbling("1 minute")).agg(n=F.count("*"))
