"""A new history: the old checkpoint goes, and what it delivered stays or goes as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace.errors import CheckpointError
from headrace.plan.layers import Layers
from headrace.run import folder as folders
from headrace.run import manifest as manifests

if TYPE_CHECKING:
    from headrace.declare.pipeline import Pipeline
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
    """Begin a new history, in an order in which dying half-way asks again instead of mixing two."""
    from headrace.plan.kernel import Kernel
    from headrace.run import kafka, session

    layers = Layers(pipeline)
    kafka.find(layers, settings)
    spark = session.start(pipeline.name, master=settings["spark.master"], options=settings["spark.options"])
    kernel = Kernel(spark)
    uri = settings.checkpoint_of(pipeline.name)
    folder = folders.open_folder(uri, spark)
    old = _readable(folder)
    cores = spark.sparkContext.defaultParallelism
    partitions = old.partitions if old else settings["state.partitions"] or cores
    folder.remove()
    fresh = manifests.Manifest(pipeline.name, partitions)
    manifests.write(folder, fresh)
    deleted = {}
    sinks = kafka.sinks(layers)
    if outputs == "replace":
        with kafka.Topics(kernel, kafka.clients(settings, sinks[0].options)) as topics:
            for sink in sinks:
                if topics.call("partitions", sink.topic):
                    deleted[sink.topic] = int(topics.call("truncate", sink.topic))
    if kafka.exactly_once(layers):
        kafka.ensure_topics(kernel, layers, settings, partitions)
        kafka.adopt(
            kernel,
            {
                "pipeline": pipeline.name,
                "checkpoint": fresh.checkpoint,
                "partitions": partitions,
                "markerTopic": kafka.marker_topic(pipeline.name),
                "outlets": [
                    {
                        "ordinal": 0,
                        "name": "history",
                        "kind": "kafka",
                        "topic": sinks[0].topic,
                        "guarantee": "exactly-once",
                    }
                ],
                "clients": kafka.clients(settings, sinks[0].options),
            },
        )
    return {
        "pipeline": pipeline.name,
        "checkpoint": uri,
        "history": fresh.checkpoint,
        "replaces": old.checkpoint if old else None,
        "outputs": outputs,
        "deleted": deleted,
    }


def _readable(folder: folders.Folder) -> manifests.Manifest | None:
    try:
        return manifests.read(folder)
    except CheckpointError:
        # A checkpoint that nobody can read is what a reset is for.
        return None
