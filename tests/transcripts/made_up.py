"""Declarations and runs that Hypothesis makes up, in the form of transcripts."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from tests.transcripts.corpus import Case, Epoch
from tests.transcripts.declared import END, NONE, SECOND, Row, Session, Windowed, micros, periods

AGGREGATES = ("n", "total", "least", "most", "open", "close")

WINDOWS = {
    "tumbling": ['Tumbling("10 seconds")', 'Tumbling("7 seconds", offset="2 seconds")'],
    "hopping": ['Hopping("10 seconds", every="5 seconds")', 'Hopping("9 seconds", every="4 seconds")'],
    "cumulative": ['Cumulative("20 seconds", step="5 seconds")'],
    "session": ['Session("3 seconds")', 'Session("6 seconds")'],
    "sliding": ['Sliding("4 seconds")', 'Sliding("10 seconds")'],
    "global": ["Global()"],
    "custom": ['Custom("begins", "ends")'],
}
TOPS = ["1 by v desc", "2 by v", "3 by abs(v) desc", "2 by v desc nulls first, at desc", "9 by abs(v), at"]
LATENESS = ["0 seconds", "2 seconds", "10 seconds", "30 seconds"]
# Every event of a sliding window has its own: nothing is discarded. A global one never ends by itself.
ACCUMULATE = ["accumulating", "discarding", "retracting"]


def _both(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    both = st.tuples(inner, inner)
    return st.one_of(
        both.map(lambda two: f"AfterAny({two[0]}, {two[1]})"),
        both.map(lambda two: f"AfterAll({two[0]}, {two[1]})"),
    )


DUE = st.recursive(
    st.one_of(
        st.integers(1, 4).map(lambda rows: f"AfterCount({rows})"),
        st.sampled_from([4, 10]).map(lambda seconds: f'Every("{seconds} seconds")'),
    ),
    _both,
    max_leaves=3,
)


@st.composite
def triggers(draw: Callable[..., Any], kind: str) -> str:
    late = draw(st.one_of(st.none(), DUE))
    if kind == "sliding":
        return f"AtWatermark(late={late})" if late else "AtWatermark()"
    early = draw(DUE if kind == "global" else st.one_of(st.none(), DUE))
    given = [f"{name}={each}" for name, each in (("early", early), ("late", late)) if each]
    at_watermark = st.just(f"AtWatermark({', '.join(given)})")
    return draw(st.one_of(at_watermark, DUE if kind == "global" else st.just("Final()"), DUE))


AGGREGATED = {"aggregates": list(AGGREGATES)}
MADE = st.one_of(st.just(AGGREGATED), st.sampled_from(TOPS).map(lambda top: {"top": top}))
"""What a window makes of its rows: aggregates, or a ranking."""


@st.composite
def steps(draw: Callable[..., Any], kinds: tuple[str, ...] = tuple(WINDOWS)) -> dict[str, Any]:
    kind = draw(st.sampled_from(kinds))
    made = draw(MADE)
    return {
        "window": draw(st.sampled_from(WINDOWS[kind])),
        "trigger": draw(triggers(kind)),
        "lateness": draw(st.sampled_from(LATENESS)),
        "accumulate": draw(st.sampled_from(ACCUMULATE[::2] if kind == "sliding" else ACCUMULATE)),
        **made,
    }


STANDING = st.builds(
    lambda top, keep: {"top": top} | ({"keep": keep} if keep else {}),
    st.sampled_from(TOPS),
    st.sampled_from([None, "2 seconds", "10 seconds", "30 seconds"]),
)
"""Rankings without a window."""


# Times go by the watermark of the moment, in halves of a second: late rows and ties are wanted.
_ROW = st.tuples(
    st.sampled_from("ab"),
    st.integers(-30, 30),
    st.one_of(st.none(), st.integers(-9, 9)),
    st.integers(0, 1),
    st.one_of(st.none(), st.integers(-4, 4)),
    st.integers(0, 3),
)
# Rows; by how much W and P grow, None for no tick.
_EPOCH = st.tuples(
    st.lists(_ROW, min_size=1, max_size=5) | st.just([]),
    st.tuples(st.integers(0, 24), st.integers(1, 9)) | st.none(),
)
RUNS = st.lists(_EPOCH, min_size=4, max_size=10)


def epochs(run: list[Any], window: str) -> tuple[Epoch, ...]:
    """Return a run's epochs; the end of time comes last, alone, as in a bounded run."""
    made, next_offset, watermark, clock = [], [0, 0], 0, SECOND
    for rows, tick in run:
        held = []
        for key, halves, value, partition, begins, length in rows:
            values = {"v": value}
            if window.startswith("Custom"):
                five = watermark // (5 * SECOND)
                values["begins"] = None if begins is None else (five + begins) * 5 * SECOND
                values["ends"] = None if begins is None else (five + begins + length) * 5 * SECOND
            position = (0, partition, next_offset[partition])
            held.append(Row(key, watermark + halves * SECOND // 2, position, values))
            next_offset[partition] += 1
        if tick:
            watermark, clock = watermark + tick[0] * SECOND // 2, clock + tick[1] * SECOND
        made.append(Epoch(tuple(held), watermark if tick else None, clock if tick else None))
    return (*made, Epoch((), END, clock + 100 * SECOND))


@st.composite
def made_up(draw: Callable[..., Any], kinds: tuple[str, ...] = tuple(WINDOWS)) -> Case:
    step = draw(steps(kinds))
    return case(step, epochs(draw(RUNS), step["window"]))


def case(step: Mapping[str, Any], told: tuple[Epoch, ...]) -> Case:
    made = Case("made up", "", "", keyed=True, dedup=None, steps=(step,), epochs=told)
    # Processing time that nothing goes by need not be told, and then more cases go into one query.
    return made if by_clock(made) else replace(made, epochs=tuple(replace(each, clock=None) for each in told))


@st.composite
def packed(draw: Callable[..., Any], size: int = 8) -> tuple[list[int | None], list[Case]]:
    """Return cases that tick at the same processing times, and these: the cases can share one query."""
    ticks = draw(st.lists(st.none() | st.integers(1, 9), min_size=5, max_size=8))
    made, timeline = [], []
    for _ in range(size):
        rows = st.lists(_ROW, min_size=1, max_size=4)
        run = [(draw(rows), None if tick is None else (draw(st.integers(0, 24)), tick)) for tick in ticks]
        step = draw(st.one_of(steps(), steps(), STANDING))
        told = epochs(run, step.get("window", ""))
        timeline = [epoch.clock for epoch in told]
        made.append(Case("made up", "", "", keyed=True, dedup=None, steps=(step,), epochs=told))
    return timeline, made


def by_clock(of: Case) -> bool:
    return any(periods(step.trigger) for step in of.declared() if isinstance(step, Windowed))


def in_time(of: Case) -> Case:
    """Return the same with watermarks held back so far that no row is late for any of its windows.

    For sessions that is a row's own time: what it overlaps may end, and close, right after it.
    """
    [step] = of.declared()
    assert isinstance(step, Windowed)
    least, held = END, []
    for epoch in reversed(of.epochs):
        by_time = isinstance(step.window, Session)
        limits = [
            row.time + 1 if by_time else each.until for row in epoch.rows for each in step.window.of(row)
        ]
        least = min([least, *(min(until + micros(step.lateness), END) - 1 for until in limits)])
        watermark = epoch.watermark
        if watermark is not None and least < END:
            watermark = max(NONE, min(watermark, least))
        held.append(replace(epoch, watermark=watermark))
    return replace(of, epochs=tuple(reversed(held)))
