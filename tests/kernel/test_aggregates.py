"""Every aggregate of a window, on random rows of several types, against Spark's batch aggregation of them."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import StructType

from headrace import F, Kafka, Pipeline, PlanError, Stream, Tumbling, limited
from headrace.declare.aggregate_functions import FUNCTIONS, function, names
from headrace.plan import front
from headrace.plan.between import JSON
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers
from headrace.testing import Harness
from headrace.testing.values import decode
from tests.kernel.aggregate_cases import CASES, Case
from tests.kernel.readings import START, readings, rows, schema, sketches

TABLE = Path(__file__).parents[2] / "docs" / "reference" / "aggregates.md"
TOP = {"sketch": b"", "tracked": 1, "item": None, "ddl": ""}
RAW = "topic string, partition int, offset long, timestamp timestamp, key binary, value binary"


def aggregated(stream: Stream, cases: Mapping[str, Case] = CASES) -> Stream:
    """The stream's windows with every aggregate."""
    windows = stream.key_by("shop").window("all", Tumbling("1 minute"))
    return windows.agg(**{name: case.made(F) for name, case in cases.items()})


def expected(spark: SparkSession, fed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The panes as Spark computes them over all rows at once."""
    kind = schema()
    frame = spark.createDataFrame([tuple(row[name] for name in kind.names) for row in fed], kind)
    # Beside several distinct counts, Spark feeds the others nulls, which some of them count or fail on.
    distinct = {name for name in CASES if name.startswith("count_distinct")}
    left, right = (
        {(row["shop"], row["window"]["start"]): row for row in delivered(computed(frame, some))}
        for some in (distinct, CASES.keys() - distinct)
    )
    return [left[key] | right[key] for key in left]


def computed(frame: DataFrame, some: Collection[str]) -> DataFrame:
    """The batch aggregates of these names, as they are read."""
    cases = {name: case for name, case in CASES.items() if name in some}
    windows = frame.groupBy("shop", sql.window("at", "1 minute").alias("window"))
    made = windows.agg(
        *((case.batch() if case.batch else case.made(sql)).alias(name) for name, case in cases.items())
    )
    return made.select(
        "shop", "window", *(case.read(sql, sql.col(name)).alias(name) for name, case in cases.items())
    )


def delivered(frame: DataFrame) -> list[dict[str, Any]]:
    texts = frame.select(sql.to_json(sql.struct(*frame.columns), JSON).alias("text")).collect()
    found = [decode(row["text"], frame.schema) for row in texts]
    return [row for row in found if row is not None]


def same(left: Any, right: Any, close: float) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=close, abs_tol=close)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(
            same(one, other, close) for one, other in zip(left, right, strict=True)
        )
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name], close) for name in left)
    return type(left) is type(right) and bool(left == right)


def test_every_aggregate_equals_sparks_batch(spark: SparkSession) -> None:
    stream = readings()
    panes = aggregated(stream).select(
        "shop", "window", **{name: case.read(F, F.col(name)) for name, case in CASES.items()}
    )
    pipeline = Pipeline(
        "all",
        panes=panes.to(Kafka("panes", key="shop")),
        rejected=stream.rejected.to(Kafka("rejected")),
    )
    fed = rows(spark, 700)
    shuffled = random.Random(3).sample(fed, len(fed))
    dice = random.Random(5)
    with Harness(pipeline, spark, groups=4) as harness:
        harness.partitions("readings", 2)
        at = 0
        while at < len(shuffled):
            until = at + dice.randrange(1, 300)
            for row in shuffled[at:until]:
                harness.feed("readings", row, partition=dice.randrange(2))
            harness.rows_per_epoch("readings", dice.choice([0, 20, 150]))
            harness.run()
            at = until
        harness.drain()
        assert harness.rows("rejected") == []
        found = {(row["shop"], row["window"]["start"]): row for row in harness.rows("panes")}
        types = harness.built.outlets[0].schema
    wanted = expected(spark, fed)
    assert len(found) == len(harness.rows("panes")) == len(wanted) == 12
    differing = [
        (name, row[name], found[row["shop"], row["window"]["start"]][name])
        for row in wanted
        for name, case in CASES.items()
        if not same(row[name], found[row["shop"], row["window"]["start"]][name], case.close)
    ]
    assert differing == []
    batch = computed(spark.createDataFrame([], schema()), CASES.keys()).schema
    assert {name: types[name].dataType.simpleString() for name in CASES} == {
        name: batch[name].dataType.simpleString() for name in CASES
    }


def described(spark: SparkSession, cases: Mapping[str, Case]) -> tuple[list[Mapping[str, Any]], StructType]:
    """The aggregates as the kernel is told of them, and their inputs."""
    panes = aggregated(readings(), cases)
    layers = Layers(Pipeline("all", panes=panes.to(Kafka("panes", key="shop"))))
    raw = {source: spark.createDataFrame([], RAW) for source in layers.sources}
    made = front.build(Kernel(spark), layers, raw, {"readings": 0})
    [types] = made.programs.values()
    return list(types.aggregates), types.inputs


def retracts(spark: SparkSession, told: Mapping[str, Any], inputs: StructType) -> bool:
    jvm: Any = spark._jvm
    kind = jvm.org.apache.spark.sql.types.DataType
    place = told["input"]
    options = jvm.java.util.HashMap()
    for name, value in told["options"].items():
        options[name] = str(value).lower() if isinstance(value, bool) else str(value)
    read = kind.fromJson(inputs[place].dataType.json()) if place is not None else None
    result = kind.fromJson(json.dumps(told["type"]))
    spec = jvm.headrace.aggregate.AggregateSpec(
        told["name"], told["function"], -1 if place is None else place, read, result, options
    )
    return bool(spec.retracts())


def table() -> dict[str, dict[str, str]]:
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    heads, _, *content = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {row[0].strip("`"): dict(zip(heads, row, strict=True)) for row in content}


def test_the_page_lists_every_aggregate() -> None:
    known = table()
    assert set(known) == set(FUNCTIONS)
    called = {name for row in known.values() for name in re.findall(r"`(\w+)`", row["also called"])}
    assert called == set(names()) - set(FUNCTIONS)
    for name, row in known.items():
        for alias in re.findall(r"`(\w+)`", row["also called"]):
            found = function(alias)
            assert found is not None
            assert found.name == name
        assert (row["limit"] == "yes") == FUNCTIONS[name].limited


def test_the_page_says_what_takes_rows_back(spark: SparkSession) -> None:
    known = table()
    told, inputs = described(spark, CASES)
    assert {each["function"] for each in told} == set(FUNCTIONS), "every aggregate has a case here"
    for each in told:
        floats = each["input"] is not None and inputs[each["input"]].dataType.simpleString() == "double"
        says = known[each["function"]]["takes back"]
        assert says in {"yes", "no", "yes, but floats"}
        assert retracts(spark, each, inputs) == (says == "yes" or (says == "yes, but floats" and not floats))


def test_past_the_limit_the_result_is_null_and_a_row_says_so(spark: SparkSession) -> None:
    stream = readings()
    windows = stream.key_by("shop").window("basket", Tumbling("1 minute"))
    panes = windows.agg(
        items=limited(F.collect_list("word"), 3),
        kinds=limited(F.count_distinct("word"), 3),
        rows=F.count("*"),
    )
    pipeline = Pipeline(
        "basket", panes=panes.to(Kafka("panes", key="shop")), rejected=stream.rejected.to(Kafka("rejected"))
    )
    nothing = dict.fromkeys(schema().names)
    with Harness(pipeline, spark) as harness:
        for number, word in enumerate(["a", "b", "a", "b"]):
            shops = "uv" if number < 3 else "u"
            for shop in shops:
                at = START + timedelta(seconds=number)
                harness.feed(
                    "readings", {**nothing, "id": number, "shop": shop, "word": word, "at": at, "top": TOP}
                )
            harness.run()
        harness.drain()
        found = {row["shop"]: (row["items"], row["kinds"], row["rows"]) for row in harness.rows("panes")}
        assert found == {"u": (None, 2, 4), "v": (["a", "b", "a"], 2, 3)}
        [rejected] = harness.rows("rejected")
    assert rejected["step"] == "basket"
    assert rejected["reason"].startswith(
        "collect_list items has more than 3 values for key {shop=u} window ["
    )


def test_a_value_that_is_no_sketch_spoils_its_own_window_alone(spark: SparkSession) -> None:
    stream = readings()
    windows = stream.key_by("shop").window("visitors", Tumbling("1 minute"))
    panes = windows.agg(visitors=F.theta_union_agg("theta"), rows=F.count("*"))
    pipeline = Pipeline(
        "visits", panes=panes.to(Kafka("panes", key="shop")), rejected=stream.rejected.to(Kafka("rejected"))
    )
    nothing = dict.fromkeys(schema().names)
    good = sketches(spark)[0]["theta"]
    with Harness(pipeline, spark) as harness:
        for shop, content in (("u", good), ("u", b"no sketch"), ("v", good)):
            row = {**nothing, "id": 1, "shop": shop, "theta": content, "at": START, "top": TOP}
            harness.feed("readings", row)
        harness.run()
        # What is planned anew fits what was stored: the constants of a sketch are in both.
        harness.restart()
        harness.drain()
        found = {row["shop"]: row["visitors"] is not None for row in harness.rows("panes")}
        assert found == {"u": False, "v": True}
        [rejected] = harness.rows("rejected")
    assert rejected["reason"].startswith("theta_union_agg visitors failed: ")


def test_what_spark_refuses_is_refused_at_the_users_line(spark: SparkSession) -> None:
    cases = {"x": Case(lambda f: f.kll_sketch_agg_bigint("word"))}
    with pytest.raises(PlanError) as refused:
        described(spark, cases)
    assert "kll_sketch_agg_bigint" in refused.value.message
    assert "test_aggregates.py:" in str(refused.value.where)
