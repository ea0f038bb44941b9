"""Kafka as a run needs it: options, topics, frames of raw rows, and whose history the topics hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from headrace.declare.node import SourceNode
from headrace.declare.sink import Kafka
from headrace.declare.table_node import is_table
from headrace.errors import CheckpointError, SettingsError
from headrace.run.failure import told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.plan.kernel import Kernel
    from headrace.plan.layers import Layers
    from headrace.run.manifest import Manifest
    from headrace.run.settings import Settings

BROKERS_CHOICE = -1

READING = {
    # What a transaction wrote and did not commit, such as a replaced attempt of another pipeline, never was.
    "isolation.level": "read_committed",
    # Spark asks for the bounds of a partition behind each fetch, and a broker answers one request after the
    # other: a fetch that waits for rows to come, by default for half a second, would hold every epoch up.
    "fetch.max.wait.ms": "5",
    # Spark throws away what a fetch brought beyond one poll, and after each asks for the partition's bounds.
    "max.poll.records": "10000",
}
"""Options of the consumers, unless the settings or the topic say otherwise."""


def bootstrap(settings: Settings) -> str:
    """Return the brokers: the setting, or the Kafka that `headrace up` started."""
    if settings["kafka.bootstrap"]:
        return str(settings["kafka.bootstrap"])
    from headrace.local.stack import Stack

    running = Stack().status(["kafka"])["kafka"]
    if running.state != "running" or running.address is None:
        raise SettingsError(
            "no Kafka is set and none is running here",
            cure="headrace up, or set kafka.bootstrap in headrace.toml ($HEADRACE_KAFKA_BOOTSTRAP)",
        )
    return running.address


def clients(settings: Settings, own: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the options of a Kafka client: settings first, then the topic's or sink's own."""
    merged = {**settings["kafka.options"], **(own or {})}
    if "bootstrap.servers" not in merged:
        merged = {"bootstrap.servers": bootstrap(settings), **merged}
    return merged


def find(layers: Layers, settings: Settings) -> None:
    """Make sure that somebody says where each topic is, before a JVM is started to ask there."""
    for own in [
        *(source.topic.options for source in layers.sources),
        *(sink.options for sink in sinks(layers)),
    ]:
        clients(settings, own)


def marker_topic(pipeline: str) -> str:
    """Return the topic that says which epochs of a pipeline have been delivered."""
    return f"headrace.{pipeline}.epochs"


def ensure_topics(kernel: Kernel, layers: Layers, settings: Settings, tasks: int) -> None:
    """Make sure that all topics are there; create them where that is allowed."""
    create = settings["kafka.create-topics"]
    replication = settings["kafka.replication"] or BROKERS_CHOICE
    with_options: dict[str, tuple[int, Mapping[str, str], dict[str, str]]] = {}
    for source in layers.sources:
        topic = source.topic
        config = {"cleanup.policy": "compact"} if topic.compacted else {}
        with_options[topic.name] = (topic.partitions or settings["kafka.partitions"], topic.options, config)
    for delivery in layers.pipeline.deliveries.values():
        sink = delivery.sink
        if isinstance(sink, Kafka):
            # Of a table the last value of each key is the whole: older ones may go.
            config = {"cleanup.policy": "compact"} if is_table(delivery.port) else {}
            with_options.setdefault(
                sink.topic, (sink.partitions or settings["kafka.partitions"], sink.options, config)
            )
    for name, (partitions, own, config) in with_options.items():
        with Topics(kernel, clients(settings, own)) as topics:
            topics.call("ensure", name, partitions, replication, config, create)
    if exactly_once(layers):
        with Topics(kernel, clients(settings, sinks(layers)[0].options)) as topics:
            topics.call("ensureMarkers", marker_topic(layers.pipeline.name), tasks, replication, create)


def sinks(layers: Layers) -> list[Kafka]:
    """Return the Kafka sinks of a pipeline."""
    return [each.sink for each in layers.pipeline.deliveries.values() if isinstance(each.sink, Kafka)]


def exactly_once(layers: Layers) -> bool:
    """Tell whether any delivery needs transactions and their marker."""
    return any(sink.guarantee == "exactly-once" for sink in sinks(layers))


def read(kernel: Kernel, query: str, source: SourceNode, settings: Settings) -> DataFrame:
    """Return the raw rows of a topic, paced and watched."""
    topic = source.topic
    reader = (
        kernel.spark.readStream.format("headrace.source.SteeredKafka")
        .name(source.name)
        .option("query", query)
        .option("source", source.name)
        .option("subscribe", topic.name)
        .option("failOnDataLoss", str(topic.on_data_loss == "fail").lower())
        .option("maxRowsPerEpoch", settings["epoch.max-rows"])
        .option("targetEpochMillis", settings["epoch.target"] // timedelta(milliseconds=1))
    )
    if settings["epoch.fixed-rows"]:
        reader = reader.option("fixedRowsPerEpoch", settings["epoch.fixed-rows"])
    if isinstance(topic.start, datetime):
        start = topic.start if topic.start.tzinfo else topic.start.replace(tzinfo=UTC)
        reader = reader.option("startingTimestamp", int(start.timestamp() * 1000)).option(
            "startingOffsetsByTimestampStrategy", "latest"
        )
    else:
        reader = reader.option("startingOffsets", topic.start)
    for name, value in (READING | clients(settings, topic.options)).items():
        reader = reader.option(f"kafka.{name}", value)
    return reader.load()


class Topics:
    """The kernel's hand on topics, closed when left."""

    def __init__(self, kernel: Kernel, options: Mapping[str, str]) -> None:
        """Connect."""
        try:
            self._topics = kernel.jvm.headrace.deliver.Topics(dict(options))
        except Exception as failure:
            raise told(failure) from failure

    def __enter__(self) -> Self:
        """Use it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect."""
        self._topics.close()

    def call(self, method: str, *arguments: object) -> Any:
        """Call a method of the kernel's; its errors are ours."""
        try:
            return getattr(self._topics, method)(*arguments)
        except Exception as failure:
            raise told(failure) from failure


def check_history(kernel: Kernel, delivery: Mapping[str, Any], manifest: Manifest, *, begun: bool) -> None:
    """Compare the topics' markers with the checkpoint: refuse to write over another history unasked.

    A start that is refused leaves whoever runs alone: it only looks. What it saw is
    compared once more after the fencing, when nobody can change it any more.
    """
    _compare(histories(kernel, "look", delivery), manifest, begun=begun)
    _compare(histories(kernel, "fence", delivery), manifest, begun=begun)
    if not (begun and manifest.adopted):
        # Again after dying half-way through: it completes what is missing and lowers no marker.
        adopt(kernel, delivery)


def _compare(found: Mapping[str, Any], manifest: Manifest, *, begun: bool) -> None:
    mine = manifest.checkpoint in found["checkpoints"]
    others = found["others"]
    if others and not (mine and not begun):
        latest = {each: found["checkpoints"][each] for each in others}
        told_epochs = ", ".join(f"{each} (up to epoch {epoch})" for each, epoch in latest.items())
        if begun and manifest.adopted:
            raise CheckpointError(
                f"another history of pipeline {manifest.pipeline!r} has written to its topics: {told_epochs}",
                cure="stop the other run and restore its checkpoint, or begin anew: headrace reset FILE",
            )
        if begun:
            raise CheckpointError(
                f"the topics of pipeline {manifest.pipeline!r} hold the exactly-once results of another "
                f"history, {told_epochs}, and this checkpoint has delivered none exactly once so far",
                cure="restore the other checkpoint, or begin anew: headrace reset FILE",
            )
        raise CheckpointError(
            f"the topics of pipeline {manifest.pipeline!r} hold the results of another history, "
            f"{told_epochs}, "
            "and this checkpoint is new: was the old one deleted?",
            cure="restore the old checkpoint, or choose what becomes of its results: "
            "headrace reset FILE --outputs append (or replace)",
        )
    if begun and manifest.adopted and found["unmarked"]:
        raise CheckpointError(
            f"the markers of pipeline {manifest.pipeline!r} are gone from topic "
            f"{marker_topic(manifest.pipeline)!r}: "
            "nobody can say whether its last epoch was delivered",
            cure="headrace reset FILE --outputs append (or replace)",
        )


def histories(kernel: Kernel, method: str, delivery: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the kernel whose markers are in the topics, by a look or with fencing."""
    try:
        answer = getattr(kernel.jvm.headrace.deliver.Histories, method)(json.dumps({**delivery, "epoch": 0}))
    except Exception as failure:
        raise told(failure) from failure
    found: dict[str, Any] = json.loads(answer)
    return found


def adopt(kernel: Kernel, delivery: Mapping[str, Any]) -> None:
    """Begin this checkpoint's history in the topics."""
    try:
        kernel.jvm.headrace.deliver.Histories.adopt(json.dumps({**delivery, "epoch": 0}))
    except Exception as failure:
        raise told(failure) from failure
