import re
from datetime import datetime
from decimal import Decimal

import pytest

from headrace import Bounded, DeclarationError, F, Kafka, Pipeline, PlanError, Topic, Tumbling, record
from headrace.plan.checks import check
from headrace.plan.layers import Layers

HERE = __file__.rpartition("/")[2]


@record
class Card:
    card: str
    country: str | None
    limit: Decimal
    rating: float
    tags: list[str]
    at: datetime


TOPIC = Topic("cards", Card, key="card", time="at", compacted=True)


@pytest.fixture
def cards():
    return TOPIC.table()


def test_a_table_knows_its_key_through_its_steps(cards):
    assert cards.key == ("card",)
    assert cards.where(F.col("limit") > 1).with_columns(x=F.lit(1)).key == ("card",)
    renamed = cards.select(F.col("card").alias("id"), "country")
    assert renamed.key == ("id",)
    assert renamed.columns == ("id", "country")
    groups = cards.group_by("country").agg(n=F.count("*"))
    assert groups.key == ("country",)
    assert groups.columns == ("country", "n")
    assert cards.agg(n=F.count("*")).key == ()
    assert repr(groups) == "<table cards.table.by_country by country: country, n>"
    assert cards.changes().columns == ("card", "op", "before", "after", "sequence")


def test_stateful_steps_are_named_after_what_they_are_of(cards):
    groups = cards.where(F.col("limit") > 1).group_by("country").agg(n=F.count("*"))
    assert groups.port.node.name == "cards.table.by_country"
    assert groups.group_by("n").agg(m=F.count("*")).port.node.name == "cards.table.by_country.by_n"
    assert cards.group_by("country", name="homes").agg(n=F.count("*")).port.node.name == "homes"
    assert cards.changes().port.node.name == "cards.table.changes"
    assert cards.changes(name="history").port.node.name == "history"


def test_the_latest_of_a_stream_is_a_table():
    latest = TOPIC.stream().where("country = 'CH'").latest("last", by=["card", "country"])
    assert latest.key == ("card", "country")
    assert latest.port.node.name == "last"


def test_a_table_is_sent_by_its_own_key(cards):
    assert [part.text() for part in cards.to(Kafka("out")).sink.key_expressions()] == ["card"]
    two = cards.group_by("country", "rating").agg(n=F.count("*"))
    swapped = two.to(Kafka("out", key=["rating", "country"]))
    assert [part.text() for part in swapped.sink.key_expressions()] == ["rating", "country"]
    assert cards.agg(n=F.count("*")).to(Kafka("out")).sink.key_expressions() == ()


REFUSED = {
    "windows over a table": (
        lambda t: t.window("w", Tumbling("1 minute")),
        r"is a table, and has no window.*\.changes\(\)",
    ),
    "keys of a table": (lambda t: t.key_by("card"), r"has no key_by.*\.group_by"),
    "late rows of a table": (lambda t: t.late, "tables have no lateness"),
    "tables united": (lambda t: t.union(t), r"\.union\(\.\.\.\)\.latest"),
    "a select without the key": (lambda t: t.select("country"), r'drops "card".*\.select\("card"'),
    "a select that computes the key": (lambda t: t.select(card=F.upper("card")), 'drops "card"'),
    "a key that is replaced": (lambda t: t.with_columns(card=F.upper("card")), '"card" is of the key'),
    "an unknown column": (lambda t: t.where(F.col("limt") > 1), 'did you mean "limit"'),
    "another key for Kafka": (
        lambda t: t.to(Kafka("out", key="country")),
        r'is by "card".*leave key= out',
    ),
    "an aggregate that takes nothing back": (
        lambda t: t.group_by("country").agg(x=F.first("limit")),
        "first cannot take a row back.*count, sum, avg, min",
    ),
    "a sum of floating point": (
        lambda t: t.group_by("country").agg(x=F.sum("rating")),
        r'"rating" is floating point.*cast\("decimal',
    ),
    "a sum of text": (lambda t: t.agg(x=F.sum("country")), "STRING, and no number"),
    "no aggregates": (lambda t: t.group_by("country").agg(), "have no aggregates"),
    "an aggregate named as the group": (
        lambda t: t.group_by("country").agg(country=F.count("*")),
        "needs another name: this is a column of the group",
    ),
    "groups by an expression": (lambda t: t.group_by(F.col("country")), "takes names of columns"),
    "groups by a column twice": (lambda t: t.group_by("country", "country"), "names a column twice"),
    "groups by a column that is not there": (lambda t: t.group_by("land"), 'has no column "land"'),
    "a bad name": (lambda t: t.changes(name="a b"), "is no name for a step with state"),
    "a loop": (list, "cannot be looped over"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_line_and_cure(cards, case):
    act, said = REFUSED[case]
    with pytest.raises(DeclarationError) as caught:
        act(cards)
    text = " ".join(str(caught.value).split())
    assert HERE in text
    assert re.search(said, text), text


def test_a_topic_without_key_is_no_table():
    with pytest.raises(DeclarationError, match="has no key") as caught:
        Topic("cards", Card).table()
    assert 'key="..."' in str(caught.value)
    with pytest.raises(DeclarationError, match="tombstone has its key as text"):
        Topic("cards", Card, key="tags").table()
    with pytest.raises(DeclarationError, match="is read from its end"):
        Topic("cards", Card, key="card", start="latest").table()


def test_a_key_with_the_name_of_a_change_must_be_renamed():
    @record
    class Operation:
        op: str

    table = Topic("operations", Operation, key="op").table()
    with pytest.raises(DeclarationError, match='the key "op" has the name of a column that every change has'):
        table.changes()
    assert table.select(F.col("op").alias("op_key")).changes().columns[0] == "op_key"


def test_the_latest_needs_a_time_and_a_name():
    untimed = Topic("cards", Card, key="card").stream()
    with pytest.raises(DeclarationError, match="has no event time"):
        untimed.latest("last", by="card")
    with pytest.raises(DeclarationError, match="is no name for a latest"):
        TOPIC.stream().latest("", by="card")


def test_a_table_that_goes_nowhere_is_said_to_be_one(cards):
    with pytest.raises(DeclarationError, match="cards is a table, and goes nowhere yet"):
        Pipeline("p", cards=cards)


def test_two_groups_of_one_name_are_refused(cards):
    one = cards.group_by("country").agg(n=F.count("*"))
    other = cards.group_by("country").agg(m=F.count("*"))
    with pytest.raises(DeclarationError, match=r'two steps are called "cards\.table\.by_country"'):
        Pipeline("p", one=one.to(Kafka("a")), other=other.to(Kafka("b")))


@pytest.mark.parametrize(
    "condition",
    [F.col("at") < F.current_timestamp(), "at < now()", "at < current_timestamp", F.rand() > F.lit(0.5)],
    ids=["function", "sql", "sql without brackets", "chance"],
)
def test_what_differs_when_it_is_computed_again_is_refused(cards, condition):
    made = cards.where(condition).to(Kafka("out", guarantee="at-least-once"))
    with pytest.raises(PlanError, match="when a row of the table is taken back"):
        check(Layers(Pipeline("p", made=made)))


def test_the_clock_may_be_asked_before_a_table_is_made():
    rows = TOPIC.stream(watermark=Bounded("1 second")).with_columns(seen=F.current_timestamp())
    check(Layers(Pipeline("p", made=rows.latest("last", by="card").to(Kafka("out")))))
