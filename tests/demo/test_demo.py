"""The whole demo as a user runs it: its verdict is right, also when the driver is killed in the middle."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

pytestmark = [pytest.mark.stack, pytest.mark.slow]

DEADLINE_SECONDS = 900
EPOCHS_BEFORE = 3


class Demo:
    """A demo that runs: its lines as they come. It must end well, and within the deadline."""

    def __init__(self, *options: str, log: Path) -> None:
        self.log = log
        command = [sys.executable, "-m", "headrace.cli", "demo", "fraud", "--json", *options]
        with log.open("wb") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)

    def __enter__(self) -> Self:
        # SIGTERM: the demo then stops what it has started.
        self._watchdog = threading.Timer(DEADLINE_SECONDS, self.process.terminate)
        self._watchdog.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate()

    def lines(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield json.loads(line)
        assert self.process.wait() == 0, self.log.read_text()


def descendants(pid: int) -> list[int]:
    """Return the processes below a process, Spark's JVM among them."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def kill(*pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def is_right(verdict: dict[str, Any]) -> bool:
    counts = [verdict[what] for what in ("missing", "extra", "duplicate", "mislabelled")]
    return verdict["right"] and counts == [0, 0, 0, 0]


def test_the_demo_ends_with_nothing_missing_extra_or_duplicate(tmp_path):
    with Demo("--seconds=15", "--rate=2000", log=tmp_path / "log") as demo:
        told = list(demo.lines())
    verdict = told[-1]
    assert verdict["event"] == "verdict"
    assert is_right(verdict), verdict
    # `used` is what the delivered windows say that they hold: nothing is lost between them and the topic.
    assert verdict["rows"] == verdict["used"] + verdict["late"]["delivered"] + verdict["damaged"]
    assert verdict["velocity"]["delivered"] > 1_000
    assert verdict["alerts"]["delivered"] > 20
    assert verdict["rejected"]["delivered"] == verdict["damaged"] > 50
    assert verdict["restarts"] == 0
    epochs = [line for line in told if line["event"] == "epoch"]
    assert sum(line["rows_in"] for line in epochs) == verdict["rows"]
    assert sum(line["delivered"].get("alerts", 0) for line in epochs) == verdict["alerts"]["delivered"]
    reasons = [line["reason"] for line in told if line["event"] == "stopped"]
    assert reasons == ["interrupted", "drained"]


@pytest.mark.chaos
def test_kill_9(tmp_path):
    """The driver with its JVM is killed, then, when the pipeline runs again, the JVM alone."""
    driver = epochs = kills = 0
    verdict: dict[str, Any] = {}
    with Demo("--seconds=600", "--rate=500", log=tmp_path / "log") as demo:
        for line in demo.lines():
            if line["event"] == "started":
                driver, epochs = line["pid"], 0
            epochs += line["event"] == "epoch"
            if epochs == EPOCHS_BEFORE and kills < 2:
                below = descendants(driver)
                assert below, "the pipeline has no JVM to kill"
                kill(*below, *([driver] if kills == 0 else []))
                kills, epochs = kills + 1, 0
            elif epochs == EPOCHS_BEFORE:
                demo.process.send_signal(signal.SIGINT)  # enough produced: on to the verdict
                epochs += 1
            verdict = line
    assert kills == 2
    assert verdict["event"] == "verdict"
    assert verdict["restarts"] == 2
    assert is_right(verdict), verdict
    assert verdict["alerts"]["delivered"] > 20


def test_topics_that_are_not_empty_are_refused_all_at_once(kafka, tmp_path):
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    filled = ["payments.rejected", "headrace.fraud.epochs"]
    admin = AdminClient({"bootstrap.servers": kafka})
    for made in admin.create_topics([NewTopic(topic, 1) for topic in filled]).values():
        made.result(30)
    try:
        producer = Producer({"bootstrap.servers": kafka})
        for topic in filled:
            producer.produce(topic, b"something else", b"key")
        assert producer.flush(30) == 0
        command = [sys.executable, "-m", "headrace.cli", "demo", "fraud", f"--kafka={kafka}"]
        refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    finally:
        for deleted in admin.delete_topics(filled).values():
            deleted.result(30)
    assert refused.returncode == 2
    assert "the topics 'payments.rejected', 'headrace.fraud.epochs' are not empty" in refused.stderr
    assert "cure: delete what is named" in refused.stderr
