"""One pipeline running: started from its checkpoint, watched, stopped between two epochs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from headrace.errors import CheckpointError, RunError
from headrace.plan.checks import check
from headrace.plan.layers import Layers
from headrace.run import folder as folders
from headrace.run import manifest as manifests

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.declare.pipeline import Pipeline
    from headrace.plan.kernel import Kernel
    from headrace.run.build import Built
    from headrace.run.settings import Settings

Until = Literal["stopped", "caught up", "drained"]


@dataclass
class Running:
    """A pipeline's query, and what is to be known of it."""

    pipeline: str
    checkpoint: str
    until: Until
    _kernel: Kernel
    _query: str
    _java: Any
    _progress: Any
    _folder: folders.Folder
    _manifest: manifests.Manifest

    def progress(self) -> Iterator[dict[str, Any]]:
        """Yield what was told of the epochs since the last call."""
        for line in self._progress.drain():
            yield json.loads(line)

    def active(self) -> bool:
        """Tell whether the query runs."""
        return bool(self._java.isActive())

    def wait(self, seconds: float) -> bool:
        """Wait for the end; tell whether it has come. A failed query raises."""
        try:
            return bool(self._java.awaitTermination(int(seconds * 1000)))
        except Exception as failure:
            raise failed(failure) from failure

    def settle(self, seconds: float = 60) -> None:
        """Take no new rows, and wait until the running epoch is committed."""
        self._kernel.jvm.headrace.clock.Clock.of(self._query).freeze()
        deadline = timedelta(seconds=seconds)
        self._kernel.jvm.headrace.run.Queries.settle(self._java, deadline // timedelta(milliseconds=1))

    def stop(self) -> None:
        """Stop at once. A running epoch is replayed by the next start."""
        self._java.stop()
        self._forget()

    def finish(self) -> None:
        """Clean up after a query that ended by itself; a drained checkpoint is marked finished."""
        if self.until == "drained":
            manifests.write(self._folder, replace(self._manifest, finished=True))
        self._forget()

    def _forget(self) -> None:
        self._kernel.jvm.headrace.clock.Clock.close(self._query)
        self._kernel.jvm.headrace.deliver.Producers.close(self.pipeline)


def precheck(pipeline: Pipeline, settings: Settings) -> tuple[Layers, manifests.Manifest | None]:
    """Find what is wrong before a JVM is started for it."""
    layers = Layers(pipeline)
    check(layers)
    uri = settings.checkpoint_of(pipeline.name)
    known = None
    if folders.is_local(uri):
        known = manifests.read(folders.open_folder(uri))
        if known is not None and known.finished:
            manifests.refuse_finished(known)
    return layers, known


def start(
    pipeline: Pipeline,
    settings: Settings,
    *,
    until: Until = "stopped",
    spark: SparkSession | None = None,
) -> Running:
    """Start a pipeline from its checkpoint; a new checkpoint is made where there is none."""
    from headrace.plan import front
    from headrace.plan.kernel import Kernel
    from headrace.run import build, kafka, session

    layers, known = precheck(pipeline, settings)
    if spark is None:
        kafka.bootstrap(settings)
        spark = session.start(
            pipeline.name,
            master=settings["spark.master"],
            retain=settings["epoch.retain"],
            options=settings["spark.options"],
        )
    kernel = Kernel(spark)
    uri = settings.checkpoint_of(pipeline.name)
    folder = folders.open_folder(uri, spark)
    known = known or manifests.read(folder)
    partitions = (
        known.partitions if known else settings["state.partitions"] or spark.sparkContext.defaultParallelism
    )
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    kafka.ensure_topics(kernel, layers, settings, partitions)
    query = f"{pipeline.name}-{uuid.uuid4()}"
    indices = source_indices(layers, known)
    raw = {source: kafka.read(kernel, query, source, settings) for source in layers.sources}
    made = front.build(kernel, layers, raw, indices)
    manifest = manifests.settle(
        known,
        pipeline.name,
        {source.name: source.topic.name for source in layers.sources},
        build.wanted(layers, made),
        partitions=partitions,
        groups=settings["state.groups"],
        codec=build.CODEC,
    )
    built = build.build(
        kernel,
        query,
        layers,
        made,
        manifest,
        checkpoint=uri,
        drain=until == "drained",
        align=settings["watermark.align"],
    )
    delivery = delivery_of(layers, built, settings)
    begun = bool(folder.names("commits"))
    if kafka.exactly_once(layers):
        # The manifest comes first: a history that is adopted must have a checkpoint that knows its name.
        manifests.write(folder, manifest)
        kafka.check_history(kernel, delivery, manifest, begun=begun)
    else:
        manifests.write(folder, manifest)
    progress = kernel.jvm.headrace.run.Progress("headrace clock")
    spark._jsparkSession.streams().addListener(progress)
    epochs = kernel.jvm.headrace.run.Epochs(query, progress, json.dumps(delivery), json.dumps(_told(built)))
    java = _start(kernel, built, pipeline.name, uri, epochs, settings, bounded=until != "stopped")
    progress.follow(java.runId().toString())
    return Running(pipeline.name, uri, until, kernel, query, java, progress, folder, manifest)


def source_indices(layers: Layers, known: manifests.Manifest | None) -> dict[str, int]:
    """Return the number of each source in positions; a source keeps its number for ever."""
    indices = {name: source.index for name, source in known.sources.items()} if known else {}
    for source in layers.sources:
        indices.setdefault(source.name, len(indices))
    return indices


def delivery_of(layers: Layers, built: Built, settings: Settings) -> dict[str, Any]:
    """Return what the kernel's delivery needs to know, the epoch aside."""
    from headrace.run import kafka

    sinks = kafka.sinks(layers)
    outlets: list[dict[str, Any]] = []
    for ordinal, outlet in enumerate(built.outlets):
        place: dict[str, Any] = {"ordinal": ordinal, "name": outlet.name, "kind": "dropped"}
        if outlet.delivery is not None:
            sink = layers.pipeline.deliveries[outlet.delivery].sink
            place |= {"kind": "kafka", "topic": getattr(sink, "topic", ""), "guarantee": sink.guarantee}
        outlets.append(place)
    return {
        "pipeline": layers.pipeline.name,
        "checkpoint": built.manifest.checkpoint,
        "partitions": built.manifest.partitions,
        "markerTopic": kafka.marker_topic(layers.pipeline.name),
        "outlets": outlets,
        "clients": kafka.clients(settings, sinks[0].options if sinks else {}),
        "transactionTimeoutMs": settings["delivery.transaction-timeout"] // timedelta(milliseconds=1),
    }


def _told(built: Built) -> list[dict[str, Any]]:
    return [
        {"name": outlet.name, "delivery": outlet.delivery, "counted": outlet.counted}
        for outlet in built.outlets
    ]


def _start(
    kernel: Kernel,
    built: Built,
    name: str,
    uri: str,
    epochs: Any,
    settings: Settings,
    *,
    bounded: bool,
) -> Any:
    try:
        return kernel.jvm.headrace.run.Queries.start(
            built.packed._jdf,
            name,
            uri,
            bounded,
            settings["epoch.interval"] // timedelta(milliseconds=1),
            epochs,
        )
    except Exception as failure:
        raise failed(failure) from failure


def failed(failure: Exception) -> RunError | CheckpointError | Exception:
    """Say why a query ended, in one line where its cause is known."""
    from headrace.run import kafka

    return kafka.told(failure)
