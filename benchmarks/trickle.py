"""Epochs with next to nothing in them, and how soon a pane arrives."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer

from benchmarks import native, ours
from benchmarks.consuming import consumer
from benchmarks.events import LAG, PARTITIONS, QUIET, create, message
from benchmarks.timing import Spread, epochs, parts
from headrace.run import query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WINDOW = timedelta(seconds=1)
WARM_EPOCHS = 100
"""Epochs before the JVM has compiled what an epoch takes; not counted."""
WARM_PANES = 10
_PACE = 0.04


@dataclass(frozen=True)
class Trickled:
    """Time of small epochs, whole and in Spark's parts."""

    whole: Spread
    parts: dict[str, float]


class _Events:
    """A few events at a time, with a time of their own that only goes on."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic = topic
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "linger.ms": 0, "enable.idempotence": True, **QUIET}
        )
        self._start = (datetime.now(UTC) - timedelta(hours=6)).replace(microsecond=0)
        self.second = 0

    @property
    def now(self) -> datetime:
        """The present second of the events."""
        return self._start + timedelta(seconds=self.second)

    def send(self, after: timedelta = timedelta(0)) -> None:
        """Send one event to each partition at the present second, or after it."""
        at = (self.now + after).isoformat().replace("+00:00", "Z")
        for partition in range(PARTITIONS):
            self._producer.produce(self._topic, message(partition, 1, at), partition=partition)
        if self._producer.flush(30):
            raise RuntimeError("the broker does not take events")

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Send meanwhile, a second of event time at each send: every epoch closes windows."""
        over = threading.Event()

        def flow() -> None:
            while not over.wait(_PACE):
                self.second += 1
                self.send()

        sender = threading.Thread(target=flow, daemon=True)
        sender.start()
        try:
            yield
        finally:
            over.set()
            sender.join()


def dropped(spark: SparkSession, bootstrap: str, count: int, seconds: float) -> Trickled:
    """Time small epochs of ours whose panes are dropped."""
    create(bootstrap, "trickle-dropped")
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        chosen = ours.settings(bootstrap, Path(folder))
        pipeline = ours.tumbling("trickle-dropped", WINDOW)
        with (
            ours.dropping(spark, pipeline, chosen, bounded=False) as running,
            _Events(bootstrap, "trickle-dropped").flowing(),
        ):
            return _timed(running.java, count, seconds)


def exactly_once(spark: SparkSession, bootstrap: str, count: int, seconds: float) -> Trickled:
    """Time small epochs of ours whose panes go to Kafka, exactly once."""
    create(bootstrap, "trickle-once")
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        pipeline = ours.tumbling("trickle-once", WINDOW)
        running = query.start(pipeline, ours.settings(bootstrap, Path(folder)), spark=spark)
        try:
            with _Events(bootstrap, "trickle-once").flowing():
                return _timed(running._java, count, seconds)
        finally:
            running.stop()


def spark_itself(spark: SparkSession, bootstrap: str, count: int, seconds: float) -> Trickled:
    """Time small epochs of Spark's own aggregation."""
    create(bootstrap, "trickle-native")
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        rows = native.tumbling(native.events(spark, bootstrap, "trickle-native"))
        running = native.start(spark, rows, folder, bounded=False)
        try:
            with _Events(bootstrap, "trickle-native").flowing():
                return _timed(running._jsq, count, seconds)
        finally:
            running.stop()


def _timed(java_query: Any, count: int, seconds: float) -> Trickled:
    until = time.monotonic() + seconds
    done: list[dict[str, Any]] = []
    while len(done) < WARM_EPOCHS + count and time.monotonic() < until:
        time.sleep(0.5)
        if not java_query.isActive():
            raise RuntimeError(str(java_query.exception().get().getMessage()))
        done = epochs(java_query)
    durations = [each["durationMs"] for each in done[min(WARM_EPOCHS, len(done) // 2) :]]
    if not durations:
        raise TimeoutError(f"no epoch in {seconds:.0f} s")
    return Trickled(Spread.of([each["triggerExecution"] for each in durations]), parts(durations))


def latency(spark: SparkSession, bootstrap: str, count: int, seconds: float) -> Spread:
    """Time from sending the events that close a window to reading its committed pane."""
    create(bootstrap, "latency")
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        pipeline = ours.tumbling("latency", WINDOW)
        running = query.start(pipeline, ours.settings(bootstrap, Path(folder)), spark=spark)
        reader = consumer(bootstrap, "latency.panes")
        try:
            events = _Events(bootstrap, "latency")
            took = _latencies(events, reader, WARM_PANES + count, time.monotonic() + seconds)
        finally:
            reader.close()
            running.stop()
    if not took:
        raise TimeoutError(f"no pane in {seconds:.0f} s")
    return Spread.of(took[min(WARM_PANES, len(took) // 2) :])


def _latencies(events: _Events, reader: Any, count: int, until: float) -> list[float]:
    took: list[float] = []
    # The first window waits for the query to begin; its panes are thrown away with the warm ones.
    while len(took) < count and time.monotonic() < until:
        events.second += 10
        events.send()
        # Taken in by an epoch of its own; not a multiple of an epoch, so that all phases of one are met.
        time.sleep(0.4 + 0.05 * (len(took) % 7))
        began = time.perf_counter()
        events.send(WINDOW + LAG)
        # A pane per card of the two; the later one counts. The closing events' own window closes next time.
        if not _arrived(reader, events.now, until):
            break
        took.append((time.perf_counter() - began) * 1000)
    return took


def _arrived(reader: Any, window: datetime, until: float) -> bool:
    missing = PARTITIONS
    while missing:
        if time.monotonic() > until:
            return False
        got = reader.poll(0.5)
        if got is None or got.error() is not None:
            continue
        pane = json.loads(got.value())
        missing -= datetime.fromisoformat(pane["window"]["start"]) == window
    return True
