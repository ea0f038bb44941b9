"""Patterns as they are declared: what they say of themselves, and what is refused."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from headrace import (
    Bounded,
    DeclarationError,
    F,
    NoSkip,
    Pattern,
    SkipPastLast,
    SkipToFirst,
    SkipToLast,
    Topic,
    prev,
    record,
    taken,
)
from headrace.declare.after_match import AfterMatch
from headrace.declare.match import MatchNode


@record
class Login:
    user: str
    country: str
    ok: bool
    at: datetime


LOGINS = Topic("logins", Login, time="at").stream(watermark=Bounded("5 seconds"))
A, B = "country = 'CH'", "country = 'DE'"


def match(pattern: Any, **said: Any) -> MatchNode:
    node = LOGINS.key_by("user").match("taken-over", pattern, **said).port.node
    assert isinstance(node, MatchNode)
    return node


def pattern() -> Pattern:
    return (
        Pattern.begin("failed")
        .where(~F.col("ok"))
        .times(3)
        .followed_by("success")
        .where("ok")
        .within("10 minutes")
    )


def test_a_pattern_says_what_it_is() -> None:
    assert repr(pattern()) == (
        "<pattern failed{3} where ~ok, followed by success where ok, within 10 minutes>"
    )
    several = Pattern.begin("a").one_or_more().greedy().consecutive().until("ok").next("b").optional()
    assert several.text() == "a+ greedy consecutive until ok, then b?"
    group = Pattern.begin("a").followed_by_any(Pattern.begin("b").times(0, 2).next("c")).times_or_more(2)
    assert group.text() == "a, followed by any (b{1,2}?, then c){2,}"
    assert Pattern.begin("a").not_next("b").where("ok").next("c").text() == "a, not then b where ok, then c"


def test_a_pattern_is_a_value() -> None:
    begun = Pattern.begin("a").where(A)
    assert begun.next("b") != begun.followed_by("b")
    assert begun.names == ("a",)
    assert begun.next("b").names == ("a", "b")


def test_a_match_has_the_keys_the_times_and_the_steps() -> None:
    node = match(pattern())
    assert node.columns == ("user", "start", "end", "failed", "success")
    stream = LOGINS.key_by("user").match("taken-over", pattern())
    assert stream.timed_out.columns == node.columns
    assert stream.late.columns == ("user", "country", "ok", "at", "late_by_seconds")
    assert match(pattern()).after_match == NoSkip()
    assert match(pattern(), order_by=F.desc("country")).order[0].text() == "country desc"


REFUSED: dict[str, tuple[Callable[[], Any], str, str]] = {
    "no name": (lambda: Pattern.begin("1"), "is no name", "letters"),
    "a column's name": (lambda: Pattern.begin("start"), "every match has", "starting"),
    "a name twice": (lambda: Pattern.begin("a").next("A"), 'two steps "A"', "another name"),
    "a name twice, in a group": (
        lambda: Pattern.begin("a").next(Pattern.begin("b").next("a")),
        'two steps "a"',
        "another name",
    ),
    "no condition": (lambda: Pattern.begin("a").where(), "no condition", "write"),
    "an empty condition": (lambda: Pattern.begin("a").where(" "), "is empty", "amount"),
    "a truth value": (lambda: Pattern.begin("a").where(True), "every event", "&"),  # type: ignore[arg-type]
    "or_where first": (lambda: Pattern.begin("a").or_where(A), "has no condition", ".where"),
    "a condition of a group": (
        lambda: Pattern.begin(Pattern.begin("a")).where(A),
        "no condition of its own",
        "inside",
    ),
    "no number of times": (lambda: Pattern.begin("a").times(0), "no number of times", "from 1"),
    "times backwards": (lambda: Pattern.begin("a").times(3, 2), "no number of times", "smaller one first"),
    "times twice": (lambda: Pattern.begin("a").times(2).one_or_more(), "twice", "once"),
    "optional twice": (lambda: Pattern.begin("a").optional().optional(), "twice", "once"),
    "greedy without a loop": (lambda: Pattern.begin("a").greedy(), "does not repeat", "one_or_more"),
    "a greedy group": (lambda: Pattern.begin(Pattern.begin("a")).times(2).greedy(), "group", "inside"),
    "greedy combinations": (
        lambda: Pattern.begin("a").one_or_more().greedy().allow_combinations(),
        "cannot take all",
        "one of the two",
    ),
    "greedy after combinations": (
        lambda: Pattern.begin("a").one_or_more().allow_combinations().greedy(),
        "cannot take all",
        "one of the two",
    ),
    "consecutive without a loop": (lambda: Pattern.begin("a").consecutive(), "does not repeat", "times"),
    "two kinds of loop": (
        lambda: Pattern.begin("a").times(2).consecutive().allow_combinations(),
        "twice",
        "once",
    ),
    "until without a loop": (lambda: Pattern.begin("a").until(A), "does not repeat", "one_or_more"),
    "until of a number": (lambda: Pattern.begin("a").times(2).until(A), "ends by itself", "one_or_more"),
    "until twice": (lambda: Pattern.begin("a").one_or_more().until(A).until(B), "twice", "once"),
    "within twice": (lambda: pattern().within("1 minute"), "already", "once"),
    "within nothing": (lambda: Pattern.begin("a").within("0 seconds"), "longer than nothing", "write"),
    "since what": (
        lambda: Pattern.begin("a").within("1 minute", since="last"),  # type: ignore[arg-type]
        "since='last'",
        "previous",
    ),
    "since before the first": (
        lambda: Pattern.begin("a").within("1 minute", since="previous"),
        "there is no event",
        "later step",
    ),
    "times of what must not come": (
        lambda: Pattern.begin("a").not_next("b").times(2),
        "must not come at all",
        "takes events",
    ),
    "not after an optional step": (
        lambda: Pattern.begin("a").next("b").optional().not_followed_by("c"),
        "need not be there",
        "two patterns",
    ),
    "not next after a greedy step": (
        lambda: Pattern.begin("a").one_or_more().greedy().not_next("b"),
        "is greedy",
        "consecutive",
    ),
    "a group that may be empty": (
        lambda: Pattern.begin("a").next(Pattern.begin("b").optional()),
        "may be empty",
        "make the group optional",
    ),
    "not before an optional step": (
        lambda: match(Pattern.begin("a").not_followed_by("b").where(A).next("c").optional()),
        "need not be there",
        "two patterns",
    ),
    "not before a group that begins with an optional step": (
        lambda: match(
            Pattern.begin("a")
            .not_followed_by("b")
            .where(A)
            .followed_by(Pattern.begin("c").one_or_more().optional().greedy().next("d"))
        ),
        'before "c", which need not be there',
        "two patterns",
    ),
    "a negation of anything": (
        lambda: match(Pattern.begin("a").not_next("b").followed_by("c")),
        "has no condition",
        ".where(...)",
    ),
    "not after a group that repeats": (
        lambda: match(
            Pattern.begin(Pattern.begin("a").next("b")).times(2).not_followed_by("c").where(A).next("d")
        ),
        "after a group that repeats",
        "as often as it has to come",
    ),
    "not next after a group that ends greedily": (
        lambda: match(
            Pattern.begin(Pattern.begin("a").next("b").one_or_more().greedy())
            .not_next("c")
            .where(A)
            .next("d")
        ),
        "is greedy",
        "consecutive",
    ),
    "a time of a negation in the middle": (
        lambda: match(
            Pattern.begin("a").not_followed_by("b").where(A).within("3 seconds", since="previous").next("c")
        ),
        "says within when",
        'since="previous"',
    ),
    "a greedy end that may be left out, behind a greedy step": (
        lambda: match(
            Pattern.begin("a").one_or_more().greedy().followed_by("b").one_or_more().optional().greedy()
        ),
        "does not know when such an end is reached",
        "only one of them",
    ),
    "not at the end, for ever": (
        lambda: match(Pattern.begin("a").not_followed_by("b")),
        "it may always come yet",
        "within",
    ),
    "not next at the end, for ever": (
        lambda: match(Pattern.begin("a").not_next("b")),
        "it may always come yet",
        "within",
    ),
    "a group that ends in a negation": (
        lambda: match(Pattern.begin("a").next(Pattern.begin("b").not_next("c")).next("d")),
        "a group ends in",
        "behind the group",
    ),
    "a group with a time": (
        lambda: match(Pattern.begin("a").next(Pattern.begin("b").within("1 minute"))),
        "not of a group",
        "previous",
    ),
    "no pattern": (lambda: match("a b"), "is no pattern", "Pattern.begin"),
    "a column that is not there": (
        lambda: match(Pattern.begin("a").where(F.col("land") == "CH")),
        'no column "land"',
        "country",
    ),
    "an aggregate": (lambda: match(Pattern.begin("a").where(F.sum("ok") > 2)), "is an aggregate", "agg"),
    "a key by the name of a step": (lambda: match(Pattern.begin("user")), "name of a step", "another name"),
    "no strategy": (lambda: match(pattern(), after_match="skip"), "no such strategy", "SkipPastLast"),
    "the strategy itself": (lambda: match(pattern(), after_match=AfterMatch()), "no such", "SkipPastLast"),
    "a step that is not there": (
        lambda: match(pattern(), after_match=SkipToFirst("probe")),
        "no step 'probe'",
        "failed, success",
    ),
    "no limit": (lambda: match(pattern(), max_partial=0), "no number of partial matches", "from 1 on"),
    "no policy": (lambda: match(pattern(), when_full="drop"), "too many partial", "drop_oldest"),
    "prev of a later step": (
        lambda: match(Pattern.begin("a").where(F.col("country") == prev("b")["country"]).next("b").where(A)),
        'takes no event before "a" does',
        "steps before it are a",
    ),
    "taken of no column": (
        lambda: match(Pattern.begin("a").next("b").where(taken("a").sum("amount") > 1)),
        'no column "amount"',
        "country",
    ),
    "prev outside of a pattern": (
        lambda: LOGINS.where(prev("a")["country"] == "CH"),
        "of an event that a pattern has taken",
        "Pattern.begin",
    ),
    "an order inside": (
        lambda: match(pattern(), order_by=F.abs(F.desc("ok"))),
        "says a direction inside",
        "whole",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_malformed_is_refused_and_cured(what: str) -> None:
    declare, message, cure = REFUSED[what]
    with pytest.raises(DeclarationError) as refused:
        declare()
    assert message in refused.value.message
    assert cure in (refused.value.cure or "")
    assert re.fullmatch(r"tests/declare/test_pattern.py:\d+", refused.value.where or "")


def test_the_strategies_are_written_as_they_read() -> None:
    assert SkipPastLast().text() == "SkipPastLast()"
    assert SkipToLast("hit").text() == 'SkipToLast("hit")'
    assert (
        match(pattern(), after_match=SkipToLast("success"))
        .text()
        .endswith('after a match SkipToLast("success")')
    )


def test_a_stream_without_a_watermark_is_refused() -> None:
    bare = Topic("logins", Login, time="at").stream()
    with pytest.raises(DeclarationError, match="has no watermark"):
        bare.key_by("user").match("taken-over", pattern())


def test_only_matches_time_out() -> None:
    with pytest.raises(DeclarationError, match="nothing is matched there"):
        _ = LOGINS.timed_out
