"""Transcripts on the kernel: every case is a source and its steps, and many of them are one pipeline."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession

import headrace
from headrace import Bounded, F, Kafka, Pipeline, Stream, Topic, record
from headrace.testing import Harness
from tests.transcripts import declared
from tests.transcripts.corpus import (
    Case,
    Epoch,
    Written,
    change_line,
    late_line,
    pane_line,
    read_step,
    row_line,
    tidy,
)
from tests.transcripts.declared import END, Row
from tests.transcripts.oracle import handed
from tests.transcripts.packing import Pack

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_AGGREGATES = {
    "n": F.count("*"),
    "total": F.sum("v"),
    "least": F.min("v"),
    "most": F.max("v"),
    "open": F.first("v"),
    "close": F.last("v"),
}


@record
class Event:
    """A row of any case; what a case does not have is null."""

    k: str | None
    v: int | None
    at: datetime
    begins: datetime | None
    ends: datetime | None


def run(spark: SparkSession, pack: Pack, restarts: frozenset[int] = frozenset()) -> list[list[Written]]:
    """Return what left each case's steps, epoch by epoch; the query restarts before some of the epochs."""
    deliveries: dict[str, Any] = {}
    for number, (case, _) in enumerate(pack.members):
        deliveries |= _deliveries(number, case)
    found: list[list[Written]] = [[] for _ in pack.members]
    with Harness(Pipeline("transcripts", **deliveries), spark, partitions=1, groups=2) as harness:
        # A query's first epoch ticks by all means; it shall not do so at today's time.
        harness.wall_clock(_moment(next((clock for clock in pack.timeline if clock is not None), 0)))
        for place, clock in enumerate(pack.timeline):
            if place in restarts:
                harness.restart()
            now = {number: epoch for number, epoch in enumerate(pack.at(place)) if epoch is not None}
            for number, epoch in now.items():
                _feed(harness, f"s{number}", epoch)
            watermarks = {
                f"s{number}": "end" if epoch.watermark == END else _moment(epoch.watermark)
                for number, epoch in now.items()
                if epoch.watermark is not None
            }
            out = harness.epoch(watermark=watermarks, clock=None if clock is None else _moment(clock))
            for number, (case, _) in enumerate(pack.members):
                told = _written(number, case, out)
                if number in now:
                    found[number].append(told)
                elif len(found[number]) < len(case.epochs):
                    assert not told, f"{case.title}: {told} between its epochs"
    return found


def _feed(harness: Harness, source: str, epoch: Epoch) -> None:
    for row in sorted(epoch.rows, key=lambda row: row.position):
        given = {name: row.values.get(name) for name in ("begins", "ends")}
        times = {name: None if at is None else _moment(at) for name, at in given.items()}
        told = {"k": row.key, "v": row.values["v"], "at": _moment(row.time), **times}
        harness.feed(source, told, partition=row.position[1])


def _deliveries(number: int, case: Case) -> dict[str, Any]:
    topic = Topic(f"s{number}", Event, time="at")
    stream = topic.stream(watermark=Bounded("0 seconds", ahead="36000 days"))
    made = {"rejected": stream.rejected}
    if case.dedup:
        stream = stream.dedup(f"d{number}", by="k", within=case.dedup)
        made |= {"passed": stream, "duplicates": stream.duplicates}
        made["first_late" if case.steps else "late"] = stream.late
    for place, told in enumerate(case.steps):
        prefix = "first_" if place < len(case.steps) - 1 else ""
        # When a row was, for rankings to show: a pane was at the last instant of its window.
        if "top" in told:
            when = F.expr("window.end - INTERVAL '0.000001' SECOND") if place else F.col("at")
            stream = stream.with_columns(t=when)
        stream = _step(stream, f"w{number}_{place}", told, case)
        made[f"{prefix}panes" if "window" in told else "changes"] = stream
        if "window" in told or "keep" in told:
            made[f"{prefix}late"] = stream.late
        if prefix:
            stream = stream.with_columns(v=F.col("v" if "top" in told else "total"))
    return {f"{label}_{number}": each.to(Kafka(f"{label}_{number}")) for label, each in made.items()}


def _step(stream: Stream, name: str, told: Mapping[str, Any], case: Case) -> Stream:
    step = read_step(told, vars(headrace))
    keyed = stream.key_by("k") if case.keyed else stream
    if "top" not in step:
        aggregates = step.pop("aggregates", ("n", "total"))
        made = {each: _AGGREGATES[each] for each in aggregates}
        return keyed.window(name, step.pop("window"), **step).agg(**made)
    top = declared.top(step.pop("top"))
    ranking: dict[str, Any] = {"by": [_by(each) for each in top.by], "columns": ["v", "t"]}
    if "window" in step:
        return keyed.window(name, step.pop("window"), **step).top(top.rows, **ranking)
    return keyed.top(name, top.rows, **ranking, **step)


def _by(by: declared.By) -> Any:
    column = {"v": F.col("v"), "abs(v)": F.abs("v"), "at": F.col("t")}[by.column]
    direction = f"{'desc' if by.descending else 'asc'}_nulls_{'last' if by.nulls_last else 'first'}"
    # Where it is not said, Spark's own default has to put nulls there.
    if by.nulls_last == by.descending:
        direction = direction.partition("_")[0]
    return getattr(column, direction)()


def _moment(micros: int) -> datetime:
    return _EPOCH + micros * _MICROSECOND


# ------------------------------------------------------------------ what came, as the transcripts write it


def _written(number: int, case: Case, out: dict[str, list[dict[str, Any]]]) -> Written:
    lines: Written = {}
    for label, rows in out.items():
        port, _, of = label.rpartition("_")
        if int(of) != number:
            continue
        if port.endswith("panes"):
            said = [_pane(row) for row in rows]
        elif port == "changes":
            said = [
                change_line(row.get("k"), row["rank"], row["v"], _micros(row["t"]), row["change"])
                for row in rows
            ]
        elif port.endswith("late"):
            said = [late_line(_row(row, case), row["late_by_seconds"]) for row in rows]
        elif port == "rejected":
            said = [row_line(_row(_read(row["value"]), case)) for row in rows]
        else:
            said = [row_line(_row(row, case)) for row in rows]
        lines[port.replace("_", " ")] = said
    return tidy(lines)


def _pane(row: dict[str, Any]) -> str:
    values = {name: row[name] for name in row if name in _AGGREGATES}
    if "rank" in row:
        values = {"rank": row["rank"], "v": row["v"], "at": _micros(row["t"])}
    start, end = _micros(row["window"]["start"]), _micros(row["window"]["end"])
    about = (row["pane"], row["pane_index"])
    return pane_line(
        row.get("k"), start, end, values, *about, last=row["pane_last"], change=row.get("change")
    )


def _row(row: dict[str, Any], case: Case) -> Row:
    key = row["k"] if case.keyed else None
    if "window" in row:
        # A pane that was late for the next step: it happened at the last instant of its window.
        return Row(key, _micros(row["window"]["end"]) - 1, (0, 0, 0), {"v": handed(row)})
    values = {"v": row["v"]}
    if case.steps and "Custom" in case.steps[0].get("window", ""):
        values |= {name: _micros(row[name]) for name in ("begins", "ends")}
    return Row(key, _micros(row["at"]), (0, 0, 0), values)


def _read(value: bytes) -> dict[str, Any]:
    told = json.loads(value)
    times = {name: told[name] and datetime.fromisoformat(told[name]) for name in ("at", "begins", "ends")}
    return {**told, **times}


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND
