# What is refused is wrong on purpose, for type checkers too.
# mypy: disable-error-code="arg-type, call-arg"

from datetime import datetime, timedelta

import pytest

from headrace import (
    Adaptive,
    Bounded,
    DeclarationError,
    Kafka,
    Perfect,
    Pipeline,
    ProcessingTime,
    Punctuated,
    Topic,
    Watermark,
    record,
)
from headrace.plan.explain import text
from headrace.plan.layers import Layers
from headrace.run.build import _policy
from tests.declare.shop import Place, payments


@record
class Reading:
    sensor: str
    at: datetime
    complete: bool
    up_to: datetime | None
    value: float


readings = Topic("readings", Reading, time="at")

IN_WORDS: list[tuple[Watermark, str]] = [
    (Bounded("5 seconds"), "at most 5 seconds out of order, idle after 30 seconds"),
    (
        Adaptive(completeness=0.9995, at_most="2 minutes", idle="1 minute"),
        "99.95% of the rows in time, learned, at most 2 minutes out of order, idle after 1 minute",
    ),
    (Perfect(), "in order within each partition, never idle"),
    (Punctuated("complete"), "what marked rows say in complete, never idle"),
    (Punctuated("up_to", idle="1 minute"), "what marked rows say in up_to, idle after 1 minute"),
    (ProcessingTime(), "the wall clock, every 1 second"),
    (ProcessingTime(lag="1 minute", every="5 seconds"), "the wall clock less 1 minute, every 5 seconds"),
]


@pytest.mark.parametrize(("watermark", "words"), IN_WORDS)
def test_a_stream_takes_every_watermark_and_the_plan_says_it_in_words(watermark, words):
    stream = readings.stream(watermark=watermark)
    assert stream.port.has_watermark
    assert f"watermark: {words}\n" in text(Layers(Pipeline("p", out=stream.to(Kafka("out")))))


@pytest.mark.parametrize(
    ("watermark", "policy"),
    [
        (Bounded("5 seconds"), {"kind": "bounded", "lag": 5_000_000, "idle": 30_000}),
        (
            Adaptive(at_most="2 minutes"),
            {"kind": "adaptive", "completeness": 0.999, "at_most": 120_000_000, "idle": 30_000},
        ),
        (Perfect(), {"kind": "perfect"}),
        (Punctuated("complete"), {"kind": "punctuated", "idle": None}),
        (Punctuated("up_to", idle="1 second"), {"kind": "punctuated", "idle": 1_000}),
        (ProcessingTime(lag="1 minute"), {"kind": "processing-time", "lag": 60_000_000, "every": 1_000_000}),
    ],
)
def test_what_the_kernel_is_told(watermark, policy):
    assert _policy(readings.stream(watermark=watermark).port.node) == policy


def test_watermarks_are_values():
    assert Adaptive(at_most="120 seconds") == Adaptive(completeness=0.999, at_most=timedelta(minutes=2))
    assert hash(Perfect()) == hash(Perfect())
    assert Punctuated("a") != Punctuated("b")
    assert Adaptive(at_most="1 minute").ahead == timedelta(minutes=10)
    assert ProcessingTime().ahead is None


@pytest.mark.parametrize(
    ("attempt", "message", "cure"),
    [
        (lambda: Adaptive(completeness=1, at_most="1 minute"), "completeness=1 is no share", "Perfect"),
        (lambda: Adaptive(completeness=0, at_most="1 minute"), "completeness=0 is no share", "0.999"),
        (lambda: Adaptive(completeness=99.9, at_most="1 minute"), "completeness=99.9", "0.999"),
        (lambda: Adaptive(completeness="0.9", at_most="1 minute"), "completeness='0.9'", "0.999"),
        (lambda: Adaptive(completeness=True, at_most="1 minute"), "completeness=True", "0.999"),
        (lambda: Adaptive(completeness=float("nan"), at_most="1 minute"), "completeness=nan", "0.999"),
        (lambda: Adaptive(at_most="0 seconds"), "at_most of Adaptive must be longer than nothing", "5 min"),
        (lambda: Adaptive(at_most="-1 minute"), "at_most of Adaptive is negative", "5 minutes"),
        (Adaptive, "Adaptive has no at_most", 'at_most="2 minutes"'),
        (lambda: Adaptive(at_most="1 minute", idle="0 seconds"), "idle of Adaptive", "5 minutes"),
        (lambda: Perfect(ahead="-1 second"), "ahead of Perfect is negative", "5 minutes"),
        (lambda: ProcessingTime(lag="-1 second"), "the lag of ProcessingTime is negative", "5 minutes"),
        (lambda: ProcessingTime(every="0 seconds"), "every of ProcessingTime must be longer", "5 minutes"),
        (lambda: Punctuated(""), "'' is no name of a column", "name the field"),
        (lambda: Punctuated("complete", idle="0 seconds"), "idle of Punctuated", "5 minutes"),
        (
            lambda: readings.stream(watermark=Punctuated("complte")),
            'Reading has no field "complte"',
            'did you mean "complete"',
        ),
        (lambda: readings.stream(watermark=Punctuated("value")), '"value" is DOUBLE', "a bool"),
        (lambda: readings.stream(watermark=Adaptive), "is no watermark", "Bounded"),
        (lambda: Topic("t", Place).stream(watermark=Perfect()), "no event time", 'time="..."'),
    ],
)
def test_what_a_watermark_refuses(attempt, message, cure):
    with pytest.raises(DeclarationError) as refused:
        attempt()
    assert message in refused.value.message
    assert cure in str(refused.value.cure)
    assert "test_watermark.py:" in str(refused.value.where)


def test_the_marker_of_another_topic_is_no_marker():
    with pytest.raises(DeclarationError, match='has no field "complete"'):
        payments.stream(watermark=Punctuated("complete"))
