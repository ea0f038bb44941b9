"""What of a pattern makes another state, and what may change from run to run."""

from headrace import F, Pattern, SkipPastLast, prev
from headrace.declare.match import MatchNode
from headrace.plan.pattern_spec import conditions, state_of, told
from tests.plan.pipelines import payments


def match(pattern: Pattern, **said: object) -> MatchNode:
    node = payments.key_by("card").match("found", pattern, **said).port.node  # type: ignore[arg-type]
    assert isinstance(node, MatchNode)
    return node


BEGUN = Pattern.begin("a").where("amount < 2")


def test_conditions_and_lengths_may_change() -> None:
    was = state_of(match(BEGUN.followed_by("b").where("amount > 5").within("1 minute")))
    other = BEGUN.followed_by("b").where(F.col("amount") > 500).within("1 hour")
    assert state_of(match(other, after_match=SkipPastLast(), max_partial=5)) == was


def test_another_structure_is_another_state() -> None:
    was = state_of(match(BEGUN.followed_by("b").where("amount > 5")))
    assert state_of(match(BEGUN.next("b").where("amount > 5"))) != was
    assert state_of(match(BEGUN.times(2).followed_by("b").where("amount > 5"))) != was
    assert state_of(match(BEGUN.followed_by("c").where("amount > 5"))) != was


def test_a_state_is_told_in_words() -> None:
    looped = BEGUN.followed_by_any(Pattern.begin("b").where("amount > 5").one_or_more().until("amount < 2"))
    assert state_of(match(looped.within("1 minute"))) == (
        "a where condition 0, followed by any (b+ until condition 0 where condition 1)"
    )


def test_a_condition_that_is_there_twice_has_one_bit() -> None:
    node = match(BEGUN.followed_by("b").where("amount < 2").next("c").where(prev("a")["amount"] > 1))
    assert len(conditions(node.pattern)) == 2
    assert [each["condition"] for each in told(node)["elements"]] == [0, 0, 1]
    assert told(node)["earlier"] == [1]
