"""A pattern among other steps: windows over its matches, failing conditions, Python functions, the limit."""

import json
from datetime import datetime
from typing import Any

from pyspark.sql import SparkSession

from headrace import Bounded, F, Kafka, Pattern, Pipeline, Topic, Tumbling, prev, record
from headrace.testing import Harness


@record
class Event:
    k: str
    n: int
    at: datetime


@F.udf("boolean")
def is_odd(n: int) -> bool:
    return n % 2 == 1


def pipeline() -> Pipeline:
    events = Topic("events", Event, time="at").stream(watermark=Bounded("0 seconds"))
    pairs = Pattern.begin("p").where(is_odd("n")).followed_by("q").where("n % 2 = 0")
    paired = events.key_by("k").match("pairs", pairs)
    per_minute = paired.key_by("k").window("per-minute", Tumbling("1 minute")).agg(pairs=F.count("*"))
    # At an event with the same n as the one before it, the division fails.
    rising = Pattern.begin("p").next("q").where(F.lit(10) / (F.col("n") - prev("p")["n"]) > 1)
    risen = events.key_by("k").match("risen", rising)
    combined = Pattern.begin("p").one_or_more().allow_combinations().followed_by("q").where("n = 99")
    limited = events.key_by("k").match("limited", combined, max_partial=4, when_full="drop_newest")
    return Pipeline(
        "patterns",
        per_minute=per_minute.to(Kafka("per-minute")),
        risen=risen.to(Kafka("risen")),
        limited=limited.to(Kafka("limited")),
        rejected=events.rejected.to(Kafka("rejected")),
    )


def at(second: int) -> str:
    return f"2026-01-01T00:{second // 60:02}:{second % 60:02}+00:00"


def test_a_pattern_among_other_steps(spark: SparkSession) -> None:
    with Harness(pipeline(), spark, groups=2) as harness:
        numbers = [1, 2, 3, 3, 4, 7]
        harness.feed("events", *({"k": "a", "n": n, "at": at(10 * i)} for i, n in enumerate(numbers)))
        harness.feed("events", {"k": "a", "n": 8, "at": at(70)})
        harness.advance("events", at(150)).run()
        out = {label: harness.rows(label) for label in harness.pipeline.deliveries}
        assert [(row["window"]["start"].minute, row["pairs"]) for row in out["per_minute"]] == [
            (0, 3),
            (1, 1),
        ]
        steps = [(row["p"][0]["n"], row["q"][0]["n"]) for row in out["risen"]]
        assert steps == [(1, 2), (2, 3), (3, 4), (4, 7), (7, 8)]
        [rejected] = out["rejected"]
        assert _shown(rejected) == ("risen", 3)
        assert "zero" in rejected["reason"].lower()
        ledger = harness.ledger()
        assert ledger["pairs"] == {"in": 7, "used": 7, "late": 0, "duplicate": 0, "rejected": 0}
        assert ledger["limited"]["used"] == 7
        assert ledger["limited"]["given_up"] > 7


def _shown(rejected: dict[str, Any]) -> tuple[str, int]:
    return rejected["step"], json.loads(rejected["value"])["n"]
