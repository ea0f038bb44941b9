"""headrace's side: pipelines as a user writes them, with nothing at their end but a count."""

from __future__ import annotations

import json
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.events import AMOUNTS, LAG, WINDOW, Event
from benchmarks.timing import Run, epochs, measured, processor_seconds
from headrace import Bounded, F, Kafka, Pipeline, Topic, Tumbling
from headrace.plan import front
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers
from headrace.run import build, kafka, query
from headrace.run import folder as folders
from headrace.run import manifest as manifests
from headrace.run import settings as all_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.run.settings import Settings

_LINES_SECONDS = 10


def tumbling(topic: str, window: timedelta = WINDOW) -> Pipeline:
    """Sum and count per card; every pane is made a message."""
    events = Topic(topic, Event, key="card", time="at").stream(watermark=Bounded(LAG))
    panes = (
        events.key_by("card")
        .window("velocity", Tumbling(window))
        .agg(total=F.sum("amount"), payments=F.count("*"))
    )
    return Pipeline(f"bench-{topic}-tumbling", panes=panes.to(Kafka(f"{topic}.panes", key="card")))


def counted(topic: str, window: timedelta = WINDOW) -> Pipeline:
    """Sum and count per card; the panes are only counted."""
    events = Topic(topic, Event, key="card", time="at").stream(watermark=Bounded(LAG))
    panes = (
        events.key_by("card")
        .window("velocity", Tumbling(window))
        .agg(total=F.sum("amount"), payments=F.count("*"))
    )
    return Pipeline(f"bench-{topic}-counted", late=panes.late.to(Kafka(f"{topic}.late", key="card")))


def dear(topic: str) -> Pipeline:
    """Half of the events pass a filter and are made messages; no state."""
    events = Topic(topic, Event, key="card", time="at").stream()
    kept = events.where(F.col("amount") >= AMOUNTS // 2)
    return Pipeline(f"bench-{topic}-dear", kept=kept.to(Kafka(f"{topic}.dear", key="card")))


@dataclass
class Dropping:
    """A query of ours whose rows are counted and dropped."""

    java: Any
    _progress: Any
    _lines: list[dict[str, Any]]

    def lines(self) -> list[dict[str, Any]]:
        """Return what was told of all epochs so far."""
        self._lines += [json.loads(each) for each in self._progress.drain()]
        return self._lines

    def results(self, last: int) -> int:
        """Return how many rows came out, once the epoch `last` has been told of."""
        until = time.monotonic() + _LINES_SECONDS
        while not any(each["epoch"] >= last for each in self.lines()):
            if time.monotonic() > until:
                raise RuntimeError("the last epoch is not told of")
            time.sleep(0.01)
        # A pane that is delivered is counted as fired, too.
        return sum(sum((each["fired"] or each["delivered"]).values()) for each in self._lines)


def settings(bootstrap: str, folder: Path, **chosen: object) -> Settings:
    """Return the settings of a run; a name's dots and dashes are written as underscores."""
    names = {setting.name.replace(".", "_").replace("-", "_"): setting.name for setting in all_settings.KNOWN}
    arguments = {names[name]: value for name, value in chosen.items()}
    return all_settings.load({"kafka.bootstrap": bootstrap, "checkpoint": str(folder), **arguments}, folder)


@contextmanager
def dropping(
    spark: SparkSession, pipeline: Pipeline, chosen: Settings, *, bounded: bool
) -> Iterator[Dropping]:
    """Start a pipeline from an empty checkpoint, all of its outlets dropped."""
    layers = Layers(pipeline)
    kernel = Kernel(spark)
    partitions = spark.sparkContext.defaultParallelism
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    uri = chosen.checkpoint_of(pipeline.name)
    folders.open_folder(uri).remove()
    name = f"{pipeline.name}-{uuid.uuid4()}"
    raw = {source: kafka.read(kernel, name, source, chosen) for source in layers.sources}
    made = front.build(kernel, layers, raw, query.source_indices(layers, None))
    manifest = manifests.settle(
        None,
        pipeline.name,
        {source.name: source.topic.name for source in layers.sources},
        build.wanted(layers, made),
        partitions=partitions,
        groups=chosen["state.groups"],
        codec=build.CODEC,
    )
    built = build.build(kernel, name, layers, made, manifest, checkpoint=uri)
    manifests.write(folders.open_folder(uri), manifest)
    delivery = query.delivery_of(layers, built, chosen)
    for outlet in delivery["outlets"]:
        outlet |= {"kind": "ledger" if outlet["kind"] == "ledger" else "dropped"}
    steps = {step.program: step_name for step_name, step in manifest.steps.items()}
    progress = kernel.jvm.headrace.run.Progress("headrace clock")
    streams = spark._jsparkSession.streams()
    streams.addListener(progress)
    work = kernel.jvm.headrace.run.Epochs(
        name, progress, json.dumps(delivery), json.dumps(query.told(built)), json.dumps(steps), True
    )
    java = kernel.jvm.headrace.run.Queries.start(built.packed._jdf, name, uri, bounded, 0, work)
    progress.follow(java.runId().toString())
    try:
        yield Dropping(java, progress, [])
    finally:
        java.stop()
        streams.removeListener(progress)
        kernel.jvm.headrace.clock.Clock.close(name)
        folders.open_folder(uri).remove()


def run(spark: SparkSession, bootstrap: str, pipeline: Pipeline, rows: int, seconds: float) -> Run:
    """Run a pipeline over all that its topic holds, `rows` an epoch."""
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        chosen = settings(bootstrap, Path(folder), epoch_fixed_rows=rows)
        with dropping(spark, pipeline, chosen, bounded=True) as running:
            before = processor_seconds(spark)
            if not running.java.awaitTermination(int(seconds * 1000)):
                raise TimeoutError(f"{pipeline.name} took more than {seconds:.0f} s")
            processor = processor_seconds(spark) - before
            done = epochs(running.java)
            return measured(done, running.results(done[-1]["batchId"]), processor)
