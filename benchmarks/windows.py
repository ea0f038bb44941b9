"""Windows beyond tumbling, and deduplication: the same questions to ours and to Spark's own operators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F

from benchmarks.events import CARDS, LAG, PARTITIONS, SPAN, WINDOW, Event, made
from headrace import AtWatermark, Bounded, Every, Hopping, Kafka, Pipeline, Session, Sliding, Stream, Topic
from headrace import F as R

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

HOP = WINDOW / 5
# No two events are apart by exactly this: whether sessions that touch are one is answered differently.
GAP = WINDOW + timedelta(microseconds=500)
WITHIN = timedelta(seconds=10)


@dataclass(frozen=True)
class Question:
    """One question, how both answer it, and how many rows the answer has.

    A long one is asked of the large topic: several epochs, of which the later ones find what the earlier ones
    left in the state.
    """

    name: str
    ours: Callable[[str], Pipeline]
    native: Callable[[DataFrame], DataFrame] | None
    rows: int | None
    target: float | None
    long: bool = False


def questions(count: int) -> list[Question]:
    """Return the questions about a topic of so many events."""
    return [
        Question("hopping sum and count, 5 windows each", _hopping, _native_hopping, _hops(count), 1.0),
        Question("hopping, early panes every 10 s", _early, None, None, None),
        Question("sessions, sum and count", _sessions, _native_sessions, _sessions_in(count), 3.0, long=True),
        Question("sliding sum and count", _sliding, None, None, None),
        Question("dedup", _dedup, _native_dedup, _distinct(count), 3.0, long=True),
    ]


def _stream(topic: str) -> Stream:
    return Topic(topic, Event, key="card", time="at").stream(watermark=Bounded(LAG))


def _counted(topic: str, name: str, stream: Stream) -> Pipeline:
    """Return a pipeline whose panes are only counted."""
    return Pipeline(f"bench-{topic}-{name}", late=stream.late.to(Kafka(f"{topic}.late", key="card")))


def _hopping(topic: str) -> Pipeline:
    keyed = _stream(topic).key_by("card")
    panes = keyed.window("hopping", Hopping(WINDOW, every=HOP)).agg(total=R.sum("amount"), n=R.count("*"))
    return _counted(topic, "hopping", panes)


def _early(topic: str) -> Pipeline:
    keyed = _stream(topic).key_by("card")
    windows = keyed.window(
        "early", Hopping(WINDOW, every=HOP), trigger=AtWatermark(early=Every("10 seconds"))
    )
    return _counted(topic, "early", windows.agg(total=R.sum("amount"), n=R.count("*")))


def _sessions(topic: str) -> Pipeline:
    keyed = _stream(topic).key_by("card")
    return _counted(
        topic, "sessions", keyed.window("sessions", Session(GAP)).agg(total=R.sum("amount"), n=R.count("*"))
    )


def _sliding(topic: str) -> Pipeline:
    keyed = _stream(topic).key_by("card")
    return _counted(
        topic, "sliding", keyed.window("sliding", Sliding(WINDOW)).agg(total=R.sum("amount"), n=R.count("*"))
    )


def _dedup(topic: str) -> Pipeline:
    return _counted(topic, "dedup", _stream(topic).dedup("dedup", by=["card", "amount", "at"], within=WITHIN))


def _native_hopping(source: DataFrame) -> DataFrame:
    windows = F.window("at", _seconds(WINDOW), _seconds(HOP))
    return _summed(source.withWatermark("at", _seconds(LAG)).groupBy(windows, "card"))


def _native_sessions(source: DataFrame) -> DataFrame:
    windows = F.session_window("at", _seconds(GAP))
    return _summed(source.withWatermark("at", _seconds(LAG)).groupBy(windows, "card"))


def _native_dedup(source: DataFrame) -> DataFrame:
    return source.withWatermark("at", _seconds(WITHIN)).dropDuplicatesWithinWatermark(
        ["card", "amount", "at"]
    )


def _summed(grouped: object) -> DataFrame:
    made_: DataFrame = grouped.agg(F.sum("amount").alias("total"), F.count("*").alias("n"))  # type: ignore[attr-defined]
    return made_


def _hops(count: int) -> int:
    cards, _, millis = made(count)
    hop, whole = (int(each / timedelta(milliseconds=1)) for each in (HOP, WINDOW))
    windows = (millis // hop - offset for offset in range(whole // hop))
    keys = np.unique(np.concatenate([(start + whole) * CARDS + cards for start in windows]))
    # Those stay open that end after the watermark of the closing events.
    end = int((SPAN + 2 * WINDOW) / timedelta(milliseconds=1))
    return int(((keys // CARDS - whole) * hop + whole <= end).sum())


def _sessions_in(count: int) -> int:
    cards, _, millis = made(count)
    order = np.lexsort((millis, cards))
    card, at = cards[order], millis[order]
    gap = GAP / timedelta(milliseconds=1)
    begins = (np.diff(card) != 0) | (np.diff(at) >= gap)
    return int(begins.sum()) + 1


def _distinct(count: int) -> int:
    cards, amounts, millis = made(count)
    whole = (cards.astype(np.int64) * 2_000 + amounts) * 4_000_000 + millis
    return int(np.unique(whole).size) + PARTITIONS


def _seconds(duration: timedelta) -> str:
    return f"{duration // timedelta(microseconds=1)} microseconds"
