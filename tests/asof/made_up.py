"""Joins with tables and runs of them that Hypothesis makes up, in the form of transcripts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from tests.asof.corpus import Case, Epoch
from tests.asof.oracle import Declared
from tests.tables.oracle import Record
from tests.transcripts.declared import END, SECOND, Row, micros

DECLARED = st.builds(
    Declared,
    as_of=st.sampled_from(["event time", "event time", "event time", "now"]),
    how=st.sampled_from(["inner", "left"]),
    lateness=st.sampled_from(["0 seconds", "2 seconds"]),
    chained=st.booleans(),
)
# Times go by the watermark of the moment, in halves of a second: late rows and ties are wanted.
_TIMES = st.integers(-12, 30)
_EVENT = st.tuples(st.sampled_from(["a", "a", "b", None]), _TIMES, st.integers(0, 1))
_RECORD = st.tuples(
    st.sampled_from(["a", "a", "b"]), _TIMES, st.integers(0, 1), st.integers(0, 3).map(lambda one: one == 0)
)
# Events, records of the table; by how much W grows, None for no tick.
_EPOCH = st.tuples(
    st.lists(_EVENT, max_size=6), st.lists(_RECORD, max_size=6), st.one_of(st.none(), st.integers(0, 16))
)
RUNS = st.lists(_EPOCH, min_size=4, max_size=9)


def epochs(run: list[Any]) -> tuple[Epoch, ...]:
    """Return a run's epochs; the end of time comes last, alone, as in a bounded run."""
    made, watermark, number = [], 0, 0
    offsets: dict[tuple[str, int], int] = {}
    for told_events, told_records, tick in run:
        events, records = [], []
        for key, halves, partition in told_events:
            number += 1
            place = (0, partition, _next(offsets, "events", partition))
            # A value of its own: a step that drops duplicates may stand before the join.
            events.append(Row(key, _time(watermark, halves), place, {"v": number}))
        for key, halves, partition, deleted in told_records:
            number += 1
            at = _time(watermark, halves)
            row = None if deleted else {"k": key, "v": number, "at": at}
            records.append(Record(key, row, at, partition, _next(offsets, "table", partition)))
        watermark += 0 if tick is None else tick * SECOND // 2
        made.append(Epoch(tuple(events), tuple(records), None if tick is None else watermark))
    return (*made, Epoch((), (), END))


def _time(watermark: int, halves: int) -> int:
    # Times before 1970 would be of Kafka's timestamps, which has none.
    return max(0, watermark + halves * SECOND // 2)


def _next(offsets: dict[tuple[str, int], int], of: str, partition: int) -> int:
    offset = offsets.get((of, partition), 0)
    offsets[of, partition] = offset + 1
    return offset


@st.composite
def made_up(draw: Callable[..., Any]) -> Case:
    declared = draw(DECLARED)
    if declared.as_of == "now":
        declared = replace(declared, lateness="0 seconds")
    return Case("made up", "", declared, epochs(draw(RUNS)))


def in_time(of: Case) -> Case:
    """Return the same with watermarks held back so far that nothing is late, on either side."""
    lateness = micros(of.declared.lateness)
    least, held = END, []
    for epoch in reversed(of.epochs):
        times = [row.time + lateness for row in epoch.events]
        # What has left does not come back: a version must be there before the events that it is for.
        least = min([least, *times, *(int(record.time) for record in epoch.records)])
        watermark = epoch.watermark
        if watermark is not None and least < END:
            watermark = min(watermark, least)
        held.append(replace(epoch, watermark=watermark))
    return replace(of, epochs=tuple(reversed(held)))
