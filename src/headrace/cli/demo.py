"""`headrace demo fraud`: a pipeline on a real Kafka, watched live, then checked against the truth."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from headrace.errors import DeliveryError, HeadraceError, RunError, SettingsError, SetupError

if TYPE_CHECKING:
    from headrace.watch.process import Watched
    from headrace.watch.progress import Progress
    from headrace.watch.terminal import View

PARTITIONS = 2
TOPICS = ("payments", "velocity", "alerts", "payments.late", "payments.rejected")
MARKERS = "headrace.fraud.epochs"
"""The topic of the epochs' markers: an earlier demo's make the results those of another history."""
RESTARTS = 5
LOOK_SECONDS = 0.1
# What a pipeline is given to start, to commit its last epoch, and to close its windows.
START_SECONDS = 300
STOP_SECONDS = 300
DRAIN_SECONDS = 600
# A declaration, a setting, a checkpoint, a machine: starting again cures none of them.
NO_ACCIDENTS = (2, 3, 4)


@click.command()
@click.argument("name", type=click.Choice(["fraud"]))
@click.option("--seconds", type=click.IntRange(1), default=40, show_default=True, help="How long to produce.")
@click.option("--rate", type=click.IntRange(1), default=5_000, show_default=True, help="Payments a second.")
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed, other payments.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line; the last one is the verdict.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Keep data and logs there.")
@click.option("--kafka", metavar="BOOTSTRAP", help="A running Kafka, instead of one for this demo only.")
def demo(
    name: str,
    seconds: int,
    rate: int,
    seed: int,
    as_json: bool,  # noqa: FBT001 - click passes flags so
    keep: Path | None,
    kafka: str | None,
) -> None:
    """Produce card payments, alert on stolen cards, then recompute every alert and compare.

    Ends with the verdict: how much is missing, extra or delivered twice; exit code 0 if nothing is. Ctrl-C
    stops producing and goes on to the verdict, a second one ends everything.
    """
    from headrace.local import setup
    from headrace.watch.progress import Progress
    from headrace.watch.terminal import View

    signal.signal(signal.SIGTERM, _leave)
    files = _example(name)
    setup.prepare("spark", "kafka") if kafka is None else setup.prepare("spark")
    progress = Progress()
    with _folder(keep) as folder, contextlib.ExitStack() as stack:
        title = f"{name}, {rate:,} payments/s"
        view = None if as_json else stack.enter_context(View(progress, title))
        told = _Told(progress, view)
        told.state("starting Kafka" if kafka is None else "looking at Kafka")
        bootstrap = kafka or stack.enter_context(_own_kafka(folder))
        _create_topics(bootstrap)
        running = stack.enter_context(contextlib.closing(_Demo(files, folder, bootstrap, told)))
        running.run(seconds, rate, seed)
        told.state("checking")
        verdict = _verdict(files, bootstrap, folder, as_json=as_json)
        stack.pop_all().close()
        told.verdict(verdict, running.restarts)
        if not verdict.right:
            raise DeliveryError("what was delivered is not what should have been, see above")


class _Told:
    """What is told while the demo runs: drawn for people, or a line of JSON for each thing."""

    def __init__(self, progress: Progress, view: View | None) -> None:
        self.progress, self.view = progress, view
        self._state = ""
        self._began = time.monotonic()

    def state(self, state: str) -> None:
        if self.view is not None:
            self.view.show(state)
        elif state != self._state:
            _print({"event": "state", "state": state})
        self._state = state

    def line(self, line: dict[str, Any]) -> None:
        self.progress.take(line)
        if self.view is None:
            _print(line)

    def note(self, text: str) -> None:
        if self.view is None:
            _print({"event": "note", "note": text})
        else:
            self.view.note(text)

    def verdict(self, verdict: _Verdict, restarts: int) -> None:
        seconds = round(time.monotonic() - self._began, 1)
        if self.view is None:
            _print({**json.loads(verdict.text), "restarts": restarts, "demo_seconds": seconds})
        else:
            again = f", the pipeline started again {restarts} times" if restarts else ""
            click.echo(f"\n{verdict.text}\n\n{seconds:.0f} seconds in all{again}")


class _Demo:
    """The generator and the pipeline, as processes of their own."""

    def __init__(self, files: Path, folder: Path, bootstrap: str, told: _Told) -> None:
        self.files, self.folder, self.bootstrap, self.told = files, folder, bootstrap, told
        self.restarts = 0
        self._generator: Watched | None = None
        self._pipeline: Watched | None = None
        self._started = False
        self._enough = False

    def run(self, seconds: int, rate: int, seed: int) -> None:
        self._generator = self._start(
            "generator",
            str(self.files / "generator.py"),
            f"--kafka={self.bootstrap}",
            f"--rate={rate}",
            f"--seconds={seconds}",
            f"--seed={seed}",
        )
        self._start_pipeline()
        with _first_interrupt(self._no_more):
            self._produce(self._generator)
        self._stop_pipeline()
        self._drain()

    def _no_more(self) -> None:
        self._enough = True
        if self._generator is not None:
            self._generator.stop()

    def close(self) -> None:
        """Leave no process behind."""
        for process in (self._generator, self._pipeline):
            if process is not None:
                process.kill()

    def _start(self, name: str, *command: str) -> Watched:
        from headrace.watch.process import Watched

        package = str(Path(__file__).parents[2])
        paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        settings = {
            "HEADRACE_KAFKA_BOOTSTRAP": self.bootstrap,
            "HEADRACE_CHECKPOINT": str(self.folder / "checkpoints"),
            # A demo is looked at: what was produced while Spark started comes in several epochs.
            "HEADRACE_EPOCH_MAX_ROWS": "50000",
            "PYTHONPATH": paths,
        }
        return Watched(
            name, (sys.executable, *command), settings, folder=self.folder, log=self.folder / f"{name}.log"
        )

    def _start_pipeline(self, *options: str) -> None:
        self._started = False
        file = str(self.files / "pipeline.py")
        self._pipeline = self._start("pipeline", "-m", "headrace.cli", "run", file, "--json", *options)

    def _produce(self, generator: Watched) -> None:
        while generator.exit_code is None:
            self._look(generator)
            self._again_if_dead()
            if self._enough:
                self.told.note("no more payments; the verdict comes, Ctrl-C again ends everything")
                self._enough = False
            self.told.state("producing" if self._started else "producing, the pipeline starts")
            time.sleep(LOOK_SECONDS)
        self._look(generator)
        if generator.exit_code:
            raise RunError(f"the generator failed: {generator.last_words()}")
        deadline = time.monotonic() + START_SECONDS
        while not self._started:
            self._look()
            self._again_if_dead()
            self.told.state("the pipeline starts")
            _wait(deadline, f"the pipeline has not started within {START_SECONDS} seconds", self._pipeline)

    def _stop_pipeline(self) -> None:
        pipeline = self._alive()
        pipeline.stop()
        deadline = time.monotonic() + STOP_SECONDS
        while pipeline.exit_code is None:
            self._look()
            self.told.state("stopping after the running epoch")
            _wait(deadline, f"the pipeline has not stopped within {STOP_SECONDS} seconds", pipeline)
        self._look()
        if pipeline.exit_code:
            # Died while stopping: the drain begins where the checkpoint ends, like every start after a crash.
            self._count_death(pipeline)
            pipeline.kill()

    def _drain(self) -> None:
        self._start_pipeline("--drain")
        deadline = time.monotonic() + DRAIN_SECONDS
        while (code := self._alive().exit_code) != 0:
            if code is not None:
                self._again_if_dead("--drain")
            self._look()
            self.told.state("draining: the last windows close")
            _wait(deadline, f"the pipeline has not drained within {DRAIN_SECONDS} seconds", self._pipeline)
        self._look()

    def _alive(self) -> Watched:
        assert self._pipeline is not None  # noqa: S101 - run() starts it first
        return self._pipeline

    def _look(self, generator: Watched | None = None) -> None:
        for line in self._alive().lines():
            self._started = self._started or line.get("event") == "started"
            self.told.line(line)
        for line in generator.lines() if generator is not None else ():
            self.told.line({**line, "from": "generator"})

    def _again_if_dead(self, *options: str) -> None:
        pipeline = self._alive()
        if pipeline.exit_code is None:
            return
        self._look()
        self._count_death(pipeline)
        pipeline.kill()
        self._start_pipeline(*options)

    def _count_death(self, pipeline: Watched) -> None:
        code = pipeline.exit_code
        killed = code is not None and code < 0
        how = f"was killed by signal {-(code or 0)}" if killed else f"ended with exit code {code}"
        if code in NO_ACCIDENTS or not (self._started or killed):
            raise RunError(f"the pipeline {how}:\n{pipeline.last_words()}", cure=f"see {pipeline.log}")
        if self.restarts == RESTARTS:
            raise RunError(
                f"the pipeline died {RESTARTS + 1} times, at last {how}:\n{pipeline.last_words()}",
                cure=f"see {pipeline.log}",
            )
        self.restarts += 1
        self.told.note(f"the pipeline {how}; it goes on from its checkpoint")


class _Verdict:
    """What the example's truth.py says."""

    def __init__(self, text: str, *, right: bool) -> None:
        self.text, self.right = text, right


def _verdict(files: Path, bootstrap: str, folder: Path, *, as_json: bool) -> _Verdict:
    command = [
        sys.executable,
        str(files / "truth.py"),
        f"--kafka={bootstrap}",
        *(["--json"] if as_json else []),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if not done.stdout.strip():
        raise RunError(f"the truth could not be worked out: {done.stderr.strip()}")
    return _Verdict(done.stdout.strip(), right=done.returncode == 0)


def _example(name: str) -> Path:
    """Return the folder of the example: in the package if that is a wheel, else in the repository."""
    import headrace

    package = Path(headrace.__file__).parent
    for folder in (package / "examples" / name, package.parents[1] / "examples" / name):
        if (folder / "pipeline.py").is_file():
            return folder
    raise SetupError(
        f"the example {name!r} is not here", cure="install headrace from its wheel, or run it in a clone"
    )


@contextlib.contextmanager
def _first_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C act instead of raise: an exception could leave a process half started."""

    def interrupted(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        act()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """Give the folder of this demo; one of our own goes away, unless it shows what went wrong."""
    folder = Path(tempfile.mkdtemp(prefix="headrace-demo-")) if keep is None else keep.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SettingsError(f"--keep {keep}: {problem.strerror}", cure="choose another folder") from None
    kept = keep is not None
    try:
        yield folder
    except HeadraceError:
        kept = any(folder.iterdir())
        if kept:
            click.echo(f"data and logs are kept in {folder}", err=True)
        raise
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _own_kafka(folder: Path) -> Iterator[str]:
    """Give a Kafka whose data lies in the demo's folder and which ends with the demo."""
    from headrace.local.stack import Stack

    with Stack(folder / "stack", anywhere=True) as servers:
        yield servers.up(["kafka"])["kafka"]


def _create_topics(bootstrap: str) -> None:
    """Create the demo's topics; none of them may hold anything, or the verdict would be about that too."""
    from confluent_kafka import Consumer, KafkaException, TopicPartition
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    quiet: dict[str, str | int | float | bool] = {"bootstrap.servers": bootstrap, "log_level": 0}
    admin = AdminClient(quiet)
    consumer = Consumer({**quiet, "group.id": "headrace-demo"})
    try:
        known = admin.list_topics(timeout=30).topics
        filled = []
        for topic in filter(known.__contains__, (*TOPICS, MARKERS)):
            for partition in known[topic].partitions:
                low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)
                if high > low:
                    filled.append(topic)
                    break
        if filled:
            listed = ", ".join(repr(topic) for topic in filled)
            what = f"the topic {listed} is" if len(filled) == 1 else f"the topics {listed} are"
            raise SettingsError(
                f"{what} not empty at {bootstrap}",
                cure="delete what is named, all of it; or leave --kafka and --keep out: "
                "the demo then has its own Kafka",
            )
        kept = {"retention.ms": "-1"}
        wanted = [NewTopic(topic, PARTITIONS, config=kept) for topic in TOPICS if topic not in known]
        for created in (admin.create_topics(wanted) if wanted else {}).values():
            created.result(30)
    except KafkaException as problem:
        raise SetupError(
            f"Kafka at {bootstrap} does not do what the demo needs: {problem.args[0].str()}",
            cure="check the address, or leave --kafka out: the demo then has a Kafka of its own",
        ) from None
    finally:
        consumer.close()


def _wait(deadline: float, problem: str, process: Watched | None) -> None:
    if time.monotonic() > deadline:
        words = process.last_words() if process is not None else ""
        raise RunError(f"{problem}:\n{words}".rstrip("\n:"))
    time.sleep(LOOK_SECONDS)


def _print(line: dict[str, Any]) -> None:
    click.echo(json.dumps(line))


def _leave(*_: object) -> NoReturn:
    """End on SIGTERM as on an error: what was started is stopped."""
    sys.exit(128 + signal.SIGTERM)
