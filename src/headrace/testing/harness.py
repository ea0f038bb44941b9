"""A pipeline under test: rows fed and the clock moved by hand, through the real kernel on Spark."""

from __future__ import annotations

import json
import shutil
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from headrace.declare.node import SourceNode
from headrace.declare.table_node import table_key
from headrace.errors import DeclarationError, RunError
from headrace.plan import front
from headrace.plan.checks import check
from headrace.plan.kernel import Kernel
from headrace.plan.layers import Layers
from headrace.run import build, remote
from headrace.run import folder as folders
from headrace.run import manifest as manifests
from headrace.run.failure import told
from headrace.run.query import source_indices
from headrace.testing.values import Deleted, decode, deleted, encode

if TYPE_CHECKING:
    from types import TracebackType

    from pyspark.sql import DataFrame, SparkSession

    from headrace.declare.pipeline import Pipeline

END = 2**63 - 1
PARTITIONS = 2
GROUPS = 8
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Harness:
    """A pipeline that runs on rows you feed and on a clock you move.

    Nothing happens until you ask for it: :meth:`run` processes all that was fed, in as many epochs as it
    takes, :meth:`advance` does so before it moves the watermark, and :meth:`epoch` is exactly one epoch
    with rows, watermark and clock together.

    With ``by_hand=False`` the watermark follows from the rows by the source's own
    policy, and only the wall clock is yours. Rows fed to a source stay fed, so a
    harness on the same checkpoint goes on where the last one stopped.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        spark: SparkSession,
        *,
        by_hand: bool = True,
        checkpoint: str | None = None,
        partitions: int = PARTITIONS,
        groups: int = GROUPS,
        feed: str | None = None,
    ) -> None:
        """Plan the pipeline and start it."""
        self.pipeline = pipeline
        self._layers = Layers(pipeline)
        check(self._layers)
        self._kernel = Kernel(spark)
        self._own = checkpoint is None
        self.checkpoint = checkpoint or tempfile.mkdtemp(prefix="headrace-test-")
        self._folder = folders.LocalFolder(self.checkpoint)
        self.feed_id = feed or f"{pipeline.name}-{uuid.uuid4()}"
        self._by_hand = by_hand
        self._wall: int | None = None
        self._size = {"partitions": partitions, "groups": groups}
        self._taken: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._tables: dict[str, dict[str | None, dict[str, Any]]] = defaultdict(dict)
        self.counts: dict[str, int] = defaultdict(int)
        self._start()

    def _start(self) -> None:
        kernel, layers = self._kernel, self._layers
        known = manifests.read(self._folder)
        if known is not None:
            manifests.refuse_finished(known)
        partitions = known.partitions if known else self._size["partitions"]
        kernel.spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        remote.check(kernel, layers)
        raw = {source: self._fed(source) for source in layers.sources}
        made = front.build(kernel, layers, raw, source_indices(layers, known))
        self.manifest = manifests.settle(
            known,
            self.pipeline.name,
            {source.name: source.topic.name for source in layers.sources},
            build.wanted(layers, made),
            partitions=partitions,
            groups=self._size["groups"],
            codec=build.CODEC,
        )
        self.built = build.build(
            kernel,
            self.feed_id,
            layers,
            made,
            self.manifest,
            checkpoint=self.checkpoint,
            manual=self._by_hand,
        )
        manifests.write(self._folder, self.manifest)
        self._clock = kernel.jvm.headrace.clock.Clock.of(self.feed_id)
        self._clock.hold()
        if self._wall is not None:
            self._clock.wallClock(self._wall)
        self._collected = kernel.jvm.headrace.run.Collected(
            self.feed_id,
            len(self.built.outlets),
            next(place for place, outlet in enumerate(self.built.outlets) if outlet.ledger),
        )
        self.query = kernel.jvm.headrace.run.Queries.start(
            self.built.packed._jdf,
            self.feed_id,
            self.checkpoint,
            False,
            0,
            self._collected,
        )

    def _fed(self, source: SourceNode) -> DataFrame:
        return (
            self._kernel.spark.readStream.format("headrace.source.FedSource")
            .name(source.name)
            .option("query", self.feed_id)
            .option("source", source.name)
            .load()
        )

    def feed(
        self,
        source: str,
        *rows: object,
        partition: int = 0,
        key: bytes | None = None,
        timestamp: datetime | None = None,
    ) -> Self:
        """Append rows to a partition: records, dicts, text, bytes, or None for a tombstone of `key`.

        `timestamp` is that of the message, by default now.
        """
        self._check_source(source)
        fed = self._kernel.jvm.headrace.source.FedSource
        now = int((timestamp or datetime.now(UTC)).timestamp() * 1000)
        for row in rows:
            fed.feed(self.feed_id, source, partition, key, encode(row), now)
        return self

    def partitions(self, source: str, count: int) -> Self:
        """Make sure that a source has at least so many partitions."""
        self._check_source(source)
        self._kernel.jvm.headrace.source.FedSource.partitions(self.feed_id, source, count)
        return self

    def rows_per_epoch(self, source: str, rows: int) -> Self:
        """Cut epochs: so many rows at most, 0 for no limit."""
        self._check_source(source)
        self._kernel.jvm.headrace.source.FedSource.rowsPerEpoch(self.feed_id, source, rows)
        return self

    def advance(self, source: str, to: str | datetime) -> Self:
        """Move the watermark of a source; what was fed before is processed under the old one."""
        self._check_source(source)
        self._process()
        self._clock.advance(source, _micros(to))
        return self

    def epoch(
        self,
        *,
        watermark: str | datetime | Mapping[str, str | datetime] | None = None,
        clock: str | datetime | None = None,
    ) -> dict[str, list[dict[str, Any]]]:
        """Process what was fed and move time, all in one epoch; return the new rows of every delivery.

        Rows are judged by the watermark of their own epoch, so a row that comes with it may be late for it.
        `watermark` is that of all sources, or of some by name; `clock` is the processing time. ``"end"`` is
        a watermark too: the end of time. Without either there is no tick, and without rows no epoch. The
        rows of a table are those that came or changed, and a `Deleted` with the key of each that went.

        >>> harness.feed("payments", row)  # doctest: +SKIP
        >>> harness.epoch(watermark="2026-01-01T00:01:00Z", clock="2026-01-01T00:01:02Z")  # doctest: +SKIP
        """
        moved = watermark
        if moved is not None and not isinstance(moved, Mapping):
            moved = dict.fromkeys((source.name for source in self._layers.sources), moved)
        for source, to in (moved or {}).items():
            self._check_source(source)
            self._clock.advance(source, END if to == "end" else _micros(to))
        if clock is not None:
            self.wall_clock(clock)
        self._round(tick=clock is not None)
        return self._new()

    def wall_clock(self, to: str | datetime) -> Self:
        """Set the wall clock, which stands still until it is set again, also over a restart.

        Silent partitions become idle by it; ``ProcessingTime`` and ``Every`` go by it.
        """
        self._wall = _micros(to) // 1000
        self._clock.wallClock(self._wall)
        return self

    def drain(self) -> dict[str, list[dict[str, Any]]]:
        """Process what was fed, close all windows, and return what came of both."""
        before = self.run()
        for source in self._layers.sources:
            self._clock.advance(source.name, END)
        after = self.run()
        return {label: [*before[label], *after[label]] for label in after}

    def run(self) -> dict[str, list[dict[str, Any]]]:
        """Process what was fed; return the new rows of every delivery."""
        self._process()
        return self._new()

    def _new(self) -> dict[str, list[dict[str, Any]]]:
        new: dict[str, list[dict[str, Any]]] = {label: [] for label in self.pipeline.deliveries}
        for _epoch, _task, ordinal, key, value in self._collected.drain():
            outlet = self.built.outlets[int(ordinal)]
            if outlet.counted:
                self.counts[" ".join(outlet.counted)] += 1
                continue
            row = decode(value, outlet.schema)
            if outlet.delivery is not None and outlet.key is not None:
                row = row if row is not None else Deleted(deleted(key, outlet.schema, outlet.key))
                self._tables[outlet.delivery][key] = row
            if outlet.delivery is None or row is None:
                raise RunError(f"outlet {outlet.name} gave a row without a value")
            new[outlet.delivery].append(row)
            self._taken[outlet.delivery].append(row)
        return new

    def _process(self) -> None:
        while True:
            before = self._collected.epochs()
            self._round()
            if self._collected.epochs() == before:
                return

    def _round(self, *, tick: bool = False) -> None:
        """Let one epoch begin, and wait for its end."""
        self._clock.release(tick)
        while not self._clock.settled(200):
            if not self.query.isActive():
                try:
                    self.query.awaitTermination()
                except Exception as failure:
                    raise told(failure) from failure
                raise RunError("the query has ended")

    def rows(self, delivery: str) -> list[dict[str, Any]]:
        """Return all rows that a delivery has had so far."""
        return list(self._taken[delivery])

    def table(self, delivery: str) -> list[dict[str, Any]]:
        """Return the rows that a table has now, as its delivery has told them: upserts less deletes."""
        if table_key(self.pipeline.deliveries[delivery].port) is None:
            raise DeclarationError(
                f"the delivery {delivery!r} is a stream's", cure=f'its rows are .rows("{delivery}")'
            )
        return [row for row in self._tables[delivery].values() if not isinstance(row, Deleted)]

    def ledger(self) -> dict[str, dict[str, int]]:
        """Return what became of the rows of every stateful step since the start or the last restart.

        in = used + late + duplicate + rejected, or the run would have failed.
        """
        steps = {str(step.program): name for name, step in self.manifest.steps.items()}
        return {steps[program]: counts for program, counts in json.loads(self._collected.ledger()).items()}

    def hot_keys(self) -> dict[str, dict[str, float]]:
        """Return the keys that a tenth of a step's rows have, or more, each as JSON with its share.

        Of the rows since the start or the last restart, by step; steps with fewer than 1,000 rows have none.
        """
        steps = {str(step.program): name for name, step in self.manifest.steps.items()}
        return {steps[program]: keys for program, keys in json.loads(self._collected.hot()).items()}

    def restart(self) -> Self:
        """Stop the query, and start it again from its checkpoint."""
        self.query.stop()
        self._start()
        return self

    def stop(self) -> None:
        """Stop, and remove what is on disk if the harness made it."""
        self.query.stop()
        self._kernel.jvm.headrace.clock.Clock.close(self.feed_id)
        self._kernel.jvm.headrace.remote.Lookups.close(self.pipeline.name)
        if self._own:
            self._kernel.jvm.headrace.source.FedSource.forget(self.feed_id)
            shutil.rmtree(Path(self.checkpoint), ignore_errors=True)

    def __enter__(self) -> Self:
        """Use it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def _check_source(self, name: str) -> None:
        known = [source.name for source in self._layers.sources]
        if name not in known:
            raise DeclarationError(f"the pipeline has no source {name!r}; it has {', '.join(known)}")


def _micros(time: str | datetime) -> int:
    moment = datetime.fromisoformat(time) if isinstance(time, str) else time
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    elapsed = moment - _EPOCH
    return (elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds
