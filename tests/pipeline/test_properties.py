"""For any order, any cut into epochs and any restart, final panes equal a batch over what was not late."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headrace.testing import Harness
from tests.pipeline.shop import at, batch, panes, pipeline, sale, sales

EVENTS = st.lists(
    st.tuples(
        st.integers(0, 59),
        st.sampled_from("abc"),
        st.integers(-5, 5),
        st.integers(0, 1),
        st.sampled_from(["", "", "", "run", "advance", "restart"]),
    ),
    min_size=1,
    max_size=40,
)


@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(events=EVENTS)
def test_stream_equals_batch(spark: SparkSession, events: list[tuple[int, str, int, int, str]]) -> None:
    fed: list[dict[str, Any]] = []
    watermark = 0
    with Harness(pipeline(sales()), spark, partitions=2, groups=4) as harness:
        harness.partitions("sales", 2)
        for number, (second, shop, pieces, partition, what) in enumerate(events):
            row = sale(number, second, shop, pieces)
            fed.append(row)
            harness.feed("sales", row, partition=partition)
            if what == "run":
                harness.run()
            elif what == "advance":
                watermark = max(watermark, second)
                harness.advance("sales", at(watermark))
            elif what == "restart":
                harness.run()
                harness.restart()
                # W by hand is the test's, and is in the checkpoint too.
        harness.drain()
        late = {row["id"] for row in harness.rows("late")}
        used = [row for row in fed if row["id"] not in late]
        assert panes(harness.rows("panes")) == batch(used)
        assert len(harness.rows("late")) == len(late)
        assert not harness.rows("rejected")
