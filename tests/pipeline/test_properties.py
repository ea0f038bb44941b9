"""For any order, any cut into epochs and any restart, final panes equal a batch over what was not late.

Which rows are late the test decides by itself: those that it fed after it had moved the watermark to the end
of their window, or beyond.
"""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headrace.testing import Harness
from tests.pipeline.shop import at, batch, panes, pipeline, sale, sales

SIZE = 10
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
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(events=EVENTS)
def test_stream_equals_batch(spark: SparkSession, events: list[tuple[int, str, int, int, str]]) -> None:
    used: list[dict[str, Any]] = []
    late: list[str] = []
    watermark = 0
    with Harness(pipeline(sales()), spark, partitions=2, groups=4) as harness:
        harness.partitions("sales", 2)
        for number, (second, shop, pieces, partition, what) in enumerate(events):
            row = sale(number, second, shop, pieces)
            if second - second % SIZE + SIZE <= watermark:
                late.append(row["id"])
            else:
                used.append(row)
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
        assert sorted(row["id"] for row in harness.rows("late")) == sorted(late)
        assert panes(harness.rows("panes")) == batch(used)
        assert not harness.rows("rejected")
