"""Joins of tables that planning refuses, or that a checkpoint does."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace import Bounded, CheckpointError, F, Kafka, Pipeline, PlanError, Table, Topic
from headrace.testing import Deleted, Harness
from tests.tables.on_spark import Item, declared

AT = "2026-01-01T00:00:00Z"


def item(key: str, group: str | None, value: int = 1) -> dict[str, Any]:
    return {"k": key, "g": group, "v": value, "at": AT}


def counted(topic: str, name: str, of: Any) -> Table:
    rows = Topic(topic, Item, time="at").stream()
    return rows.with_columns(g=of).group_by("g", name=name).agg(**{f"n_{topic}": F.count("*")})


def test_a_full_join_by_keys_that_may_be_null_is_refused(spark: SparkSession) -> None:
    group: Any = F.col("g")
    table = counted("a", "of-a", group).join("both", counted("b", "of-b", group), on="g", how="full")
    with pytest.raises(PlanError, match='is by "g", which may be null on both sides') as caught:
        Harness(Pipeline("nulls", both=table.to(Kafka("both"))), spark)
    assert "test_join_planned.py" in str(caught.value)
    known = F.coalesce("g", F.lit("none"))
    table = counted("a", "of-a", known).join("both", counted("b", "of-b", known), on="g", how="full")
    with Harness(Pipeline("nulls", both=table.to(Kafka("both"))), spark) as harness:
        harness.feed("a", item("1", None)).feed("b", item("1", None), item("2", "x"))
        assert sorted(harness.epoch()["both"], key=lambda row: row["g"]) == [
            {"g": "none", "n_a": 1, "n_b": 1},
            {"g": "x", "n_a": None, "n_b": 1},
        ]


def test_a_groups_rows_may_be_of_a_union_and_fail(spark: SparkSession) -> None:
    one, two = (Topic(name, Item, time="at").stream(watermark=Bounded("0 seconds")) for name in "ab")
    numbers = one.union(two).group_by("g").agg(total=F.sum(F.col("k").cast("int")), last=F.max_by("k", "v"))
    made = Pipeline("union", numbers=numbers.to(Kafka("n")), rejected=numbers.rejected.to(Kafka("r")))
    with Harness(made, spark) as harness:
        harness.feed("a", item("1", "x", 5), item("no", "x", 9)).feed("b", item("2", "x", 4), item("3", None))
        out = harness.epoch()
        assert sorted(out["numbers"], key=str) == [
            {"g": "x", "total": 3, "last": "1"},
            {"g": None, "total": 3, "last": "3"},
        ]
        assert [row["step"] for row in out["rejected"]] == ["a.by_g"]
        harness.restart()
        harness.feed("b", item("10", "x", 7))
        assert harness.epoch()["numbers"] == [{"g": "x", "total": 13, "last": "10"}]


def bought(**more: Any) -> Pipeline:
    orders = declared("orders").select("k", "g", **more)
    table = orders.join("bought", declared("customers").select(c="k", land="g"), on={"g": "c"}, how="left")
    return Pipeline("bought", out=table.to(Kafka("out")))


def over(table: Table) -> Pipeline:
    groups = table.where("land is not null").group_by("land").agg(n=F.count("*"))
    return Pipeline("bought", out=table.to(Kafka("out")), groups=groups.to(Kafka("groups")))


def test_what_a_join_holds_cannot_be_changed_under_it(spark: SparkSession, tmp_path: Any) -> None:
    checkpoint = str(tmp_path / "checkpoint")
    with Harness(bought(), spark, checkpoint=checkpoint, feed="bought") as harness:
        harness.feed("orders", item("o", "a")).feed("customers", item("a", "ch"))
        assert harness.epoch()["out"] == [{"g": "a", "k": "o", "land": "ch"}]
    with pytest.raises(CheckpointError, match=r"step 'bought': (what stands before it|its rows)"):
        Harness(bought(w="v"), spark, checkpoint=checkpoint, feed="bought")
    grouped = over(Table(bought().deliveries["out"].port))
    with pytest.raises(CheckpointError, match=r"step 'bought\.by_land'"):
        Harness(grouped, spark, checkpoint=checkpoint, feed="bought")
    with Harness(bought(), spark, checkpoint=checkpoint, feed="bought") as harness:
        harness.feed("customers", None, key=b"a")
        assert harness.epoch()["out"] == [{"g": "a", "k": "o", "land": None}]
        harness.feed("orders", None, key=b"o")
        assert harness.epoch()["out"] == [Deleted(k="o")]
