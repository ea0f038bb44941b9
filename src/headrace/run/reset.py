"""A new history: the old checkpoint goes, and what it delivered stays or goes as asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

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
    from headrace.run import kafka, session

    layers = Layers(pipeline)
    kafka.find(layers, settings)
    spark = session.start(pipeline.name, master=settings["spark.master"], options=settings["spark.options"])
    kernel = Kernel(spark)
    uri = settings.checkpoint_of(pipeline.name)
    folder = folders.open_folder(uri, spark)
    old = _readable(folder)
    marked = _marked(kernel, layers, settings)
    partitions = (
        marked
        or (old.partitions if old else None)
        or settings["state.partitions"]
        or spark.sparkContext.defaultParallelism
    )
    if kafka.exactly_once(layers):
        kafka.ensure_topics(kernel, layers, settings, partitions)
    emptied = _emptied(layers) if outputs == "replace" else {}
    for topic, options in emptied.items():
        with kafka.Topics(kernel, kafka.clients(settings, options)) as topics:
            if topics.call("partitions", topic):
                topics.call("checkEmptied", topic)
    folder.remove()
    fresh = manifests.Manifest(pipeline.name, partitions)
    manifests.write(folder, fresh)
    deleted = {}
    for topic, options in emptied.items():
        with kafka.Topics(kernel, kafka.clients(settings, options)) as topics:
            if topics.call("partitions", topic):
                deleted[topic] = int(topics.call("truncate", topic))
    if kafka.exactly_once(layers):
        kafka.adopt(kernel, _history(pipeline.name, fresh, layers, settings))
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


def _history(name: str, fresh: manifests.Manifest, layers: Layers, settings: Settings) -> dict[str, Any]:
    from headrace.run import kafka

    first = kafka.sinks(layers)[0]
    outlet = {
        "ordinal": 0,
        "name": "history",
        "kind": "kafka",
        "topic": first.topic,
        "guarantee": "exactly-once",
    }
    return {
        "pipeline": name,
        "checkpoint": fresh.checkpoint,
        "partitions": fresh.partitions,
        "markerTopic": kafka.marker_topic(name),
        "outlets": [outlet],
        "clients": kafka.clients(settings, first.options),
    }


def _readable(folder: folders.Folder) -> manifests.Manifest | None:
    try:
        return manifests.read(folder)
    except CheckpointError:
        # A checkpoint that nobody can read is what a reset is for.
        return None
