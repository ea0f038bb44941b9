"""Joins and runs that Hypothesis makes up, in the form of transcripts."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from tests.transcripts.declared import END, NONE, SECOND, Row, micros
from tests.transcripts.joins.corpus import STREAMS, Case, Epoch, declared_join

HOWS = ("inner", "left", "right", "full", "semi", "anti")
WITHIN = (
    ("0 seconds", "5 seconds"),
    ("-3 seconds", "3 seconds"),
    ("-8 seconds", "-2 seconds"),
    ("2 seconds", "9 seconds"),
    ("0 seconds", "0 seconds"),
)
LATENESS = ("0 seconds", "2 seconds")

JOINS = st.fixed_dictionaries(
    {
        "how": st.sampled_from(HOWS),
        "within": st.sampled_from(WITHIN).map(list),
        "lateness": st.sampled_from(LATENESS),
    }
)
# Times go by the watermark of the moment, in halves of a second: late rows and ties are wanted.
_ROW = st.tuples(
    st.sampled_from(["a", "a", "b", None]),
    st.integers(-12, 30),
    st.one_of(st.none(), st.integers(-9, 9)),
    st.integers(0, 1),
)
# Rows of both sides; by how much W grows, None for no tick.
_EPOCH = st.tuples(
    st.lists(_ROW, max_size=6), st.lists(_ROW, max_size=6), st.one_of(st.none(), st.integers(0, 16))
)
RUNS = st.lists(_EPOCH, min_size=4, max_size=9)


def epochs(run: list[Any]) -> tuple[Epoch, ...]:
    """Return a run's epochs; the end of time comes last, alone, as in a bounded run."""
    made, watermark = [], 0
    offsets: dict[tuple[int, int], int] = {}
    for *sides, tick in run:
        rows: dict[str, tuple[Row, ...]] = dict.fromkeys(STREAMS, ())
        for side, told in enumerate(sides):
            held = []
            for key, halves, value, partition in told:
                offset = offsets.get((side, partition), 0)
                offsets[side, partition] = offset + 1
                time = watermark + halves * SECOND // 2
                held.append(Row(key, time, (side, partition, offset), {"v": value}))
            rows[STREAMS[side]] = tuple(held)
        watermark += 0 if tick is None else tick * SECOND // 2
        made.append(Epoch(rows, None if tick is None else watermark))
    return (*made, Epoch(dict.fromkeys(STREAMS, ()), END))


def case(join: Mapping[str, Any], told: tuple[Epoch, ...], name: str = "") -> Case:
    return Case("made up", name, "", self_join=False, join=join, third=None, then=None, epochs=told)


@st.composite
def made_up(draw: Callable[..., Any]) -> Case:
    return case(draw(JOINS), epochs(draw(RUNS)))


def in_time(of: Case) -> Case:
    """Return the same with watermarks held back so far that no row is late."""
    lateness = micros(declared_join(of.join).lateness)
    least, held = END, []
    for epoch in reversed(of.epochs):
        rows = [*epoch.rows["left"], *epoch.rows["right"]]
        least = min([least, *(row.time + lateness for row in rows)])
        watermark = epoch.watermark
        if watermark is not None and least < END:
            watermark = max(NONE, min(watermark, least))
        held.append(replace(epoch, watermark=watermark))
    return replace(of, epochs=tuple(reversed(held)))
