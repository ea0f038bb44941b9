"""Transcripts of tables on the kernel: each case is a topic with a table of it, many are one pipeline."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql import SparkSession

from headrace import Bounded, F, Kafka, Pipeline, Table, Topic, record
from headrace.testing import Deleted, Harness
from tests.tables.corpus import Case, Epoch, Written, line, tidy

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@record
class Item:
    """A row of any case."""

    k: str
    g: str | None
    v: int | None
    at: datetime


def run(spark: SparkSession, cases: Sequence[Case]) -> list[list[Written]]:
    """Return what left in each epoch of each case; the query restarts before an epoch that says so."""
    deliveries: dict[str, Any] = {}
    for number, case in enumerate(cases):
        made, rejected = _declared(number, case)
        deliveries |= {f"made_{number}": made.to(Kafka(f"made{number}"))}
        deliveries |= {f"rejected_{number}": rejected.to(Kafka(f"rejected{number}"))}
    found: list[list[Written]] = [[] for _ in cases]
    with Harness(Pipeline("tables", **deliveries), spark, partitions=2, groups=4) as harness:
        for number in range(len(cases)):
            for name in ("", *(f"_{other}" for other in cases[number].epochs[0].others)):
                harness.partitions(f"s{number}{name}", 2)
        for place in range(max(len(case.epochs) for case in cases)):
            now = {
                number: case.epochs[place] for number, case in enumerate(cases) if place < len(case.epochs)
            }
            if any(epoch.restart for epoch in now.values()):
                harness.restart()
            for number, epoch in now.items():
                _feed_all(harness, number, epoch)
            watermarks = {
                f"s{number}": _moment(epoch.watermark)
                for number, epoch in now.items()
                if epoch.watermark is not None
            }
            out = harness.epoch(watermark=watermarks)
            for number, case in enumerate(cases):
                told = _written(out[f"made_{number}"], out[f"rejected_{number}"])
                if number in now:
                    found[number].append(told)
                else:
                    assert not told, f"{case.title}: {told} after its epochs"
        for step, counts in harness.ledger().items():
            assert counts["in"] == counts["used"] + counts["rejected"], step
    return found


def _declared(number: int, case: Case) -> tuple[Any, Any]:
    topic = Topic(f"s{number}", Item, key="k", time="at")
    if case.of == "topic":
        base = topic.table()
    else:
        base = topic.stream(watermark=Bounded("0 seconds")).latest(f"latest{number}", by="k")
    tables = {"table": base} | {name: declared(f"s{number}_{name}") for name in case.epochs[0].others}
    words = case.table.replace("NAME", f"case{number}")
    made: Any = eval(words, tables | {"F": F, "Decimal": Decimal})  # noqa: S307 - our own files
    return made, base.rejected


def _feed_all(harness: Harness, number: int, epoch: Epoch) -> None:
    feed(harness, f"s{number}", epoch)
    for name, records in epoch.others.items():
        feed(harness, f"s{number}_{name}", Epoch(records))


def feed(harness: Harness, source: str, epoch: Epoch) -> None:
    for each in sorted((*epoch.records, *epoch.bad), key=lambda each: (each.partition, each.offset)):
        row = None if each.row is None else each.row | {"at": _moment(each.row["at"])}
        key = None if each.key is None else str(each.key).encode()
        harness.feed(source, row, partition=each.partition, key=key, timestamp=_moment(each.time))


def _moment(seconds: float) -> datetime:
    return _EPOCH + timedelta(seconds=seconds)


def _written(rows: list[dict[str, Any]], rejected: list[dict[str, Any]]) -> Written:
    kinds: Written = {"puts": [], "deletes": [], "out": []}
    for row in rows:
        kind = "deletes" if isinstance(row, Deleted) else "out" if "op" in row else "puts"
        kinds[kind].append(line(_plain(row)))
    return tidy(kinds | {"rejected": [row["reason"] for row in rejected]})


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, datetime):
        seconds = (value - _EPOCH).total_seconds()
        return int(seconds) if seconds.is_integer() else seconds
    return value


def table_of(harness: Harness, delivery: str) -> list[str]:
    """Return the lines of a table's rows as they are now."""
    return sorted(line(_plain(row)) for row in harness.table(delivery))


def declared(topic: str) -> Table:
    """Return a topic of items as a table."""
    return Topic(topic, Item, key="k", time="at").table()
