"""Patterns by card: Spark has no operator for them, so they are held against our own count per card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.events import LAG, Event
from headrace import Bounded, F, Kafka, Pattern, Pipeline, Topic, prev

if TYPE_CHECKING:
    from collections.abc import Callable

LOW = "amount < 100"
MIDDLE = "amount >= 100 AND amount < 500"
HIGH = "amount >= 500"


def _strict() -> Pattern:
    begun = Pattern.begin("low").where(LOW).next("middle").where(MIDDLE)
    return begun.next("high").where(HIGH).within("2 minutes")


def _relaxed() -> Pattern:
    begun = Pattern.begin("low").where(LOW).times(3)
    return begun.followed_by("high").where("amount > 900").within("2 minutes")


def _negated() -> Pattern:
    begun = Pattern.begin("low").where(LOW).not_followed_by("middle").where(MIDDLE)
    high = begun.followed_by("high").where(F.col("amount") > prev("low")["amount"] * 10)
    return high.within("2 minutes")


@dataclass(frozen=True)
class Question:
    """One pattern."""

    name: str
    pattern: Callable[[], Pattern]

    def pipeline(self, topic: str) -> Pipeline:
        """Return a pipeline whose matches are only counted."""
        events = Topic(topic, Event, key="card", time="at").stream(watermark=Bounded(LAG))
        found = events.key_by("card").match("found", self.pattern())
        name = self.pattern.__name__.strip("_")
        return Pipeline(f"bench-{topic}-{name}", late=found.late.to(Kafka(f"{topic}.late.{name}")))


QUESTIONS = (
    Question("three steps, strict", _strict),
    Question("three times, then one, relaxed", _relaxed),
    Question("a negation and a look back", _negated),
)
