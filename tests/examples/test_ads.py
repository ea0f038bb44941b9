"""The example of impressions and clicks, on what its own generator makes."""

import runpy
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import SparkSession

from headrace.run import pipeline_file
from headrace.testing import Harness

ADS = Path(__file__).parents[2] / "examples" / "ads"
START = datetime(2026, 1, 1, tzinfo=UTC)
PATIENCE = timedelta(minutes=10)
MINUTE = timedelta(minutes=1)


def test_rates_and_unclicked_impressions_are_those_of_a_batch(spark: SparkSession) -> None:
    messages = list(runpy.run_path(str(ADS / "generator.py"))["messages"](7, 20, 90, START))
    clicks = {
        row["impression"]: datetime.fromisoformat(row["at"]) for _, of, _, row in messages if of == "clicks"
    }
    seen: dict[tuple[str, datetime], Counter[bool]] = defaultdict(Counter)
    unclicked = set()
    for _, topic, key, row in messages:
        if topic == "impressions":
            known = clicks.get(key) or datetime.fromisoformat(row["at"]) + PATIENCE
            since = START + (known - START) // MINUTE * MINUTE
            seen[row["campaign"], since][key in clicks] += 1
            unclicked |= set() if key in clicks else {key}
    assert len([1 for _, topic, _, _ in messages if topic == "clicks"]) > len(clicks), "no click came twice"
    with Harness(pipeline_file.load(str(ADS / "pipeline.py")), spark) as harness:
        for half in (messages[: len(messages) // 2], messages[len(messages) // 2 :]):
            for topic in ("impressions", "clicks"):
                harness.feed(topic, *(row for _, of, _, row in half if of == topic))
            harness.run()
        harness.drain()
        rates = {
            (row["campaign"], row["since"]): Counter(
                {True: row["clicks"], False: row["impressions"] - row["clicks"]}
            )
            for row in harness.rows("rate")
        }
        assert rates == seen
        assert {row["id"] for row in harness.rows("unclicked")} == unclicked
        assert harness.rows("late_clicks") == harness.rows("late_impressions") == []
