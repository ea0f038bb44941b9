"""Transcripts of joins on the kernel: every case has its own sources, and many cases are one pipeline."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession

import headrace
from headrace import Bounded, F, Kafka, Pipeline, Stream, Topic, record
from headrace.testing import Harness
from tests.transcripts.corpus import Written, pane_line, read_step, tidy
from tests.transcripts.declared import END
from tests.transcripts.joins.corpus import Case, late_line, line

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_AGGREGATES = {"n": F.count("*"), "total": F.sum("v")}
SIZE = 5
"""Cases to a query, each with two sources or three."""


@record
class Event:
    """A row of any stream."""

    k: str | None
    v: int | None
    at: datetime


def run(
    spark: SparkSession, cases: Sequence[Case], restarts: frozenset[int] = frozenset()
) -> list[list[Written]]:
    """Return what left each case's steps, epoch by epoch; the query restarts before some of the epochs."""
    deliveries: dict[str, Any] = {}
    for number, case in enumerate(cases):
        deliveries |= _deliveries(number, case)
    found: list[list[Written]] = [[] for _ in cases]
    with Harness(Pipeline("joins", **deliveries), spark, partitions=1, groups=2) as harness:
        harness.wall_clock(_EPOCH)
        for place in range(max(len(case.epochs) for case in cases)):
            if place in restarts:
                harness.restart()
            watermarks: dict[str, Any] = {}
            for number, case in enumerate(cases):
                if place < len(case.epochs):
                    watermarks |= _feed(harness, number, case, place)
            out = harness.epoch(watermark=watermarks)
            for number, case in enumerate(cases):
                told = _written(number, out)
                if place < len(case.epochs):
                    found[number].append(told)
                else:
                    assert not told, f"{case.title}: {told} after its epochs"
    return found


def _feed(harness: Harness, number: int, case: Case, place: int) -> dict[str, Any]:
    epoch = case.epochs[place]
    for stream in case.streams:
        for row in epoch.rows[stream]:
            told = {"k": row.key, "v": row.values["v"], "at": _moment(row.time)}
            harness.feed(f"{stream}{number}", told, partition=row.position[1])
    if epoch.watermark is None:
        return {}
    moment = "end" if epoch.watermark == END else _moment(epoch.watermark)
    return {f"{stream}{number}": moment for stream in case.streams}


def _deliveries(number: int, case: Case) -> dict[str, Any]:
    streams = {
        name: Topic(f"{name}{number}", Event, time="at").stream(
            watermark=Bounded("0 seconds", ahead="36000 days")
        )
        for name in case.streams
    }
    right = streams["left"] if case.self_join else streams["right"]
    joined = streams["left"].join(f"j{number}", right, on="k", suffix="_right", **_options(case.join))
    last = not case.third and not case.then
    made = _ports(joined, "" if last else "first_")
    if case.third:
        options = _options(case.third)
        made |= _ports(joined.join(f"t{number}", streams["third"], on="k", suffix="_third", **options), "")
    if case.then:
        step = read_step(case.then, vars(headrace))
        window, aggregates = step.pop("window"), step.pop("aggregates", ("n", "total"))
        panes = joined.key_by("k").window(f"w{number}", window, **step)
        made["panes"] = panes.agg(**{each: _AGGREGATES[each] for each in aggregates})
        made["late"] = made["panes"].late
    return {f"{label}_{number}": each.to(Kafka(f"{label}_{number}")) for label, each in made.items()}


def _options(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"within": ("0 seconds", "10 seconds"), **told}


def _ports(joined: Stream, prefix: str) -> dict[str, Stream]:
    ports = {"out": joined, "late_left": joined.late_left, "late_right": joined.late_right}
    return {f"{prefix}{name}": each for name, each in ports.items()}


def _written(number: int, out: dict[str, list[dict[str, Any]]]) -> Written:
    lines: Written = {}
    for label, rows in out.items():
        port, _, of = label.rpartition("_")
        if int(of) == number:
            said = _pane if port == "panes" else _line
            name = port.replace("first_", "first ")
            lines[name] = [said(row) for row in rows]
    return tidy(lines)


def _line(row: dict[str, Any]) -> str:
    values: list[int | None] = []
    for suffix in ("", "_right", "_third"):
        if f"at{suffix}" in row:
            values += [_micros(row[f"at{suffix}"]), row[f"v{suffix}"]]
    by = row.get("late_by_seconds")
    return line(row["k"], values) if by is None else late_line(row["k"], values, by)


def _pane(row: dict[str, Any]) -> str:
    values = {name: row[name] for name in row if name in _AGGREGATES}
    start, end = _micros(row["window"]["start"]), _micros(row["window"]["end"])
    return pane_line(row["k"], start, end, values, row["pane"], row["pane_index"], last=row["pane_last"])


def _moment(micros: int) -> datetime:
    return _EPOCH + micros * _MICROSECOND


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND
