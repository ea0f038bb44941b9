"""Transcripts of patterns on the kernel: many patterns over one stream, each looking at rows of its own."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession

import headrace
from headrace import Bounded, F, Kafka, Pipeline, Stream, Topic, record
from headrace.testing import Harness
from tests.patterns.corpus import Case, late_line, made, match_line
from tests.transcripts.corpus import Written, tidy
from tests.transcripts.declared import END, Row

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NAMES = {name: getattr(headrace, name) for name in headrace.__all__}


@record
class Event:
    case: int
    k: str
    id: str
    v: str
    n: int | None
    at: datetime


def plain(case: Case) -> bool:
    """Tell whether nothing happens but that events come, and time ends: such cases share one stream."""
    return [epoch.watermark for epoch in case.epochs] == [None, END]


def run(spark: SparkSession, cases: Sequence[Case]) -> list[list[Written]]:
    """Return what left in each epoch of each case; either all of them are plain, or none."""
    deliveries: dict[str, Any] = {}
    topics = {number: "events" if plain(case) else f"events{number}" for number, case in enumerate(cases)}
    streams = {topic: _stream(topic) for topic in topics.values()}
    for number, case in enumerate(cases):
        deliveries |= _declared(number, case, streams[topics[number]])
    found: list[list[Written]] = [[] for _ in cases]
    with Harness(Pipeline("patterns", **deliveries), spark, partitions=2, groups=2) as harness:
        for topic in streams:
            harness.partitions(topic, 2)
        for place in range(max(len(case.epochs) for case in cases)):
            now = {number: case for number, case in enumerate(cases) if place < len(case.epochs)}
            if any(case.epochs[place].restart for case in now.values()):
                harness.restart()
            moved: dict[str, Any] = {}
            for number, case in now.items():
                epoch, topic = case.epochs[place], topics[number]
                for row in epoch.events:
                    harness.feed(topic, _event(number, row), partition=row.position[1])
                if epoch.watermark is not None:
                    moved[topic] = "end" if epoch.watermark == END else _moment(epoch.watermark)
            out = harness.epoch(watermark=moved)
            for number, case in now.items():
                found[number].append(_written(number, case, out))
        for account in harness.ledger().values():
            assert account["in"] == account["used"] + account["late"]
    return found


def _stream(topic: str) -> Stream:
    return Topic(topic, Event, time="at").stream(watermark=Bounded("0 seconds", ahead="36000 days"))


def _declared(number: int, case: Case, events: Stream) -> dict[str, Any]:
    mine = events.where(F.col("case") == number)
    if case.declared.chained:
        mine = mine.dedup(f"first{number}", by=["k", "id"], within="1 day")
    matched = mine.key_by("k").match(
        f"match{number}",
        made(case.pattern, _NAMES),
        order_by=case.declared.order_by,
        after_match=made(case.after_match, _NAMES),
    )
    ports = {"matches": matched, "timed_out": matched.timed_out, "late": matched.late}
    return {
        f"{port}_{number}": each.to(Kafka(f"{port}_{number}"))
        for port, each in ports.items()
        # A port that nothing leaves by is asked for where that is what the transcript is about.
        if port == "matches" or any(port in expected for expected in case.expected)
    }


def _event(number: int, row: Row) -> dict[str, Any]:
    values = {name: row.values[name] for name in ("id", "v", "n")}
    return {"case": number, "k": row.key, "at": _moment(row.time), **values}


def _moment(micros: int) -> datetime:
    return _EPOCH + micros * _MICROSECOND


def _written(number: int, case: Case, out: Mapping[str, list[dict[str, Any]]]) -> Written:
    lines: Written = {}
    for label, rows in out.items():
        port, _, of = label.rpartition("_")
        if int(of) != number:
            continue
        if port == "late":
            lines[port] = [late_line(row["k"], row["id"], row["late_by_seconds"]) for row in rows]
        else:
            lines[port] = [_line(case, row) for row in rows]
    return tidy(lines)


def _line(case: Case, row: Mapping[str, Any]) -> str:
    names = case.declared.pattern.names
    taken = [event for name in names for event in row[name]]
    assert all(event["k"] == row["k"] for event in taken)
    assert row["start"] == min(event["at"] for event in taken)
    assert row["end"] == max(event["at"] for event in taken)
    return match_line(row["k"], ([event["id"] for event in row[name]] for name in names))
