"""What users test their pipelines with: rows and time by hand, the real kernel on Spark.

::

    from headrace.testing import Harness

    def test_counts_per_card(spark):
        with Harness(pipeline, spark) as harness:
            harness.feed("payments", {"card": "a", "at": "2026-01-01T00:00:01Z", ...})
            harness.advance("payments", "2026-01-01T00:01:00Z")
            assert harness.run()["alerts"] == [...]
"""

from headrace.testing.harness import Harness
from headrace.testing.values import Deleted

__all__ = ["Deleted", "Harness"]
