"""`headrace run FILE`: run a pipeline until it is stopped, caught up or drained."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from headrace.errors import SettingsError
from headrace.watch.progress import hot_key

if TYPE_CHECKING:
    from types import FrameType

    from headrace.run.query import Running, Until

POLL_SECONDS = 0.2
INTERRUPTED = 130


@click.command()
@click.argument("file")
@click.option("--until-caught-up", is_flag=True, help="Process what is there, and leave windows open.")
@click.option(
    "--drain", is_flag=True, help="Process what is there, close all windows, finish the checkpoint."
)
@click.option("--master", help="Any Spark master; local[*,4] by default.")
@click.option("--kafka", "bootstrap", help="host:port of the brokers.")
@click.option("--checkpoint", help="Folder or Hadoop URI for checkpoints.")
@click.option("--set", "assigned", metavar="NAME=VALUE", multiple=True, help="Any setting; can be repeated.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def run(
    file: str,
    until_caught_up: bool,  # noqa: FBT001 - click passes flags so
    drain: bool,  # noqa: FBT001
    master: str | None,
    bootstrap: str | None,
    checkpoint: str | None,
    assigned: tuple[str, ...],
    as_json: bool,  # noqa: FBT001
) -> None:
    """Run the pipeline in FILE (or FILE:NAME).

    Ctrl-C stops it after the running epoch, however long that takes; a second one stops it at once. What
    can be set is listed in docs/reference/settings.md.
    """
    from headrace.run import pipeline_file, query, settings

    if until_caught_up and drain:
        raise SettingsError(
            "--until-caught-up leaves windows open and --drain closes them", cure="give one of the two"
        )
    until: Until = "drained" if drain else "caught up" if until_caught_up else "stopped"
    arguments = {"spark.master": master, "kafka.bootstrap": bootstrap, "checkpoint": checkpoint}
    chosen = settings.load(arguments, assigned=assigned)
    pipeline = pipeline_file.load(file)
    query.precheck(pipeline, chosen)
    interrupts = Interrupts()
    running = _start(lambda: query.start(pipeline, chosen, until=until), interrupts)
    tell = Teller(as_json=as_json)
    tell.event(
        {
            "event": "started",
            "pipeline": running.pipeline,
            "checkpoint": running.checkpoint,
            "pid": os.getpid(),
        }
    )
    reason = _follow(running, interrupts, tell)
    tell.event({"event": "stopped", "reason": reason})


def _start(start: Callable[[], Running], interrupts: Interrupts) -> Running:
    """Start the pipeline beside this thread, which waits for it or for Ctrl-C.

    A signal must not come between two halves of a conversation with the JVM, and pyspark, which would take
    it for its own on this thread, answers it with another call.
    """
    outcome: list[Running | BaseException] = []

    def attempt() -> None:
        try:
            outcome.append(start())
        except BaseException as failure:  # noqa: BLE001 - raised again on the other side
            outcome.append(failure)

    starting = threading.Thread(target=attempt, name="headrace-start", daemon=True)
    starting.start()
    while starting.is_alive():
        starting.join(POLL_SECONDS)
        if interrupts.count:
            sys.stdout.flush()
            # Nothing is running yet that would have to be stopped; the JVM leaves when its stdin ends.
            os._exit(INTERRUPTED)
    [came] = outcome
    if isinstance(came, BaseException):
        raise came
    return came


def _follow(running: Running, interrupts: Interrupts, tell: Teller) -> str:
    while True:
        ended = running.wait(POLL_SECONDS)
        for line in running.progress():
            tell.event(line)
        if ended:
            for line in running.last_progress():
                tell.event(line)
            running.finish()
            return running.until
        if interrupts.count:
            if interrupts.count == 1:
                _settle(running, interrupts, tell)
            if interrupts.count == 1:
                for line in running.last_progress():
                    tell.event(line)
            running.stop()
            return "interrupted"


def _settle(running: Running, interrupts: Interrupts, tell: Teller) -> None:
    tell.note("stopping after this epoch; Ctrl-C again stops at once")
    failed: list[Exception] = []

    def attempt() -> None:
        try:
            running.settle()
        except Exception as failure:  # noqa: BLE001 - raised again on the other side
            failed.append(failure)

    settling = threading.Thread(target=attempt, name="headrace-settle", daemon=True)
    settling.start()
    while settling.is_alive() and interrupts.count == 1:
        settling.join(POLL_SECONDS)
    if failed:
        raise failed[0]


class Interrupts:
    """Ctrl-C counted instead of raised: what to do about it is decided between two looks."""

    def __init__(self) -> None:
        """Begin to count SIGINT and SIGTERM."""
        self.count = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._counted)

    def _counted(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1


class Teller:
    """What is told while a pipeline runs: lines of JSON, or a line of text an epoch."""

    def __init__(self, *, as_json: bool) -> None:
        """Choose the form."""
        self._as_json = as_json

    def event(self, line: Mapping[str, Any]) -> None:
        """Tell one event."""
        text = json.dumps(line) if self._as_json else _text(line)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Tell something to a person."""
        if not self._as_json:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()


def _text(line: Mapping[str, Any]) -> str:
    if line["event"] == "started":
        return f"running {line['pipeline']} · checkpoint {line['checkpoint']} · Ctrl-C stops it"
    if line["event"] == "stopped":
        return f"stopped: {line['reason']}"
    counts = [
        f"{name} {sum(line[kind].values()):,}"
        for name, kind in (
            ("closed", "fired"),
            ("late", "late"),
            ("rejected", "rejected"),
            ("delivered", "delivered"),
        )
    ]
    lags = [f"{name} {lag:.1f} s" for name, lag in line["watermark_lag_seconds"].items() if lag is not None]
    behind = f" · watermark behind by {', '.join(lags)}" if lags else ""
    hot = f" · hot keys {', '.join(map(hot_key, line['hot_keys']))}" if line["hot_keys"] else ""
    return (
        f"epoch {line['epoch']} · in {line['rows_in']:,} · {' · '.join(counts)}"
        f" · {line['epoch_ms']} ms · backlog {line['backlog']:,}{behind}{hot}"
    )
