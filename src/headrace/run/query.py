"""One pipeline running: started from its checkpoint, watched, stopped between two epochs."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from headrace.declare.view import View
from headrace.errors import CheckpointError, SettingsError
from headrace.plan.checks import check
from headrace.plan.layers import Layers
from headrace.run import folder as folders
from headrace.run import manifest as manifests
from headrace.run.failure import asked
from headrace.run.settings import is_uri

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.declare.pipeline import Pipeline
    from headrace.plan.kernel import Kernel
    from headrace.run.build import Built
    from headrace.run.settings import Settings

Until = Literal["stopped", "caught up", "drained"]

_FOREVER_MILLIS = 2**53


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
        for line in asked(lambda: list(self._progress.drain())):
            yield json.loads(line)

    def last_progress(self, seconds: float = 5) -> Iterator[dict[str, Any]]:
        """Yield what is still to be told, once Spark has reported every epoch that was delivered."""
        deadline = time.monotonic() + seconds
        while not asked(self._progress.told) and time.monotonic() < deadline:
            time.sleep(0.02)
        yield from self.progress()

    def active(self) -> bool:
        """Tell whether the query runs."""
        return bool(asked(self._java.isActive))

    def wait(self, seconds: float) -> bool:
        """Wait for the end; tell whether it has come. A failed query raises."""
        return bool(asked(lambda: self._java.awaitTermination(int(seconds * 1000))))

    def settle(self) -> None:
        """Take no new rows, and wait until the running epoch is committed, however long it takes."""
        clock = self._kernel.jvm.headrace.clock.Clock.of(self._query)
        asked(clock.freeze)
        asked(lambda: self._kernel.jvm.headrace.run.Queries.settle(self._java, clock, _FOREVER_MILLIS))

    def stop(self) -> None:
        """Stop at once. A running epoch is replayed by the next start."""
        asked(self._java.stop)
        if self.until == "drained" and _drained(self._kernel, self.checkpoint, self._folder) == "done":
            self._finished()
        self._forget()

    def finish(self) -> None:
        """Clean up after a query that ended by itself; a drained checkpoint is marked finished."""
        if self.until == "drained":
            self._finished()
        self._forget()

    def _finished(self) -> None:
        manifests.write(self._folder, replace(self._manifest, finished=True))

    def _forget(self) -> None:
        jvm = self._kernel.jvm
        # Each is closed, the last named first, whatever becomes of the others.
        with ExitStack() as closing:
            closing.callback(asked, lambda: jvm.headrace.remote.Lookups.close(self.pipeline))
            closing.callback(asked, lambda: jvm.headrace.deliver.Views.close(self.pipeline))
            closing.callback(asked, lambda: jvm.headrace.deliver.Producers.close(self.pipeline))
            closing.callback(asked, lambda: jvm.headrace.clock.Clock.close(self._query))


def precheck(pipeline: Pipeline, settings: Settings) -> tuple[Layers, manifests.Manifest | None]:
    """Find what is wrong before a JVM is started for it."""
    layers = Layers(pipeline)
    check(layers)
    uri = settings.checkpoint_of(pipeline.name)
    master = str(settings["spark.master"])
    if not is_uri(str(settings["checkpoint"])) and not master.startswith("local"):
        raise SettingsError(
            f"the checkpoint {uri} lies on this machine, and the executors of {master} run on others",
            cure="set checkpoint to a URI that all of them reach (hdfs:, s3a:, …; file: for a shared disk)",
        )
    known = None
    if folders.is_local(uri):
        known = _known(folders.open_folder(uri))
        if known is not None:
            from headrace.run import build

            manifests.precheck(known, pipeline.name, topics_of(layers), build.declared(layers))
    return layers, known


def topics_of(layers: Layers) -> dict[str, str]:
    """Return the topic of each source, by the source's name."""
    return {source.name: source.topic.name for source in layers.sources}


def _known(folder: folders.Folder) -> manifests.Manifest | None:
    manifest = manifests.read(folder)
    return manifests.begun(manifest, folder) if manifest else None


def _drained(kernel: Kernel, uri: str, folder: folders.Folder) -> Literal["no", "begun", "done"]:
    """Tell whether the last epoch ends time, and whether it has been committed."""
    if not _epochs(folder, "offsets") or not asked(lambda: kernel.jvm.headrace.clock.Clock.drained(uri)):
        return "no"
    return "done" if _epochs(folder, "commits")[-1:] == _epochs(folder, "offsets")[-1:] else "begun"


def _epochs(folder: folders.Folder, log: str) -> list[int]:
    return sorted(int(name) for name in folder.names(log) if name.isdigit())


def _refuse_drained(
    kernel: Kernel, uri: str, folder: folders.Folder, known: manifests.Manifest, until: Until
) -> None:
    """Refuse to feed windows that are closed for good, also when the run that closed them was killed."""
    if until == "drained":
        # It may have been killed before its last commit, or before the mark: go on and finish.
        return
    drained = _drained(kernel, uri, folder)
    if drained == "done":
        finished = replace(known, finished=True)
        manifests.write(folder, finished)
        manifests.refuse_finished(finished)
    if drained == "begun":
        raise CheckpointError(
            f"the draining of {known.pipeline!r} was interrupted: its windows are closed for good, "
            "and their results are not all delivered",
            cure="finish it: headrace run FILE --drain",
        )


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
    from headrace.run import build, kafka, remote, session, views

    layers, known = precheck(pipeline, settings)
    remote.find(layers)
    if spark is None:
        kafka.find(layers, settings)
        spark = session.start(
            pipeline.name,
            master=settings["spark.master"],
            retain=settings["epoch.retain"],
            options=settings["spark.options"],
        )
    kernel = Kernel(spark)
    uri = settings.checkpoint_of(pipeline.name)
    folder = folders.open_folder(uri, spark)
    known = known or _known(folder)
    if known is not None:
        manifests.refuse_finished(known)
        _refuse_drained(kernel, uri, folder, known, until)
    remote.check(kernel, layers)
    partitions = known.partitions if known else first_partitions(settings, spark)
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    kafka.ensure_topics(kernel, layers, settings, partitions)
    query = f"{pipeline.name}-{uuid.uuid4()}"
    indices = source_indices(layers, known)
    raw = {source: asked(partial(kafka.read, kernel, query, source, settings)) for source in layers.sources}
    made = asked(lambda: front.build(kernel, layers, raw, indices))
    manifest = manifests.settle(
        known,
        pipeline.name,
        topics_of(layers),
        build.wanted(layers, made),
        partitions=partitions,
        groups=settings["state.groups"],
        codec=build.CODEC,
    )
    built = asked(
        lambda: build.build(
            kernel,
            query,
            layers,
            made,
            manifest,
            checkpoint=uri,
            drain=until == "drained",
            align=settings["watermark.align"],
        )
    )
    delivery = delivery_of(layers, built, settings)
    begun = bool(folder.names("commits"))
    if kafka.exactly_once(layers):
        # The manifest comes first: a history that is adopted must have a checkpoint that knows its name.
        manifests.write(folder, manifest)
        kafka.check_history(kernel, delivery, manifest, begun=begun)
        manifest = replace(manifest, adopted=True)
    if delivery["views"] is not None:
        manifests.write(folder, manifest)
        views.check_history(kernel, delivery, manifest, begun=begun)
        manifest = replace(manifest, views=views.known(manifest, delivery))
    manifests.write(folder, manifest)
    progress = kernel.jvm.headrace.run.Progress("headrace clock")
    spark._jsparkSession.streams().addListener(progress)
    steps = {step.program: name for name, step in manifest.steps.items()}
    epochs = kernel.jvm.headrace.run.Epochs(
        query,
        progress,
        json.dumps(delivery),
        json.dumps(told(built)),
        json.dumps(steps),
        settings["metrics.keys"],
    )
    java = _start(kernel, built, pipeline.name, uri, epochs, settings, bounded=until != "stopped")
    progress.follow(java.runId().toString())
    return Running(pipeline.name, uri, until, kernel, query, java, progress, folder, manifest)


def first_partitions(settings: Settings, spark: SparkSession) -> int:
    """Return the number of state partitions of a new checkpoint, which keeps it for good."""
    chosen: int | None = settings["state.partitions"]
    if chosen is not None:
        return chosen
    master = str(spark.sparkContext.master)
    if not master.startswith("local"):
        # How many cores a cluster has there is decided by who has registered so far.
        raise SettingsError(
            f"on {master} the cores are not known yet when a checkpoint begins, and it keeps its partitions",
            cure="set state.partitions in headrace.toml ($HEADRACE_STATE_PARTITIONS), "
            "for example to the cores that the pipeline will have",
        )
    return int(spark.sparkContext.defaultParallelism)


def source_indices(layers: Layers, known: manifests.Manifest | None) -> dict[str, int]:
    """Return the number of each source in positions; a source keeps its number for ever."""
    indices = {name: source.index for name, source in known.sources.items()} if known else {}
    for source in layers.sources:
        indices.setdefault(source.name, len(indices))
    return indices


def delivery_of(layers: Layers, built: Built, settings: Settings) -> dict[str, Any]:
    """Return what the kernel's delivery needs to know, the epoch aside."""
    from headrace.plan.layers import is_rejected
    from headrace.run import kafka, views

    sinks = kafka.sinks(layers)
    outlets: list[dict[str, Any]] = []
    for ordinal, outlet in enumerate(built.outlets):
        kind = "ledger" if outlet.ledger else "dropped"
        place: dict[str, Any] = {"ordinal": ordinal, "name": outlet.name, "kind": kind}
        if outlet.delivery is not None:
            delivery = layers.pipeline.deliveries[outlet.delivery]
            if isinstance(delivery.sink, View):
                outlets.append({**place, "kind": "view"})
                continue
            place |= {
                "kind": "kafka",
                "topic": getattr(delivery.sink, "topic", ""),
                "guarantee": delivery.sink.guarantee,
                "rejected": is_rejected(delivery.port),
            }
        outlets.append(place)
    return {
        "pipeline": layers.pipeline.name,
        "checkpoint": built.manifest.checkpoint,
        "partitions": built.manifest.partitions,
        "markerTopic": kafka.marker_topic(layers.pipeline.name),
        "outlets": outlets,
        "views": views.specification(layers, built.outlets, settings),
        "clients": kafka.clients(settings, sinks[0].options) if sinks else {},
        "transactionTimeoutMs": settings["delivery.transaction-timeout"] // timedelta(milliseconds=1),
    }


def told(built: Built) -> list[dict[str, Any]]:
    """Return what the counts of an epoch are told by."""
    return [
        {
            "name": outlet.name,
            "delivery": outlet.delivery,
            "counted": outlet.counted,
            "ledger": outlet.ledger,
        }
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
    return asked(
        lambda: kernel.jvm.headrace.run.Queries.start(
            built.packed._jdf,
            name,
            uri,
            bounded,
            settings["epoch.interval"] // timedelta(milliseconds=1),
            epochs,
        )
    )
