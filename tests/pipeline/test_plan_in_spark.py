"""What Spark really runs, against what our plan says."""

import re

from pyspark.sql import SparkSession

from headrace import F, Kafka, Pipeline, Tumbling
from headrace.plan import explain
from headrace.plan.layers import Layers
from headrace.testing import Harness
from tests.pipeline.shop import per_shop, sale, sales


def executed(harness: Harness) -> str:
    return str(harness.query.streamingQuery().lastExecution().executedPlan().toString())


def two_windows() -> Pipeline:
    stream = sales().where(F.col("pieces") > 0)
    minutes = per_shop(stream, "minutes", "1 minute")
    return Pipeline(
        "two-windows",
        seconds=per_shop(stream, "seconds").to(Kafka("seconds")),
        minutes=minutes.where(F.col("sales") > 1).to(Kafka("minutes")),
        late=minutes.late.to(Kafka("late")),
        all=stream.to(Kafka("all")),
    )


def test_stateful_operators_are_layers_and_the_topic_is_scanned_once(spark: SparkSession) -> None:
    pipeline = two_windows()
    with Harness(pipeline, spark) as harness:
        harness.feed("sales", *(sale(number, number) for number in range(20)), sale(99, 1, pieces=0))
        harness.run()
        harness.advance("sales", "2026-01-01T00:01:00Z")
        out = harness.run()
        plan = executed(harness)
        assert len(re.findall(r"TransformWithState\b|TransformWithStateExec", plan)) >= 1
        operators = [line for line in plan.splitlines() if re.search(r"TransformWithState", line)]
        assert len(operators) == Layers(pipeline).depth == 1
        assert len(re.findall(r"\bExchange\b", plan)) == explain.describe(Layers(pipeline))["shuffles"]
        assert len(out["seconds"]) == 2
        assert [row["sales"] for row in out["minutes"]] == [20]
        progress = [each for each in harness.query.recentProgress() if each.numInputRows()]
        fed = sum(
            source.numInputRows()
            for each in progress
            for source in each.sources()
            if "clock" not in source.description()
        )
        assert fed == 21
        assert len(harness.rows("all")) == 20


def test_a_chain_has_one_operator_a_layer_and_still_reads_the_topic_once(spark: SparkSession) -> None:
    stream = sales()
    once = stream.dedup("once", by="id", within="1 minute")
    seconds = per_shop(once, "seconds")
    minutes = seconds.key_by("shop").window("minutes", Tumbling("1 minute")).agg(sales=F.sum("sales"))
    pipeline = Pipeline(
        "chain",
        minutes=minutes.to(Kafka("minutes")),
        seconds=seconds.to(Kafka("seconds")),
        again=once.duplicates.to(Kafka("again")),
        all=stream.to(Kafka("all")),
    )
    with Harness(pipeline, spark) as harness:
        harness.feed("sales", *(sale(number, number) for number in range(20)), sale(3, 3))
        harness.run()
        plan = executed(harness)
        operators = [line for line in plan.splitlines() if re.search(r"TransformWithState", line)]
        assert len(operators) == Layers(pipeline).depth == 3
        assert len(re.findall(r"\bExchange\b", plan)) == explain.describe(Layers(pipeline))["shuffles"] == 3
        out = harness.drain()
        assert [row["sales"] for row in out["minutes"]] == [20]
        assert [row["sales"] for row in out["seconds"]] == [10, 10]
        assert [row["id"] for row in harness.rows("again")] == ["3"]
        assert len(harness.rows("all")) == 21
        assert harness.ledger()["once"] == {"in": 21, "used": 20, "late": 0, "duplicate": 1, "rejected": 0}
        assert harness.ledger()["minutes"]["in"] == 2
        progress = [each for each in harness.query.recentProgress() if each.numInputRows()]
        read = sum(
            source.numInputRows()
            for each in progress
            for source in each.sources()
            if "clock" not in source.description()
        )
        assert read == 21


def test_no_filter_reaches_the_clock(spark: SparkSession) -> None:
    """Between the union with the clock and the operator is nothing, so nothing can be pushed down to it."""
    with Harness(two_windows(), spark) as harness:
        harness.feed("sales", sale(1, 1)).run()
        harness.advance("sales", "2026-01-01T00:00:05Z")
        harness.run()
        lines = executed(harness).splitlines()
        clock = next(place for place, line in enumerate(lines) if "headrace clock" in line)
        depth = lines[clock].index("headrace") if "headrace" in lines[clock] else 0
        assert depth
        # Upwards from the scan to the union: each line above with a smaller indent is an ancestor.
        ancestors = []
        indent = len(lines[clock]) - len(lines[clock].lstrip(" :+-*(0123456789)"))
        for line in reversed(lines[:clock]):
            mine = len(line) - len(line.lstrip(" :+-*(0123456789)"))
            if mine < indent:
                ancestors.append(line.strip())
                indent = mine
            if "Union" in line:
                break
        assert any("Union" in line for line in ancestors)
        assert not any("Filter" in line for line in ancestors), ancestors
