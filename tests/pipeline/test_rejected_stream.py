"""Steps and deliveries of `.rejected`: a rejected row has nowhere left to go, so nothing may lose it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace import F, Kafka, Pipeline, PlanError
from headrace.testing import Harness
from tests.pipeline.shop import sale, sales

ROOT = Path(__file__).parents[2]


def test_a_failing_key_of_a_rejected_row_becomes_null(spark: SparkSession) -> None:
    stream = sales()
    key = F.col("value").cast("string").cast("int")
    with Harness(Pipeline("keys", rejected=stream.rejected.to(Kafka("r", key=key))), spark) as harness:
        harness.feed("sales", b"12", b"{", sale(1, 1))
        out = harness.drain()
        assert [row["value"] for row in out["rejected"]] == [b"12", b"{"]
        assert harness.counts["rejected sales"] == 2


def test_what_may_fail_on_rejected_rows_is_refused(spark: SparkSession) -> None:
    stream = sales()
    number = F.col("value").cast("string").cast("int")
    for failing in (stream.rejected.with_columns(n=number), stream.rejected.where(number > 5)):
        with pytest.raises(PlanError, match="try_cast") as caught:
            Harness(Pipeline("casts", rejected=failing.to(Kafka("r"))), spark)
        assert "test_rejected_stream.py" in str(caught.value)


def test_what_gives_null_instead_keeps_rejected_rows(spark: SparkSession) -> None:
    text = F.col("value").cast("string")
    tried = sales().rejected.with_columns(
        number=text.try_cast("int"),
        more=F.try_add(F.col("offset"), F.lit(1)),
        short=F.substring(F.upper(F.concat("reason", F.lit("!"))), 1, 8),
    )
    kept = tried.where(F.length("reason") > 0).select("offset", "number", "more", "short")
    with Harness(Pipeline("tries", rejected=kept.to(Kafka("r"))), spark) as harness:
        harness.feed("sales", b"12", b"{")
        rows = harness.drain()["rejected"]
        assert [(row["number"], row["more"]) for row in rows] == [(12, 1), (None, 2)]
        assert harness.counts["rejected sales"] == 2


def test_outlets_have_one_order_whatever_the_hash_seed() -> None:
    """Task and order of delivered rows are part of what a replay repeats."""
    program = (
        "from pyspark.sql import SparkSession\n"
        "from headrace import Kafka, Pipeline\n"
        "from headrace.plan.layers import Layers\n"
        "from headrace.plan.back import rejected_last\n"
        "from tests.pipeline.shop import sales\n"
        "s = sales()\n"
        "r = {f'r{n}': s.rejected.to(Kafka(f'r{n}')) for n in range(9)}\n"
        "p = Pipeline('p', **r, a=s.to(Kafka('a')))\n"
        "print(*rejected_last(Layers(p)))\n"
    )
    orders = {ordered(program, seed) for seed in ("1", "2")}
    assert orders == {"a " + " ".join(f"r{n}" for n in range(9))}


def ordered(program: str, seed: str) -> str:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
