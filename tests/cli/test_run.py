"""`headrace run` as a process of its own: what it tells, how it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.shop import sale
from tests.run.broker import Broker

SECONDS = 120
FILE = """
import datetime
from headrace import Bounded, F, Kafka, Pipeline, Topic, Tumbling, record

@record
class Sale:
    id: str
    shop: str
    pieces: int
    at: datetime.datetime

sales = Topic("TOPIC", Sale, time="at").stream(watermark=Bounded("1 second"), name="sales")
windows = sales.key_by("shop").window("w", Tumbling("1 second")).agg(n=F.count("*"))
pipeline = Pipeline("TOPIC", out=windows.to(Kafka("TOPIC.out")))
"""


class Run:
    """One process of `headrace run`, alone in its process group as in a terminal."""

    def __init__(self, folder: Path, topic: str, kafka: str, *options: str) -> None:
        (folder / "pipe.py").write_text(FILE.replace("TOPIC", topic))
        command = [sys.executable, "-m", "headrace", "run", "pipe.py", "--kafka", kafka, "--json", *options]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, ["src", *sys.path]))},
        )

    def interrupt(self) -> None:
        os.killpg(self.process.pid, signal.SIGINT)

    def jvm(self) -> int | None:
        """The process id of Spark's JVM, None before it is there."""
        for each in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((each / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if parent == self.process.pid and b"SparkSubmit" in (each / "cmdline").read_bytes():
                    return int(each.name)
            except OSError:
                continue
        return None

    def line(self, event: str) -> dict[str, Any]:
        """Read on to the next line of an event."""
        for text in self.process.stdout:
            line = json.loads(text)
            if line["event"] == event:
                return line
        raise AssertionError(f"no {event}: {self.process.stderr.read()}")

    def end(self) -> tuple[int, list[dict[str, Any]], str]:
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], err


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    made: list[Run] = []

    def make(topic: str, kafka: str, *options: str) -> Run:
        made.append(Run(tmp_path, topic, kafka, "--master", "local[2]", *options))
        return made[-1]

    yield make
    for each in made:
        each.process.kill()
        each.process.wait()


def until(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.02)
    return found


@pytest.fixture
def topic(kafka: str) -> str:
    name = f"run-{uuid.uuid4().hex[:8]}"
    broker = Broker(kafka)
    broker.create(name)
    broker.send(name, [sale(number, number / 10) for number in range(100)])
    return name


@pytest.mark.parametrize("when", ["the JVM starts", "Kafka does not answer"])
def test_ctrl_c_ends_a_hanging_start_at_once(run: Callable[..., Run], when: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(SECONDS)
        running = run("nowhere", f"127.0.0.1:{silent.getsockname()[1]}")
        jvm = until(running.jvm)
        if when == "Kafka does not answer":
            silent.accept()
        began = time.monotonic()
        running.interrupt()
        running.process.wait(SECONDS)
        # A client of Kafka would wait for a minute, and a start that goes on for ever.
        assert time.monotonic() - began < 30
        assert running.end() == (130, [], "")
        until(lambda: not Path(f"/proc/{jvm}").exists())


def test_every_epoch_of_a_bounded_run_is_told(run: Callable[..., Run], kafka: str, topic: str) -> None:
    code, lines, err = run(topic, kafka, "--drain", "--set", "epoch.fixed-rows=20").end()
    assert (code, err) == (0, "")
    epochs = [line for line in lines if line["event"] == "epoch"]
    assert [line["epoch"] for line in epochs] == list(range(len(epochs)))
    assert sum(line["rows_in"] for line in epochs) == 100
    assert sum(line["delivered"]["out"] for line in epochs) == len(Broker(kafka).values(f"{topic}.out")) == 10
    assert lines[-1] == {"event": "stopped", "reason": "drained"}


def test_ctrl_c_stops_between_two_epochs(run: Callable[..., Run], kafka: str, topic: str) -> None:
    running = run(topic, kafka)
    running.line("epoch")
    running.interrupt()
    code, lines, err = running.end()
    assert (code, err) == (0, "")
    assert lines[-1] == {"event": "stopped", "reason": "interrupted"}


def test_a_jvm_that_is_gone_is_one_sentence(run: Callable[..., Run], kafka: str, topic: str) -> None:
    running = run(topic, kafka)
    running.line("epoch")
    os.kill(running.jvm(), signal.SIGKILL)
    code, _, err = running.end()
    assert code == 5, err
    assert err.startswith("error: Spark's JVM is gone")
    assert "Traceback" not in err
