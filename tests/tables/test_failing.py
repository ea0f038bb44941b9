"""What fails on a row of a table: that version is rejected, and is not taken back where it never was."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace import CheckpointError, F, Kafka, Pipeline, Table, Topic, record
from headrace.testing import Deleted, Harness
from tests.tables.on_spark import Item, declared

AT = datetime(2026, 1, 1, tzinfo=UTC)


def item(key: str, group: str | None, value: int | None = 1) -> dict[str, Any]:
    return {"k": key, "g": group, "v": value, "at": AT}


def pipeline(table: Table, **deliveries: Any) -> Pipeline:
    made = {name: each.to(Kafka(name)) for name, each in deliveries.items()}
    return Pipeline("failing", **made, rejected=table.rejected.to(Kafka("rejected")))


def test_a_version_that_fails_is_rejected_and_the_row_is_gone(spark: SparkSession) -> None:
    table = declared("items")
    numbers = table.select("k", n=F.col("g").cast("int"), name="numbers")
    sums = table.group_by("k").agg(total=F.sum(F.col("g").cast("int")))
    with Harness(pipeline(table, numbers=numbers, sums=sums), spark) as harness:
        harness.feed("items", item("a", "1"), item("b", "no"))
        out = harness.epoch()
        assert out["numbers"] == [{"k": "a", "n": 1}]
        assert out["sums"] == [{"k": "a", "total": 1}]
        assert sorted(row["step"] for row in out["rejected"]) == ["items.table.by_k", "numbers"]

        harness.feed("items", item("a", "no"), item("b", "2"))
        out = harness.epoch()
        assert out["numbers"] == [Deleted(k="a"), {"k": "b", "n": 2}]
        assert out["sums"] == [Deleted(k="a"), {"k": "b", "total": 2}]
        assert len(out["rejected"]) == 2

        harness.feed("items", None, key=b"a")
        assert not any(harness.epoch().values()), "what was not in the tables is not taken out of them"
        ledger = harness.ledger()["items.table.by_k"]
        assert ledger == {"in": 5, "used": 3, "late": 0, "duplicate": 0, "rejected": 2}


def test_a_distinct_count_beyond_its_limit_comes_back_when_rows_go(spark: SparkSession) -> None:
    from headrace import limited

    table = declared("items")
    kinds = table.agg(kinds=limited(F.count_distinct("v"), 2))
    with Harness(pipeline(table, kinds=kinds), spark) as harness:
        harness.feed("items", *(item(key, "x", place) for place, key in enumerate("abc")))
        out = harness.epoch()
        assert out["kinds"] == [{"kinds": None}]
        assert [row["reason"] for row in out["rejected"]] == [
            "count_distinct kinds has more than 2 values for key {}"
        ]
        harness.feed("items", item("c", "x", 0))
        assert harness.epoch()["kinds"] == [{"kinds": 2}]


def test_keys_of_other_types_are_read_from_tombstones(spark: SparkSession) -> None:
    @record
    class Numbered:
        id: int | None
        name: str

    table = Topic("items", Numbered, key="id").table()
    with Harness(pipeline(table, rows=table), spark) as harness:
        harness.feed("items", {"id": 7, "name": "a"}, {"id": 8, "name": "b"})
        harness.epoch()
        harness.feed("items", None, key=b"7").feed("items", None, key=b"seven")
        harness.feed("items", {"id": None, "name": "c"})
        out = harness.epoch()
        assert out["rows"] == [Deleted(id=7)]
        assert sorted(row["reason"] for row in out["rejected"]) == [
            "field id: null, and it is the key of the table",
            "tombstone whose key is no bigint (id): seven",
        ]


def test_what_the_state_holds_cannot_change_its_columns(spark: SparkSession, tmp_path: Any) -> None:
    @record
    class More:
        k: str
        g: str | None
        v: int | None
        at: datetime
        more: str | None

    def rows(kind: type) -> Pipeline:
        table = Topic("items", kind, key="k", time="at").table()
        return Pipeline("items", rows=table.select("k").to(Kafka("rows")))

    checkpoint = str(tmp_path / "checkpoint")
    with Harness(rows(Item), spark, checkpoint=checkpoint, feed="items") as harness:
        harness.feed("items", item("a", "x"))
        assert harness.epoch()["rows"] == [{"k": "a"}]
    with pytest.raises(CheckpointError, match=r"step 'items\.table'.*its state does not fit any more"):
        Harness(rows(More), spark, checkpoint=checkpoint, feed="items")
