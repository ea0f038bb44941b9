"""Before speed: both sides give the right panes and sums, ours through Kafka exactly-once."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import native, ours
from benchmarks.consuming import consume
from headrace.run import query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.events import Filled


@dataclass(frozen=True)
class Answers:
    """Panes and the sum over all of them, by who gave them."""

    expected: tuple[int, int]
    ours: tuple[int, int]
    native: tuple[int, int]

    @property
    def right(self) -> bool:
        """Whether all agree."""
        return self.expected == self.ours == self.native


def check(spark: SparkSession, bootstrap: str, filled: Filled, seconds: float) -> Answers:
    """Ask both for the panes of a small topic."""
    expected = (filled.panes, filled.total)
    return Answers(
        expected, _ours(spark, bootstrap, filled, seconds), _native(spark, bootstrap, filled, seconds)
    )


def _ours(spark: SparkSession, bootstrap: str, filled: Filled, seconds: float) -> tuple[int, int]:
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        chosen = ours.settings(bootstrap, Path(folder), epoch_fixed_rows=filled.events // 3)
        running = query.start(ours.tumbling(filled.topic), chosen, until="caught up", spark=spark)
        if not running.wait(seconds):
            running.stop()
            raise TimeoutError(f"the panes of {filled.events:,} events took more than {seconds:.0f} s")
        running.finish()
    panes = [json.loads(each) for each in consume(bootstrap, f"{filled.topic}.panes", seconds)]
    return len(panes), sum(pane["total"] for pane in panes)


def _native(spark: SparkSession, bootstrap: str, filled: Filled, seconds: float) -> tuple[int, int]:
    rows = native.counted(native.events(spark, bootstrap, filled.topic, filled.events // 3))
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as checkpoint:
        running = (
            rows.writeStream.format("memory")
            .queryName("native_panes")
            .outputMode("append")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        if not running.awaitTermination(int(seconds)):
            running.stop()
            raise TimeoutError(
                f"Spark's own query over {filled.events:,} events took more than {seconds:.0f} s"
            )
        [answer] = spark.sql("select count(*) as panes, sum(total) as total from native_panes").collect()
        return int(answer["panes"]), int(answer["total"] or 0)
