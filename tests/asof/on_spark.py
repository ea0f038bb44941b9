"""Transcripts of joins with tables on the kernel: each case has a stream and a table; many to a pipeline."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession

from headrace import Bounded, F, Kafka, Pipeline, Stream, Topic, Tumbling, record
from headrace.testing import Harness
from tests.asof.corpus import Case, Epoch, late_line, line, pane_line
from tests.asof.oracle import Declared
from tests.transcripts.corpus import Written, tidy
from tests.transcripts.declared import END

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
SIZE = 6
"""Cases to a query."""


@record
class Event:
    k: str | None
    v: int
    at: datetime


@record
class Item:
    k: str
    v: int | None
    at: datetime


def run(
    spark: SparkSession, cases: Sequence[Case], restarts: frozenset[int] = frozenset()
) -> list[list[Written]]:
    """Return what left in each epoch of each case; the query restarts before an epoch that says so."""
    deliveries: dict[str, Any] = {}
    for number, case in enumerate(cases):
        deliveries |= declared(number, case.declared)
    found: list[list[Written]] = [[] for _ in cases]
    with Harness(Pipeline("asof", **deliveries), spark, partitions=2, groups=2) as harness:
        for number in range(len(cases)):
            harness.partitions(f"events{number}", 2)
            harness.partitions(f"table{number}", 2)
        for place in range(max(len(case.epochs) for case in cases)):
            now = {
                number: case.epochs[place] for number, case in enumerate(cases) if place < len(case.epochs)
            }
            if place in restarts or any(epoch.restart for epoch in now.values()):
                harness.restart()
            watermarks: dict[str, Any] = {}
            for number, epoch in now.items():
                watermarks |= feed(harness, number, epoch)
            out = harness.epoch(watermark=watermarks)
            for number, case in enumerate(cases):
                told = _written(number, out)
                if number in now:
                    found[number].append(told)
                else:
                    assert not told, f"{case.title}: {told} after its epochs"
    return found


def declared(number: int, of: Declared) -> dict[str, Any]:
    """Return the deliveries of a case."""
    free = Bounded("0 seconds", ahead="36000 days")
    events = Topic(f"events{number}", Event, time="at").stream(watermark=free)
    topic = Topic(f"table{number}", Item, key="k", time="at")
    table = (
        topic.table() if of.of == "topic" else topic.stream(watermark=free).latest(f"latest{number}", by="k")
    )
    if of.chained:
        events = events.dedup(f"first{number}", by=["k", "v"], within="1 day")
    joined = events.join(
        f"join{number}",
        table,
        on="k",
        as_of="event time" if of.as_of == "event time" else None,
        how=of.how,  # type: ignore[arg-type]
        lateness=of.lateness,
        suffix="_then",
    )
    made: dict[str, Stream] = {"out": joined}
    if of.as_of == "event time":
        made["late"] = joined.late
    if of.then is not None:
        window = joined.key_by("k").window(f"window{number}", Tumbling(of.then))
        made = {"panes": window.agg(n=F.count("*"), found=F.count("at_then"))}
    return {f"{label}_{number}": each.to(Kafka(f"{label}_{number}")) for label, each in made.items()}


def feed(harness: Harness, number: int, epoch: Epoch) -> dict[str, Any]:
    """Feed what an epoch brings; return the watermarks that it moves."""
    for row in epoch.events:
        told = {"k": row.key, "v": row.values["v"], "at": moment(row.time)}
        harness.feed(f"events{number}", told, partition=row.position[1])
    for each in epoch.records:
        item = None if each.row is None else {**each.row, "at": moment(each.row["at"])}
        at, key = moment(int(each.time)), str(each.key).encode()
        harness.feed(f"table{number}", item, partition=each.partition, key=key, timestamp=at)
    moved = {f"events{number}": epoch.watermark, f"table{number}": epoch.table_watermark}
    return {name: "end" if to == END else moment(to) for name, to in moved.items() if to is not None}


def moment(micros: int) -> datetime:
    return _EPOCH + micros * _MICROSECOND


def _micros(at: datetime | None) -> int | None:
    return None if at is None else (at - _EPOCH) // _MICROSECOND


def _written(number: int, out: Mapping[str, list[dict[str, Any]]]) -> Written:
    lines: Written = {}
    for label, rows in out.items():
        port, _, of = label.rpartition("_")
        if int(of) == number:
            lines[port] = [_LINES[port](row) for row in rows]
    return tidy(lines)


def _line(row: Mapping[str, Any]) -> str:
    return line(row["k"], _micros(row["at"]), row["v"], _micros(row["at_then"]), row["v_then"])


def _late(row: Mapping[str, Any]) -> str:
    return late_line(row["k"], _micros(row["at"]), row["v"], row["late_by_seconds"])


def _pane(row: Mapping[str, Any]) -> str:
    return pane_line(row["k"], _micros(row["window"]["start"]), row["n"], row["found"])


_LINES = {"out": _line, "late": _late, "panes": _pane}
