"""`headrace lateness TOPIC`: how late the rows of a topic come, and the watermark that this asks for."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from headrace.errors import SettingsError


@click.command()
@click.argument("topic")
@click.option("--time", "column", required=True, metavar="COLUMN", help="The event time; nested: meta.at.")
@click.option("--kafka", "bootstrap", help="host:port of the brokers.")
@click.option(
    "--from",
    "begin",
    default="earliest",
    show_default=True,
    metavar="earliest|TIME",
    help="Where to begin: an ISO-8601 time, by the broker's timestamps.",
)
@click.option(
    "--max-rows", type=click.IntRange(1), help="Read so many at most, of each partition in proportion."
)
@click.option(
    "--png", type=click.Path(dir_okay=False, path_type=Path), help="Draw the curve into that file too."
)
@click.option("--json", "as_json", is_flag=True, help="All numbers as JSON.")
def lateness(
    topic: str,
    column: str,
    bootstrap: str | None,
    begin: str,
    max_rows: int | None,
    png: Path | None,
    as_json: bool,  # noqa: FBT001 - click passes flags so
) -> None:
    """Measure how late the rows of TOPIC come, draw completeness against lag, recommend a watermark.

    The lateness of a row is what it is behind the greatest event time before it in its partition. The topic
    is read once, from its start to where it ends now; nothing is committed, and no JVM is started.
    """
    from headrace.run import kafka, settings
    from headrace.watch import librdkafka
    from headrace.watch.lateness import picture, reading
    from headrace.watch.lateness.report import Report

    if png is not None:
        picture.check(png)
    since = _since(begin)
    path = tuple(column.split("."))
    if not all(path):
        raise SettingsError(f"--time {column!r} names no column", cure="--time at, or nested: --time meta.at")
    options = kafka.clients(settings.load({"kafka.bootstrap": bootstrap}))
    address = options["bootstrap.servers"]
    errors: list[str] = []
    consumer, left_out = librdkafka.consumer(options, errors)
    with contextlib.closing(consumer):
        for name in left_out:
            click.echo(f"note: the Kafka option {name!r} means nothing here and is left out", err=True)
        found = reading.ranges(consumer, topic, address, errors, since=since)
        there = sum(each.most for each in found)
        if max_rows is not None:
            reading.limit(found, max_rows)
        wanted = sum(each.most for each in found)
        with _progress(topic, wanted) as tell:
            measurement, fields = reading.measure(consumer, topic, found, path, tell, errors)
    if not measurement.lags.rows:
        raise fields.nothing_measured(topic, column, measurement)
    read_from = "earliest" if since is None else since.isoformat()
    report = Report(topic, column, read_from, measurement, there - wanted)
    if png is not None:
        picture.draw(report, png)
    if as_json:
        sys.stdout.write(json.dumps(report.as_json()) + "\n")
        return
    from rich.console import Console

    report.print(Console())
    if png is not None:
        click.echo(f"\nthe curve is drawn in {png}")


def _since(begin: str) -> datetime | None:
    from headrace.watch.lateness.event_time import micros

    if begin == "earliest":
        return None
    # A day alone is its beginning.
    found = micros(begin)
    found = micros(f"{begin}T00:00") if found is None else found
    if found is None:
        raise SettingsError(
            f"--from {begin!r} is no time",
            cure='--from earliest, or for example --from "2026-01-31T12:30:00Z"',
        )
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=found)


@contextlib.contextmanager
def _progress(topic: str, rows: int) -> Iterator[Callable[[int], None]]:
    """Show how far reading is, on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"reading {topic}", total=rows)
        yield lambda done: bar.update(task, completed=done)
