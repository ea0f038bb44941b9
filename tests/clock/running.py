"""A query as small as can be around a clock: what was fed, the ticks, the watermarks its tasks saw."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from headrace.plan.kernel import Kernel

NONE = -(2**63)
END = 2**63 - 1
SECOND = 1_000_000
DEADLINE = 60.0

AS_INPUTS = (
    "0 as program",
    "0 as grp",
    "1 as kind",
    "{index} as source",
    "partition",
    "offset",
    "cast(cast(value as string) as bigint) as time",
    "value as payload",
)


class CrashError(Exception):
    """The epoch dies here, as told by the test."""


@dataclass
class Epoch:
    """What one run of one epoch saw."""

    number: int
    rows: list[tuple[int, int, int]]
    ticks: list[Row]
    seen: str

    @property
    def watermarks(self) -> dict[int, int]:
        """W per program, as the tasks of this epoch saw it."""
        return {int(p): int(w) for p, _, w in (one.partition("=") for one in self.seen.split(";") if one)}


@dataclass
class Clocked:
    """One pipeline: sources, a clock, and a foreachBatch that writes down what it gets."""

    spark: SparkSession
    folder: Path
    sources: dict[str, dict[str, Any]]
    programs: list[dict[str, Any]]
    kafka: dict[str, dict[str, str]] = field(default_factory=dict)
    drain: bool = False
    clock_first: bool = False
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    epochs: list[Epoch] = field(default_factory=list)
    crash_in: int | None = None
    clock: Any = None
    query: StreamingQuery | None = None
    wall: int | None = None
    align: float = 0
    hold: bool = False
    fronts: int = 0
    """How often the front goes over each epoch: 0 for not at all, 2 for tasks that are tried twice."""

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @property
    def java(self) -> Any:
        jvm: Any = self.spark._jvm
        return jvm.headrace

    def feed(self, source: str, partition: int, *seconds: float) -> None:
        for at in seconds:
            value = bytearray(str(int(at * SECOND)).encode())
            self.java.source.FedSource.feed(self.id, source, partition, None, value, int(at * 1000))

    def partitions(self, source: str, count: int) -> None:
        self.java.source.FedSource.partitions(self.id, source, count)

    def rows_per_epoch(self, source: str, rows: int) -> None:
        self.java.source.FedSource.rowsPerEpoch(self.id, source, rows)

    def start(self, **trigger: Any) -> StreamingQuery:
        spec = {
            "checkpoint": self.checkpoint.as_uri(),
            "drain": self.drain,
            "align": int(self.align * SECOND),
            "sources": [
                {"name": name, "index": index, "policy": policy}
                for index, (name, policy) in enumerate(self.sources.items())
            ],
            "programs": self.programs,
        }
        self.clock = self.java.clock.Clock.create(self.id, json.dumps(spec))
        if self.wall is not None:
            self.clock.wallClock(self.wall)
        if self.hold:
            self.clock.hold()
        read = [self._read(index, name) for index, name in enumerate(self.sources)]
        ticks = (
            self.spark.readStream.format("headrace.clock.ClockSource")
            .name("headrace_clock")
            .option("query", self.id)
            .load()
        )
        branches = [ticks, *read] if self.clock_first else [*read, ticks]
        every = branches[0]
        for branch in branches[1:]:
            every = every.unionByName(branch)
        self.query = (
            every.writeStream.foreachBatch(self._epoch)
            .option("checkpointLocation", self.checkpoint.as_uri())
            .trigger(**(trigger or {"availableNow": True}))
            .start()
        )
        return self.query

    def run(self) -> list[Epoch]:
        """Run until caught up; the epochs of this run."""
        before = len(self.epochs)
        query = self.start(availableNow=True)
        assert query.awaitTermination(int(DEADLINE)), "the bounded run does not end"
        return self.epochs[before:]

    def released(self, rounds: int) -> list[Epoch]:
        """Let so many epochs begin, one after the other; those that there was news for."""
        before = len(self.epochs)
        for _ in range(rounds):
            self.clock.release(False)
            assert self.clock.settled(int(DEADLINE * 1000)), "the released epoch does not end"
        return self.epochs[before:]

    def crash(self, epoch: int) -> list[Epoch]:
        """Run until the epoch dies before it is committed."""
        before = len(self.epochs)
        self.crash_in = epoch
        query = self.start(availableNow=True)
        with pytest.raises(Exception, match="CrashError"):
            query.awaitTermination(int(DEADLINE))
        self.crash_in = None
        return self.epochs[before:]

    def stop(self) -> None:
        if self.query is not None:
            self.query.stop()
            self.query = None

    def until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            assert self.query is not None
            failure = self.query.exception()
            assert failure is None, failure
            assert time.monotonic() < end, f"not within {DEADLINE} s; epochs: {self.epochs}; {self.status()}"
            time.sleep(0.01)

    def watermark(self, source: str = "payments") -> int | None:
        found: int | None = self.status()["sources"][source]["watermark"]
        return found

    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = json.loads(self.clock.status())
        return status

    def source_metrics(self, source: str = "payments") -> dict[str, str]:
        """What the Kafka source said of itself in the last epoch that read it."""
        assert self.query is not None
        topic = self.kafka[source]["subscribe"]
        found: dict[str, str] = {}
        for progress in self.query.recentProgress:
            for one in json.loads(progress.json)["sources"]:
                if topic in one["description"]:
                    found = one.get("metrics") or found
        return found

    def offsets(self, epoch: int) -> dict[str, Any]:
        """Epoch's entry of Spark's offset log: source name to offset."""
        lines = (self.checkpoint / "offsets" / str(epoch)).read_text().splitlines()
        return {name: json.loads(offset) for name, _, offset in (line.partition(":") for line in lines[2:])}

    def logged(self, kind: str) -> list[int]:
        return sorted(int(p.name) for p in (self.checkpoint / kind).iterdir() if p.name.isdigit())

    def states(self) -> dict[int, Any]:
        """The files of the clock's own state, by epoch."""
        return {
            int(p.stem): json.loads(p.read_text())
            for p in sorted((self.checkpoint / "headrace" / "clock").glob("*.json"))
            if p.stem.isdigit()
        }

    def die_after_commit_of(self, epoch: int) -> None:
        """Make the checkpoint what it would be had the process died right after that commit."""
        for folder, suffix in (("offsets", ""), ("commits", ""), ("headrace/clock", ".json")):
            for path in (self.checkpoint / folder).iterdir():
                name = path.name.removesuffix(".crc").removeprefix(".").removesuffix(suffix)
                if name.isdigit() and int(name) > epoch:
                    path.unlink()

    def _front(self, rows: DataFrame) -> None:
        """Send the rows through the kernel's front, as a pipeline does; nothing comes out."""
        fields = F.struct("source", "partition", "offset", "time")
        packed = rows.select(Kernel(self.spark).pack(fields).alias("packed"))
        layer = json.dumps({"partitions": 1, "programs": [], "passGroups": [0], "exits": []})
        out = self.java.operator.Passing.apply(packed._jdf, layer, self.clock.maxima())
        assert out.count() == 0

    def _read(self, index: int, name: str) -> DataFrame:
        reader = self.spark.readStream.name(name).option("query", self.id).option("source", name)
        if name in self.kafka:
            reader = reader.format("headrace.source.SteeredKafka").options(**self.kafka[name])
        else:
            reader = reader.format("headrace.source.FedSource")
        return reader.load().selectExpr(*(column.format(index=index) for column in AS_INPUTS))

    def _epoch(self, batch: DataFrame, number: int) -> None:
        every = batch.collect()
        session = batch.sparkSession
        (task,) = session.range(1).selectExpr("reflect('headrace.clock.EpochWatermarks', 'text')").collect()
        rows = [(r.source, r.partition, r.time) for r in every if r.kind == 1]
        self.epochs.append(Epoch(number, rows, [r for r in every if r.kind == 2], task[0]))
        for _ in range(self.fronts):
            self._front(batch.where("kind = 1"))
        if not self.fronts:
            for source, partition, at in rows:
                self.clock.maxima().observe(source, partition, at)
        if self.crash_in == number:
            raise CrashError(number)
        self.clock.epochEnded(number)
