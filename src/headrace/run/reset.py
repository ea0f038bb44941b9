"""A new history: the old checkpoint goes, and what it delivered stays or goes as asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from headrace.declare.view import View
from headrace.errors import CheckpointError
from headrace.plan.layers import Layers
from headrace.run import folder as folders
from headrace.run import manifest as manifests

if TYPE_CHECKING:
    from headrace.declare.pipeline import Pipeline
    from headrace.plan.kernel import Kernel
    from headrace.run.settings import Settings

Outputs = Literal["append", "replace"]


def meaning(pipeline: Pipeline, outputs: Outputs | None) -> list[str]:
    """Say, sink by sink, what a new history does to what is there."""
    lines = []
    for label, delivery in pipeline.deliveries.items():
        name = f"{label} ({delivery.sink.text()})"
        if isinstance(delivery.sink, View):
            # Rows that the new history does not have would stay for ever.
            lines.append(f"{name}: the view is emptied, and filled by what is read again")
            continue
        if outputs != "replace":
            lines.append(
                f"{name}: append keeps the old results; what is read again is delivered again, after them"
            )
        if outputs != "append":
            lines.append(
                f"{name}: replace deletes every record of the topic first, also those of other writers"
            )
    return lines


def reset(pipeline: Pipeline, settings: Settings, outputs: Outputs) -> dict[str, Any]:
    """Begin a new history, in an order in which dying half-way asks again instead of mixing two.

    What can be refused is asked first; nothing is removed before.
    """
    from headrace.plan.kernel import Kernel
    from headrace.run import kafka, query, session, views

    layers = Layers(pipeline)
    kafka.find(layers, settings)
    spark = session.start(pipeline.name, master=settings["spark.master"], options=settings["spark.options"])
    kernel = Kernel(spark)
    uri = settings.checkpoint_of(pipeline.name)
    folder = folders.open_folder(uri, spark)
    old = _readable(folder)
    marked = _marked(kernel, layers, settings)
    partitions = marked or (old.partitions if old else None) or query.first_partitions(settings, spark)
    fresh = manifests.Manifest(pipeline.name, partitions)
    delivery = _delivery(layers, fresh, settings) if kafka.exactly_once(layers) else {}
    # First all that can be refused, then whoever still writes is shut out; up to here nothing is lost.
    kafka.ensure_topics(kernel, layers, settings, partitions)
    emptied = _emptied(layers) if outputs == "replace" else {}
    for topic, options in emptied.items():
        with kafka.Topics(kernel, kafka.clients(settings, options)) as topics:
            topics.call("refuseCompacted", topic)
    if kafka.exactly_once(layers):
        kafka.histories(kernel, "fence", delivery)
    # From here on a start finds a new checkpoint and another's markers, and asks.
    folder.remove()
    manifests.write(folder, fresh)
    deleted = {}
    for topic, options in emptied.items():
        with kafka.Topics(kernel, kafka.clients(settings, options)) as topics:
            deleted[topic] = int(topics.call("truncate", topic))
    if kafka.exactly_once(layers):
        kafka.adopt(kernel, delivery)
    views.clear(kernel, layers, fresh, settings, had=bool(old and old.views))
    return {
        "pipeline": pipeline.name,
        "checkpoint": uri,
        "history": fresh.checkpoint,
        "replaces": old.checkpoint if old else None,
        "outputs": outputs,
        "deleted": deleted,
    }


def _marked(kernel: Kernel, layers: Layers, settings: Settings) -> int | None:
    """Return the tasks that the topic of markers was made for: they cannot be others, whatever is lost."""
    from headrace.run import kafka

    if not kafka.exactly_once(layers):
        return None
    with kafka.Topics(kernel, kafka.clients(settings, kafka.sinks(layers)[0].options)) as topics:
        return int(topics.call("partitions", kafka.marker_topic(layers.pipeline.name))) or None


def _emptied(layers: Layers) -> dict[str, Mapping[str, str]]:
    """Return the topics delivered to, each once, with the options of a client for it."""
    from headrace.run import kafka

    return {sink.topic: sink.options for sink in kafka.sinks(layers)}


def _delivery(layers: Layers, manifest: manifests.Manifest, settings: Settings) -> dict[str, Any]:
    """Return what the kernel needs to know of a delivery to move its markers."""
    from headrace.run import kafka

    topic = kafka.sinks(layers)[0].topic
    outlet = {
        "ordinal": 0,
        "name": "history",
        "kind": "kafka",
        "topic": topic,
        "guarantee": "exactly-once",
    }
    return {
        "pipeline": manifest.pipeline,
        "checkpoint": manifest.checkpoint,
        "partitions": manifest.partitions,
        "markerTopic": kafka.marker_topic(manifest.pipeline),
        "outlets": [outlet],
        "clients": kafka.clients(settings, kafka.sinks(layers)[0].options),
        "transactionTimeoutMs": settings["delivery.transaction-timeout"] // timedelta(milliseconds=1),
    }


def _readable(folder: folders.Folder) -> manifests.Manifest | None:
    try:
        return manifests.read(folder)
    except CheckpointError:
        # A checkpoint that nobody can read is what a reset is for.
        return None
