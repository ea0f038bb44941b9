"""`python -m proofs.versions`: events against keys with ten versions each, all shuffled, against a batch.

Every event meets the version of its own time, whichever of the two comes first. Both kinds of a table are
there: of a topic, which is read before the events, and the last rows of a stream, which come among them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headrace import Bounded, Kafka, Pipeline, Topic, record
from headrace.local.stack import Stack
from headrace.run import query, session
from headrace.run import settings as all_settings
from proofs import compare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = 4
VERSIONS = 10
SPAN = timedelta(hours=1)
DELAY = timedelta(minutes=10)
"""How late a row may come; it is in place of its time by chance."""
TABLES = ("topic", "latest")
EPOCHS = 12
_START = datetime(2026, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_FLUSHED = 100_000


@record
class Version:
    """What holds for a key from a time on."""

    key: str
    number: int
    at: datetime


@record
class Event:
    """Something that happened to a key."""

    id: int
    key: str
    at: datetime


@dataclass(frozen=True)
class Rows:
    """Rows in the order in which they are sent: numbers, keys, and milliseconds since the start."""

    number: Any
    key: Any
    at: Any

    def halves(self) -> tuple[Rows, Rows]:
        """Return the rows that are sent first, and the others."""
        half = len(self.number) // 2
        return tuple(  # type: ignore[return-value]
            Rows(self.number[part], self.key[part], self.at[part])
            for part in (slice(None, half), slice(half, None))
        )


@dataclass
class Proof:
    """What came of a run."""

    events: int
    versions: int
    seconds: float = 0
    found: int = 0
    wrong: list[str] = field(default_factory=list)
    ledger: dict[str, dict[str, int]] = field(default_factory=dict)

    def text(self) -> str:
        """Return it for people."""
        rows = self.events + 2 * self.versions
        return "\n".join(
            [
                f"{self.events:,} events, {self.versions:,} versions in each of two tables",
                f"{self.found:,} events meet one: {self.seconds:.0f} s, {rows / self.seconds:,.0f} rows/s",
                *(f"{step}: {counts}" for step, counts in self.ledger.items()),
                *(f"WRONG: {each}" for each in self.wrong),
                *([] if self.wrong else ["every event met the version that the batch says"]),
            ]
        )


def make(events: int, keys: int, seed: int) -> tuple[Rows, Rows]:
    """Make events and versions, each in an order of its own."""
    random = np.random.default_rng(seed)
    span = SPAN // _MILLISECOND
    at = random.integers(0, span, keys * VERSIONS)
    key = np.repeat(np.arange(keys), VERSIONS)
    versions = _shuffled(random, Rows(np.arange(keys * VERSIONS), key, at))
    happened = random.integers(0, span, events)
    return _shuffled(random, Rows(np.arange(events), random.integers(0, keys, events), happened)), versions


def _shuffled(random: Any, rows: Rows) -> Rows:
    order = np.argsort(rows.at + random.integers(0, DELAY // _MILLISECOND, len(rows.at)), kind="stable")
    return Rows(rows.number[order], rows.key[order], rows.at[order])


def answer(events: Rows, versions: Rows) -> Any:
    """Return the version's number for each event, by the event's; -1 for none.

    Of two versions of one time the one at the later position is met: partition, then offset.
    """
    place = np.arange(len(versions.number))
    order = np.lexsort((place // PARTITIONS, place % PARTITIONS, versions.at, versions.key))
    wide = SPAN // _MILLISECOND
    held = (versions.key * wide + versions.at)[order]
    wanted = events.key * wide + events.at
    at = np.searchsorted(held, wanted, side="right") - 1
    there = (at >= 0) & (versions.key[order][at] == events.key)
    met = np.full(len(events.number), -1)
    met[events.number] = np.where(there, versions.number[order][at], -1)
    return met


def pipeline(name: str) -> Pipeline:
    """Join the events with both kinds of a table."""
    events = Topic(f"{name}.events", Event, time="at").stream(watermark=Bounded(DELAY), name="events")
    held = Topic(f"{name}.versions", Version, key="key", time="at")
    came = held.stream(watermark=Bounded(DELAY), name="came")
    made = {"topic": held.table(name="held"), "latest": came.latest("last", by="key")}
    deliveries: dict[str, Any] = {}
    for of in TABLES:
        joined = events.join(f"of-{of}", made[of], on="key", how="left", suffix="_of_version")
        deliveries[of] = joined.select("id", "number").to(Kafka(f"{name}.{of}"))
        deliveries[f"{of}_late"] = joined.late.select("id").to(Kafka(f"{name}.{of}-late"))
    return Pipeline(name, **deliveries)


def prove(
    spark: SparkSession,
    bootstrap: str,
    folder: Path,
    *,
    events: int,
    keys: int,
    seed: int = 1,
    epochs: int = EPOCHS,
    seconds: float = 3600,
    note: Callable[[str], None] = lambda _: None,
) -> Proof:
    """Run the joins over all rows, with a restart when half of them are there, and compare."""
    name = f"versions-{uuid.uuid4().hex[:8]}"
    sent, versions = make(events, keys, seed)
    proof = Proof(len(sent.number), len(versions.number))
    _create(bootstrap, f"{name}.events", f"{name}.versions")
    chosen = all_settings.load(
        {
            "kafka.bootstrap": bootstrap,
            "checkpoint": str(folder / "checkpoints"),
            "epoch.fixed-rows": max(1, events // epochs),
        },
        folder,
    )
    for number, (of_events, of_versions) in enumerate(zip(sent.halves(), versions.halves(), strict=True)):
        note(f"half {number + 1} is sent")
        _send(bootstrap, f"{name}.versions", of_versions, "number", number * (len(versions.number) // 2))
        _send(bootstrap, f"{name}.events", of_events, "id", number * (len(sent.number) // 2))
        note("the pipeline runs")
        began = time.monotonic()
        running = query.start(pipeline(name), chosen, until="drained" if number else "caught up", spark=spark)
        if not running.wait(seconds):
            running.stop()
            raise TimeoutError(f"the pipeline took more than {seconds:.0f} s")
        for line in running.last_progress(30):
            _account(proof, line["ledger"])
        running.finish()
        proof.seconds += time.monotonic() - began
    expected = answer(sent, versions)
    proof.found = int((expected >= 0).sum())
    for of in TABLES:
        _compare(spark, bootstrap, f"{name}.{of}", expected, proof, of)
        note(f"  {of}: compared")
    return proof


def _account(proof: Proof, ledger: dict[str, dict[str, int]]) -> None:
    for step, counts in ledger.items():
        total = proof.ledger.setdefault(step, dict.fromkeys(counts, 0))
        for what, count in counts.items():
            total[what] += count


def _compare(spark: SparkSession, bootstrap: str, topic: str, expected: Any, proof: Proof, of: str) -> None:
    rows = compare.delivered(spark, bootstrap, topic).selectExpr(
        "from_json(value, 'id bigint, number bigint') as row"
    )
    came = rows.selectExpr("row.id", "coalesce(row.number, -1) as number").toPandas()
    ids, met = came["id"].to_numpy(), came["number"].to_numpy()
    order = np.argsort(ids, kind="stable")
    if not np.array_equal(ids[order], np.arange(len(expected))):
        proof.wrong.append(f"{of}: {len(ids):,} events came of {len(expected):,}, or one came twice")
        return
    differ = np.flatnonzero(met[order] != expected)
    if len(differ):
        first = int(differ[0])
        proof.wrong.append(
            f"{of}: {len(differ):,} events met another version: event {first} met {met[order][first]}, "
            f"and must meet {expected[first]}"
        )


def _create(bootstrap: str, *topics: str) -> None:
    # Held until the answer is here: a client that is collected gives none.
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
    for created in admin.create_topics([NewTopic(topic, PARTITIONS) for topic in topics]).values():
        created.result(60)


def _send(bootstrap: str, topic: str, rows: Rows, number: str, begin: int) -> None:
    """Send rows; the i-th of all is in partition i % 4."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 3,
            "enable.idempotence": True,
            "linger.ms": 50,
            "batch.size": 256 << 10,
            "queue.buffering.max.messages": 2 * _FLUSHED,
        }
    )
    start = np.datetime64(_START.replace(tzinfo=None), "ms")
    for first in range(0, len(rows.number), _FLUSHED):
        part = slice(first, first + _FLUSHED)
        times = np.datetime_as_string(start + rows.at[part].astype("timedelta64[ms]")).tolist()
        each = zip(rows.number[part].tolist(), rows.key[part].tolist(), times, strict=True)
        for place, (value, key, at) in enumerate(each, begin + first):
            told = f'{{"{number}":{value},"key":"key-{key:06d}","at":"{at}Z"}}'
            producer.produce(topic, told, key=f"key-{key:06d}", partition=place % PARTITIONS)
        if producer.flush(120):
            raise RuntimeError(f"the broker does not take the rows of {topic}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m proofs.versions", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with Stack.temporary() as stack, tempfile.TemporaryDirectory(prefix="headrace-proof-") as folder:
        bootstrap = stack.up(["kafka"])["kafka"]
        spark = session.start("proof", master="local[2]")
        try:
            proof = prove(
                spark,
                bootstrap,
                Path(folder),
                events=options.events,
                keys=options.keys,
                seed=options.seed,
                note=lambda text: print(text, flush=True),
            )
        finally:
            spark.stop()
    print(proof.text())
    if proof.wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
