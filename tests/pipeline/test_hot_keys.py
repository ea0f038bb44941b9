"""Keys that many rows have are told, for every kind of stateful step; even ones are not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace import Bounded, Delivery, F, Kafka, Pipeline, Session, Stream, Table, Topic, record
from headrace.testing import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = 1_500


@record
class Event:
    id: int
    card: str
    shop: str
    at: datetime


def steps(topic: str) -> dict[str, Delivery]:
    """One step of each kind over a topic."""
    events = Topic(topic, Event, time="at").stream(watermark=Bounded("1 minute"))
    visits = events.key_by("card", "shop").window(f"visits-{topic}", Session("1 second")).agg(n=F.count("*"))
    pairs = events.join(f"pairs-{topic}", events, on="card", within="1 millisecond", suffix="_2")
    once = events.dedup(f"once-{topic}", by="card", within="1 minute")
    group = events.group_by("card", name=f"group-{topic}").agg(n=F.count("*"))
    named: dict[str, Stream | Table] = {
        "visits": visits,
        "pairs": pairs.select("card"),
        "once": once,
        "group": group,
    }
    return {f"{name}_{topic}": each.to(Kafka(f"{name}-{topic}")) for name, each in named.items()}


def event(number: int, card: str) -> dict[str, Any]:
    return {"id": number, "card": card, "shop": "s", "at": START + timedelta(seconds=number)}


def test_a_key_of_a_third_of_the_rows_is_told_by_every_step(spark: SparkSession) -> None:
    with Harness(Pipeline("hot", **steps("skewed"), **steps("even")), spark) as harness:
        chance = [number * 7919 % 1000 for number in range(ROWS)]
        harness.feed(
            "skewed",
            *(event(number, "4711" if each < 300 else f"c{each}") for number, each in enumerate(chance)),
        )
        harness.feed("even", *(event(number, f"c{number % 100}") for number in range(ROWS)))
        harness.epoch(watermark=START)
        hot = harness.hot_keys()
        for step in ("pairs-skewed", "once-skewed", "group-skewed"):
            assert hot[step] == {'{"card":"4711"}': pytest.approx(0.3, abs=0.05)}
        assert hot["visits-skewed"] == {'{"card":"4711","shop":"s"}': pytest.approx(0.3, abs=0.05)}
        for step in ("visits-even", "pairs-even", "once-even", "group-even"):
            assert hot[step] == {}
