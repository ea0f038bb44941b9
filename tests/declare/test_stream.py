# What is refused is wrong on purpose, for type checkers too.
# mypy: disable-error-code="arg-type, union-attr, misc"

import pytest

from headrace import DeclarationError, F, Kafka, Topic
from headrace.declare.node import (
    SelectNode,
    TransformNode,
    UnionNode,
    WhereNode,
    WithColumnsNode,
)
from tests.declare.shop import Place, paid, payments, timeless


def test_verbs_return_new_streams_and_leave_the_old_one():
    kept = paid.where(F.col("amount") > 5)
    assert kept is not paid
    assert kept.columns == paid.columns
    assert isinstance(kept.port.node, WhereNode)
    assert kept.port.node.parents == (paid.port,)


def test_a_condition_may_be_sql():
    node = paid.where("amount > 5 AND card <> ''").port.node
    assert isinstance(node, WhereNode)
    assert node.condition.text() == "amount > 5 AND card <> ''"
    assert node.condition.references() is None


def test_select_takes_names_expressions_and_keywords():
    stream = paid.select("card", F.col("place.country"), (F.col("amount") * 2).alias("twice"), one=F.lit(1))
    assert stream.columns == ("card", "country", "twice", "one")
    assert isinstance(stream.port.node, SelectNode)
    assert paid.select("*", double=F.col("count") * 2).columns == (*paid.columns, "double")


def test_with_columns_adds_and_replaces_in_place():
    stream = paid.with_columns(amount=F.col("amount") * 2, day=F.to_date("at"))
    assert stream.columns == (*paid.columns, "day")
    assert isinstance(stream.port.node, WithColumnsNode)


def test_types_follow_plain_columns():
    stream = paid.select("amount", F.col("place.country"), n=F.col("count"), other=F.col("count") + 1)
    types = {name: stream.port.column_type(name) for name in stream.columns}
    assert {name: each.ddl() if each else None for name, each in types.items()} == {
        "amount": "DECIMAL(38,18)",
        "country": "STRING",
        "n": "BIGINT",
        "other": None,
    }
    # The place may be missing, and so may its country.
    assert types["country"].nullable


def test_union_takes_the_same_columns_in_any_order():
    other = Topic("more", payments.record).stream().select(*reversed(paid.columns))
    both = paid.union(other)
    assert both.columns == paid.columns
    assert isinstance(both.port.node, UnionNode)
    assert [source.name for source in both.port.node.sources] == ["payments_eu", "more"]


def test_union_names_the_columns_that_differ():
    with pytest.raises(
        DeclarationError, match=r'union: .*select lacks "amount", "count" of payments_eu'
    ) as refused:
        paid.union(paid.select("id", "card", "at", "place", "extra"))
    assert refused.value.cure
    with pytest.raises(DeclarationError, match=r'"amount" is DECIMAL.* in payments_eu and BIGINT in'):
        paid.union(paid.with_columns(amount=F.col("count")))
    with pytest.raises(DeclarationError, match="union takes streams"):
        paid.union("payments")


def test_the_rejected_rows_are_those_of_the_source():
    derived = paid.where("true").select("card")
    assert derived.rejected == paid.rejected
    assert paid.rejected.columns == (
        "topic", "partition", "offset", "timestamp", "key", "value", "step", "reason",
    )  # fmt: skip
    both = paid.select("id").union(timeless.select(id="country"))
    assert both.rejected.columns == paid.rejected.columns
    assert {port.node.name for port in both.rejected.port.node.parents} == {"payments_eu", "clicks"}
    assert both.rejected == both.rejected
    assert both.where("true").rejected == both.rejected


def test_after_transform_columns_are_unknown_unless_given():
    unknown = paid.transform(lambda df: df)
    assert isinstance(unknown.port.node, TransformNode)
    assert unknown.columns is None
    assert unknown.where(F.col("whatever") > 1).columns is None
    assert unknown.with_columns(x=F.lit(1)).columns is None
    assert unknown.select("whatever").columns == ("whatever",)
    assert paid.transform(lambda df: df, columns=["a", "b"]).columns == ("a", "b")
    with pytest.raises(DeclarationError, match="not known yet"):
        unknown.select("*")


def test_steps_are_named_by_their_place():
    one = paid.where("true")
    two = one.where("true").select("card").where("true")
    assert [node.name for node in two.port.node.walk()] == [
        "payments_eu",
        "payments_eu.where",
        "payments_eu.where#2",
        "payments_eu.select",
        "payments_eu.where#3",
    ]
    assert paid.where("true", name="good").port.node.name == "good"
    assert paid.rejected.where("true").port.node.name == "payments_eu.rejected.where"


@pytest.mark.parametrize(
    ("attempt", "message", "cure"),
    [
        (lambda: paid.where(F.col("amuont") > 1), 'no column "amuont"', 'did you mean "amount"'),
        (lambda: paid.select("crad"), 'no column "crad"', 'did you mean "card"'),
        (lambda: paid.select(F.upper("crad").alias("x")), 'no column "crad"', 'did you mean "card"'),
        (lambda: paid.where(F.col("place.contry") == "CH"), 'no field "contry"', 'did you mean "country"'),
        (lambda: paid.where(F.col("place").contry == "CH"), 'no field "contry"', 'did you mean "country"'),
        (lambda: paid.select(F.col("amount") + 1), "has no name", ".alias"),
        (lambda: paid.select(F.expr("amount + 1")), "has no name", ".alias"),
        (lambda: paid.select("card", "card"), 'two columns "card"', ".alias"),
        (lambda: paid.select("card", CARD=F.lit(1)), 'two columns "CARD"', "upper from lower"),
        (paid.select, "no columns are left", "at least one"),
        (paid.with_columns, "no columns are left", "at least one"),
        (lambda: paid.with_columns(__x=F.lit(1)), "no name for a column", "two underscores"),
        (lambda: paid.with_columns(x=5), "5 is no column expression", "F.lit(5)"),
        (lambda: paid.where(True), "True, for every row", "F.col"),
        (lambda: paid.where(""), "condition is empty", "amount > 5"),
        (lambda: paid.where(F.col("card").isNull), "method that is not called", ".isNull()"),
        (lambda: paid.where(F.sum("amount") > 5), "sum(amount) is an aggregate", ".agg("),
        (lambda: paid.with_columns(n=F.count("*")), "is an aggregate", ".agg("),
        (lambda: paid.select(x=F.explode("extra")), "many rows of one", "F.transform"),
        (lambda: paid.select(x=F.row_number()), "more than one row", ".key_by"),
        (lambda: paid.select(x=F.window("at", "1 minute")), "more than one row", "Tumbling"),
        (lambda: paid.select("id", name="card"), '"card" is a column', 'F.col("card").alias("name")'),
        (lambda: paid.with_columns(name="card", x=F.lit(1)), '"card" is a column', '.alias("name")'),
        (lambda: paid.where("true", name="no way"), "no name for a step", "letters"),
        (lambda: paid.transform("fn"), "takes a function", "lambda df"),
        (lambda: paid.transform(lambda df: df, columns="ab"), "one string", '["ab"]'),
        (lambda: paid.late, "nothing is late", ".agg("),
        (lambda: list(paid), "looped over", ".to(...)"),
        (lambda: paid.to("alerts"), "is no sink", "Kafka("),
        (lambda: paid.to(Kafka("alerts", key="crad")), 'no column "crad"', 'did you mean "card"'),
        (lambda: paid.to(Kafka("alerts", key=["id", F.upper("crad")])), 'no column "crad"', "card"),
        (paid.key_by, "no columns", 'key_by("card")'),
        (lambda: paid.key_by("crad"), 'no column "crad"', 'did you mean "card"'),
        (lambda: paid.key_by(F.col("card")), "takes names", ".with_columns"),
        (lambda: paid.key_by("extra"), "cannot be a key", "a part of it"),
        (lambda: paid.key_by("card", "card"), "twice", "once"),
        (lambda: timeless.key_by("country"), "no event time", 'Topic("clicks", Place, time="...")'),
        (lambda: paid.rejected.key_by("step"), "no event time", "do not key it"),
    ],
)
def test_what_a_stream_refuses(attempt, message, cure):
    with pytest.raises(DeclarationError) as refused:
        attempt()
    assert message in refused.value.message
    assert cure in str(refused.value.cure)
    assert "test_stream.py:" in str(refused.value.where)


def test_kafka_takes_one_key_several_or_an_expression():
    assert [each.text() for each in Kafka("t", key="card").key] == ["card"]
    assert [each.text() for each in Kafka("t", key=("id", "card")).key] == ["id", "card"]
    assert [each.text() for each in Kafka("t", key=F.upper("card")).key] == ["upper(card)"]
    assert Kafka("t").guarantee == "exactly-once"
    assert Kafka("t", guarantee="at-least-once").text() == 'Kafka "t"'
    assert "hush" not in repr(Kafka("t", options={"sasl.password": "hush"}))
    with pytest.raises(DeclarationError, match="guarantee='twice' is unknown") as refused:
        Kafka("t", guarantee="twice")
    assert '"exactly-once" or "at-least-once"' in str(refused.value.cure)
    with pytest.raises(DeclarationError, match="0 partitions"):
        Kafka("t", partitions=0)


def test_a_record_is_no_stream_until_it_has_a_topic():
    assert Topic("t", Place).stream().columns == ("country", "city")
