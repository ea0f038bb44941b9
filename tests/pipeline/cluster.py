"""A cluster of two executors in a process of its own: what `test_cluster` runs and reads the verdict of."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from pyspark.sql import SparkSession

from headrace import F, Kafka, Pipeline, Tumbling
from headrace.run import query, session
from headrace.run import settings as all_settings
from headrace.testing import Harness
from tests.pipeline.shop import START, batch, per_shop, sale, sales
from tests.run.broker import Broker

MASTER = "local-cluster[2,1,1024]"


def start(master: str = MASTER) -> SparkSession:
    return session.start(
        "cluster",
        master=master,
        partitions=2,
        options={
            "spark.executor.memory": "700m",
            "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        },
        java_options="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    )


def executors(spark: SparkSession) -> list[int]:
    """Process ids of the executors: they are children of our own JVM."""
    jvm = int(spark._jvm.java.lang.ProcessHandle.current().pid())
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                parent = int((place / "stat").read_text().rsplit(")", 1)[1].split()[1])
                command = (place / "cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if parent == jvm and b"CoarseGrainedExecutorBackend" in command:
                found.append(int(place.name))
    return sorted(found)


def replay(folder: Path) -> dict[str, Any]:
    """Run epochs again and again: each time the same rows in the same tasks and order.

    One epoch has only rows that pass through, the other only panes.
    """
    spark = start()
    stream = sales()
    windows = (
        stream.key_by("shop")
        .window("sums", Tumbling("10 seconds"))
        .agg(
            first=F.first("id"),
            last=F.last("id"),
            total=F.sum(F.col("pieces") / F.lit(7.0)),
            mean=F.avg("pieces"),
        )
    )
    pipeline = Pipeline("replay", panes=windows.to(Kafka("panes")), all=stream.to(Kafka("all")))
    rows = [sale(n, (n * 37) % 60, shop=f"s{n % 23}", pieces=n % 11) for n in range(4_000)]
    with Harness(pipeline, spark, checkpoint=str(folder / "replay")) as harness:
        harness.partitions("sales", 4)
        for partition in range(4):
            harness.feed("sales", *rows[partition::4], partition=partition)
        passed = _replayed(harness, folder / "replay" / "commits")
        harness.advance("sales", "2026-01-01T01:00:00Z")
        fired = _replayed(harness, folder / "replay" / "commits")
    spark.stop()
    return {
        "passed": [tasks == passed[0] for tasks in passed],
        "fired": [tasks == fired[0] for tasks in fired],
        "tasks": [sorted(passed[0]), sorted(fired[0])],
        "rows": sum('"pieces"' in row for task in passed[0].values() for row in task),
        "panes": sum('"mean"' in row for task in fired[0].values() for row in task),
    }


def _replayed(harness: Harness, commits: Path) -> list[dict[int, list[str]]]:
    """What the last epoch handed over by task, the first time and two times more."""
    handed = _handed(harness)
    last = max(handed)
    seen = [handed[last]]
    for _ in range(2):
        harness.query.stop()
        # Without its commit the epoch is run again, under the offsets that were logged for it.
        for leftover in (commits / str(last), commits / f".{last}.crc"):
            leftover.unlink(missing_ok=True)
        harness.restart()
        seen.append(_handed(harness)[last])
    return seen


def _handed(harness: Harness) -> dict[int, dict[int, list[str]]]:
    """What the deliveries were handed since the last look: by epoch and task, in the order of rows."""
    harness._process()
    epochs: dict[int, dict[int, list[str]]] = {}
    for epoch, task, outlet, key, value in harness._collected.drain():
        epochs.setdefault(int(epoch), {}).setdefault(int(task), []).append(f"{outlet} {key} {value}")
    return epochs


def kill(folder: Path, address: str) -> dict[str, Any]:
    """Kill an executor while a pipeline runs on it."""
    spark = start()
    broker = Broker(address)
    topic = f"cluster-{os.getpid()}"
    rows = [sale(n, n / 50, shop=f"s{n % 13}") for n in range(6_000)]
    broker.create(topic)
    broker.send(topic, rows)
    stream = sales(topic=topic, lag="1 second")
    panes = per_shop(stream)
    pipeline = Pipeline(
        topic, panes=panes.to(Kafka(f"{topic}.panes")), late=panes.late.to(Kafka(f"{topic}.late"))
    )
    settings = all_settings.load(
        {
            "kafka.bootstrap": address,
            "checkpoint": str(folder),
            "epoch.fixed-rows": 500,
            "state.groups": 8,
            "state.partitions": 2,
        },
        folder,
    )
    running = query.start(pipeline, settings, until="drained", spark=spark)
    epochs = 0
    killed = None
    deadline = time.monotonic() + 240
    while not running.wait(0.05) and time.monotonic() < deadline:
        epochs += sum(1 for _ in running.progress())
        if epochs >= 3 and killed is None:
            killed = executors(spark)[0]
            os.kill(killed, signal.SIGKILL)
    epochs += sum(1 for _ in running.progress())
    running.finish()
    found: dict[tuple[str, int], tuple[int, int]] = {}
    twice = 0
    for row in broker.values(f"{topic}.panes"):
        begun = datetime.fromisoformat(row["window"]["start"])
        key = (row["shop"], int((begun - START).total_seconds()))
        twice += key in found
        found[key] = (row["sales"], row["pieces"])
    late = {row["id"] for row in broker.values(f"{topic}.late")}
    expected = batch(row for row in rows if row["id"] not in late)
    spark.stop()
    return {
        "killed": killed is not None,
        "epochs": epochs,
        "late": len(late),
        "missing": len(expected.keys() - found.keys()),
        "extra": len(found.keys() - expected.keys()),
        "wrong": sum(1 for key in expected if key in found and found[key] != expected[key]),
        "duplicate": twice,
    }


def fence(folder: Path, address: str) -> dict[str, Any]:
    """Fence a task's producer between two epochs, on a local master as it is by default."""
    spark = start("local[2,4]")
    broker = Broker(address)
    topic = f"fenced-{os.getpid()}"
    broker.create(topic)
    pipeline = Pipeline(topic, panes=per_shop(sales(topic=topic, lag="1 second")).to(Kafka(f"{topic}.panes")))
    settings = all_settings.load({"kafka.bootstrap": address, "checkpoint": str(folder)}, folder)
    rows: list[dict[str, Any]] = []
    running = query.start(pipeline, settings, spark=spark)
    panes = 0
    for epoch in range(3):
        rows += (new := [sale(n, epoch * 100 + n, shop=f"s{n % 13}") for n in range(60)])
        broker.send(topic, new)
        deadline = time.monotonic() + 60
        while len(broker.values(f"{topic}.panes")) <= panes:
            assert not running.wait(0.05)
            assert time.monotonic() < deadline
        panes = len(broker.values(f"{topic}.panes"))
        for task in range(2):
            # As a second attempt elsewhere does.
            Producer(
                {"bootstrap.servers": address, "transactional.id": f"headrace-{topic}-{task}"}
            ).init_transactions(30)
    running.stop()
    drained = query.start(pipeline, settings, until="drained", spark=spark)
    assert drained.wait(120)
    drained.finish()
    found = sum(row["sales"] for row in broker.values(f"{topic}.panes"))
    spark.stop()
    return {"rows": len(rows), "found": found}


WAYS: dict[str, Callable[..., dict[str, Any]]] = {"replay": replay, "kill": kill, "fence": fence}

if __name__ == "__main__":
    what, where, *more = sys.argv[1:]
    result = WAYS[what](Path(where), *more)
    sys.stdout.write("\n" + json.dumps(result) + "\n")
