"""One epoch at a time: rows and clock enter together, and nothing before it is asked for."""

import time

import pytest
from pyspark.sql import SparkSession

from headrace import Pipeline
from headrace.errors import DeclarationError
from headrace.testing import Harness
from tests.pipeline.shop import at, panes, pipeline, sale, sales


def both() -> Pipeline:
    return pipeline(sales().union(sales(topic="returns")))


def test_rows_and_watermark_enter_in_one_epoch(spark: SparkSession) -> None:
    with Harness(both(), spark) as harness:
        harness.feed("sales", sale(1, 1)).feed("returns", sale(2, 2))
        assert not harness.epoch(watermark=at(0))["panes"]
        harness.feed("sales", sale(3, 3), sale(4, 10)).feed("returns", sale(5, 4))
        before = harness._collected.epochs()
        out = harness.epoch(watermark=at(10), clock=at(60))
        assert harness._collected.epochs() == before + 1
        assert sorted(row["id"] for row in out["late"]) == ["3", "5"]
        assert panes(out["panes"]) == {("a", 0): (2, 2)}
        assert harness.query.lastProgress().batchId() == harness._collected.epochs() - 1
        with pytest.raises(DeclarationError, match="no source 'sold'"):
            harness.epoch(watermark={"sold": at(20)})
        harness.epoch(watermark={"sales": at(20)})
        assert len(harness.rows("panes")) == 1, "the other source holds the window open"
        out = harness.epoch(watermark={"returns": "end"})
        assert panes(out["panes"]) == {("a", 10): (1, 1)}


def test_nothing_enters_before_it_is_asked_for(spark: SparkSession) -> None:
    with Harness(both(), spark) as harness:
        harness.run()
        before = harness._collected.epochs()
        for number in range(20):
            harness.feed("sales", sale(number, 1)).feed("returns", sale(100 + number, 1))
            time.sleep(0.01)
        assert harness._collected.epochs() == before
        assert harness.epoch() == {"panes": [], "late": [], "rejected": []}
        assert harness._collected.epochs() == before + 1
        harness.epoch()
        assert harness._collected.epochs() == before + 1, "without rows and without a tick there is no epoch"
        harness.epoch(clock=at(1))
        assert harness._collected.epochs() == before + 2, "processing time alone is a tick"
        assert panes(harness.drain()["panes"]) == {("a", 0): (40, 40)}
