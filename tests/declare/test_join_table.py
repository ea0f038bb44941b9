# What is refused is wrong on purpose, for type checkers too.
# mypy: disable-error-code="arg-type, attr-defined, call-arg, operator"

import re
from datetime import datetime
from pathlib import Path

import pytest

from headrace import Bounded, DeclarationError, F, Topic, record
from headrace.declare.join_table import LookupJoinNode, VersionsNode
from tests.declare.shop import paid, timeless


@record
class Card:
    number: str
    place: str
    limit: int
    since: datetime


cards = Topic("cards", Card, key="number", time="since").table()
last = paid.latest("last", by=["card", "id"])
unmarked = Topic("cards", Card, time="since").stream(name="unmarked").latest("unmarked-cards", by="number")
ON = {"on": {"card": "number"}, "suffix": "_of_card"}


def join(**changed: object) -> object:
    return paid.join(**{"name": "j", "other": cards, **ON, **changed})


def test_the_columns_are_the_keys_then_the_streams_then_the_tables() -> None:
    joined = join()
    others = [name for name in paid.columns if name != "card"]
    assert joined.columns == ("card", *others, "place_of_card", "limit", "since")
    assert joined.late.columns == (*paid.columns, "late_by_seconds")


@pytest.mark.parametrize(("how", "null"), [("inner", False), ("left", True)])
def test_what_may_be_missing_may_be_null(how: str, *, null: bool) -> None:
    port = join(how=how).port
    assert port.column_type("limit").nullable is null
    assert port.column_type("card").nullable is False


def test_the_records_are_joined_and_not_the_changes() -> None:
    node = join().port.node
    assert isinstance(node, LookupJoinNode)
    assert isinstance(node.parents[1].node, VersionsNode)
    assert join(as_of=None).port.node.parents[1] == cards.port


def test_as_of_takes_the_name_of_the_streams_time() -> None:
    assert not join(as_of="at").port.node.current
    assert join(as_of=None).port.node.current


def test_keys_of_several_columns_in_any_order() -> None:
    joined = paid.join("j", last, on=["id", "card"], suffix="_before")
    assert joined.columns[:2] == ("id", "card")


def test_any_table_has_a_current_row() -> None:
    dear = cards.where(F.col("limit") > 5).select("number", most="limit")
    assert paid.join("j", dear, on={"card": "number"}, as_of=None).columns[-1] == "most"


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: join(name=cards), "is no name for a join"),
        (lambda: join(how="full"), "how='full' is no kind of join of a stream with a table"),
        (lambda: join(how="lft"), 'did you mean "left"?'),
        (lambda: join(within="1 minute"), "within= is between two streams"),
        (lambda: join(as_of="since"), "as_of='since' is not the event time of payments_eu, which is \"at\""),
        (lambda: join(as_of=7), "as_of=None the row as it is now"),
        (lambda: join(as_of=None, lateness="1 minute"), "with as_of=None nothing is late"),
        (lambda: join(lateness="-1 second"), "the lateness is negative"),
        (lambda: join(on="card"), 'cards.table has no column "card"'),
        (lambda: join(on={"card": "place"}), 'are told apart by "number", and the join is by "place"'),
        (lambda: join(on={"card": "place"}), 'on={"your_column": "number"}'),
        (lambda: join(on={"count": "number"}), "they are never equal"),
        (lambda: join(suffix=None), 'the join "j" would have two columns "place"'),
        (lambda: join(suffix=None), 'write suffix="_of_cards"'),
        (lambda: join(suffix=""), "suffix='' is no text"),
        (lambda: join(other=cards.where("limit > 5")), "nobody knows what"),
        (lambda: join(other=cards.where("limit > 5")), "join cards.table itself, then .where(...)"),
        (lambda: join(other=cards.group_by("number").agg(n=F.count("*"))), "take the .latest(...) of its"),
        (lambda: join(other=unmarked), "unmarked has no watermark"),
        (lambda: timeless.join("j", cards, on={"country": "number"}), "clicks has no event time"),
        (lambda: paid.with_columns(late_by_seconds=F.lit(1)).join("j", cards, **ON), "late rows get"),
        (lambda: join(as_of=None).late, "nothing is late there"),
        (lambda: join().late_left, "nothing is late there"),
        (lambda: paid.join("j", paid, on="card", as_of=None), "is about tables, and payments_eu is a stream"),
        (lambda: paid.join("j", paid, on="card", suffix="_b"), "a join of two streams needs within="),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_at_the_users_line(attempt: object, message: str) -> None:
    with pytest.raises(DeclarationError, match=re.escape(message)) as caught:
        attempt()
    assert Path(caught.value.where.rpartition(":")[0]).name == Path(__file__).name


def test_a_stream_needs_a_watermark_only_to_meet_what_was() -> None:
    events = Topic("events", Card, time="since").stream()
    with pytest.raises(DeclarationError, match="events has no watermark"):
        events.join("j", cards, on="number", suffix="_then")
    events.join("j", cards, on="number", as_of=None, suffix="_now")
    marked = Topic("events", Card, time="since").stream(watermark=Bounded("1 second"))
    marked.join("j", cards, on="number", suffix="_then")
