import re
from datetime import datetime

import pytest

from headrace import Bounded, DeclarationError, F, Kafka, Pipeline, Topic, record
from headrace.declare.table_node import GroupNode
from headrace.plan.layers import Layers

HERE = __file__.rpartition("/")[2]


@record
class Order:
    id: str
    customer: str | None
    amount: int
    tags: list[str]
    at: datetime


@record
class Customer:
    id: str
    country: str | None
    number: int
    at: datetime


ORDERS = Topic("orders", Order, key="id", time="at")
orders = ORDERS.table().select("id", "customer", "amount", "tags")
customers = Topic("customers", Customer, key="id", time="at").table().select("id", "country", "number")
names = customers.select(c="id", country="country")


@pytest.mark.parametrize(
    ("on", "how", "key"),
    [
        ({"customer": "c"}, "inner", ("id",)),
        ({"customer": "c"}, "left", ("id",)),
        ({"customer": "c"}, "full", ("id", "customer")),
        ({"id": "c"}, "inner", ("id",)),
        ({"id": "c"}, "left", ("id",)),
        ({"id": "c"}, "full", ("id",)),
        ({"customer": "country"}, "inner", ("id", "c")),
        ({"customer": "country"}, "full", ("id", "c")),
        ({"id": "country"}, "inner", ("c",)),
        ({"id": "country"}, "left", ("id", "c")),
        ({"id": "c", "customer": "country"}, "full", ("id", "customer")),
    ],
)
def test_what_tells_joined_rows_apart(on, how, key):
    assert orders.join("bought", names, on=on, how=how).key == key


def test_the_columns_are_the_keys_the_lefts_and_the_rights():
    bought = orders.join("bought", customers, on={"customer": "id"}, how="left")
    assert bought.columns == ("customer", "id", "amount", "tags", "country", "number")
    assert bought.port.column_type("country").nullable
    assert not bought.port.column_type("amount").nullable
    both = orders.join("bought", customers.select("id", amount="number"), on="id", suffix="_too", how="full")
    assert both.columns == ("id", "customer", "amount", "tags", "amount_too")
    assert both.port.column_type("amount").nullable
    assert repr(bought) == "<table bought.netted by id: customer, id, amount, tags, country, number>"


def test_steps_behind_a_join_are_named_after_it():
    bought = orders.join("bought", customers, on={"customer": "id"})
    assert bought.group_by("country").agg(n=F.count("*")).port.node.name == "bought.by_country"
    assert bought.where("amount > 1").port.node.name == "bought.where"


def layers(table):
    return Layers(Pipeline("layers", out=table.to(Kafka("out")))).depth


def test_only_rows_that_may_move_are_netted():
    assert layers(orders.join("bought", customers, on={"customer": "id"})) == 3
    assert layers(orders.join("bought", customers, on={"customer": "id"}, how="full")) == 2
    assert layers(orders.join("bought", names, on={"id": "c"}, how="left")) == 2
    moved = orders.join("bought", customers, on={"customer": "id"})
    assert layers(moved.group_by("country").agg(n=F.count("*"))) == 3, "groups take halves as they come"
    assert layers(moved.join("again", names.select("c", land="country"), on={"customer": "c"})) == 4


REFUSED = {
    "a stream": (
        lambda: orders.join("j", ORDERS.stream(watermark=Bounded("1 second")), on="id"),  # type: ignore[arg-type]
        r'joined with a table, not with <stream.*\.latest\("name"',
    ),
    "a name": (lambda: orders.join("a name", names, on={"id": "c"}), "'a name' is no name for a join"),
    "another kind": (
        lambda: orders.join("j", names, on={"id": "c"}, how="outer"),  # type: ignore[arg-type]
        "is no kind of join of tables",
    ),
    "a kind misspelt": (
        lambda: orders.join("j", names, on={"id": "c"}, how="lefft"),  # type: ignore[arg-type]
        'did you mean "left"',
    ),
    "a right join": (
        lambda: orders.join("j", names, on={"id": "c"}, how="right"),  # type: ignore[arg-type]
        r"turn it round: other\.join",
    ),
    "an unknown key": (lambda: orders.join("j", names, on={"custmer": "c"}), 'did you mean "customer"'),
    "an unknown key of the other": (lambda: orders.join("j", names, on={"id": "d"}), 'no column "d"'),
    "no key": (lambda: orders.join("j", names, on=[]), "the join has no keys"),
    "a key twice": (lambda: orders.join("j", names, on={"id": "c", "ID": "c"}), 'no column "ID"|twice'),
    "keys of two types": (
        lambda: orders.join("j", customers.select(c="id", number="number"), on={"id": "number"}),
        '"id" of .* is STRING, and "number" of .* is BIGINT: they are never equal',
    ),
    "keys of two kinds": (
        lambda: orders.join("j", names, on={"tags": "c"}),
        '"tags" of .* is ARRAY<STRING>, and "c" of .* is STRING: they are never equal',
    ),
    "names that both have": (
        lambda: orders.join("j", customers, on={"customer": "country"}),
        r'two columns "id".*suffix="_right"',
    ),
    "a suffix that is none": (lambda: orders.join("j", names, on={"id": "c"}, suffix=" "), "is no text"),
    "columns that only planning knows": (
        lambda: orders.join(
            "j",
            ORDERS.stream(watermark=Bounded("1 second"))
            .transform(lambda frame: frame)
            .latest("last", by="id"),
            on="id",
        ),
        r"are known when it is planned.*\.transform\(\.\.\., columns=",
    ),
    "a stream's group by nothing known": (
        lambda: ORDERS.stream().group_by("custmer").agg(n=F.count("*")),
        'did you mean "customer"',
    ),
    "a stream's groups without time": (
        lambda: Topic("orders", Order).stream().group_by("id").agg(n=F.count("*")),
        "orders has no event time",
    ),
    "a sum of text": (
        lambda: ORDERS.stream().group_by("id").agg(n=F.sum("customer")),
        'sum: "customer" is STRING, and no number',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_where_it_is_written(case):
    declare, said = REFUSED[case]
    with pytest.raises(DeclarationError) as caught:
        declare()
    text = " ".join(str(caught.value).split())
    assert re.search(said, text), text
    assert HERE in text
    assert "cure" in text


def test_groups_of_a_stream_are_a_table_and_may_have_any_aggregate():
    totals = (
        ORDERS.stream()
        .group_by("customer")
        .agg(total=F.sum("amount"), ids=F.collect_list("id"), last=F.max_by("id", "at"))
    )
    assert totals.key == ("customer",)
    assert totals.port.node.name == "orders.by_customer"
    assert isinstance(totals.port.node, GroupNode)
    assert totals.port.node.grows == "one row for each group, with every value of collect_list(id)"
    assert ORDERS.stream().group_by("id", name="ids").agg(n=F.count("*")).port.node.name == "ids"
