"""The pipeline that is proved: most kinds of stateful steps over one topic, all that they give delivered."""

from __future__ import annotations

from datetime import timedelta

from headrace import Bounded, F, Hopping, Kafka, Pipeline, Session, Sliding, Stream, Topic, Tumbling
from headrace.declare.keyed import Windowed
from proofs.events import Event

LAG = timedelta(seconds=10)
"""Less than events are out of order: many come when their window has given its first pane."""

MINUTE = timedelta(minutes=1)
TUMBLING, TUMBLING_LATENESS = MINUTE, 2 * MINUTE
HOPPING, HOP = 5 * MINUTE, MINUTE
GAP, SESSION_LATENESS = timedelta(seconds=20), MINUTE
SLIDING, SLIDING_LATENESS = 10 * MINUTE, 2 * MINUTE
WITHIN = 5 * MINUTE
ONCE, ONCE_LATENESS = MINUTE, timedelta(seconds=30)

RATE = 6_000
FEW = 20
"""Only one event in so many comes to the sliding windows, which give a pane for each."""

STEPS = ("tumbling", "hopping", "sessions", "sliding", "dedup", "once")


def topic_of(topic: str, what: str) -> str:
    """Return the topic that something is delivered to."""
    return f"{topic}.{what}"


def pipeline(topic: str) -> Pipeline:
    """Return the pipeline over a topic of events."""
    events = Topic(topic, Event, key="card", time="at").stream(watermark=Bounded(LAG), name="events")
    cards = events.key_by("card")
    few = events.where(F.col("amount") % FEW == 1)
    deduplicated = events.dedup("dedup", by="id", within=WITHIN)
    tumbling = cards.window("tumbling", Tumbling(TUMBLING), lateness=TUMBLING_LATENESS)
    sessions = cards.window("sessions", Session(GAP), lateness=SESSION_LATENESS)
    sliding = few.key_by("card").window("sliding", Sliding(SLIDING), lateness=SLIDING_LATENESS)
    once = deduplicated.key_by("card").window("once", Tumbling(ONCE), lateness=ONCE_LATENESS)
    # Whatever has the amount 0 is rejected by this step, and by no other.
    rate = F.min((F.lit(RATE) / F.col("amount")).cast("bigint"))
    hopping = cards.window("hopping", Hopping(HOPPING, every=HOP)).agg(
        n=F.count("*"), total=F.sum("amount"), least=rate, last=F.last("number")
    )
    panes = {
        "tumbling": _counted(tumbling),
        "hopping": hopping,
        "sessions": _counted(sessions),
        "sliding": _counted(sliding),
        "once": _counted(once),
    }
    deliveries = {name: stream.to(Kafka(topic_of(topic, name), key="card")) for name, stream in panes.items()}
    for name, stream in {**panes, "dedup": deduplicated}.items():
        deliveries[f"{name}_late"] = stream.late.to(Kafka(topic_of(topic, f"{name}_late"), key="card"))
    return Pipeline(
        topic,
        **deliveries,
        duplicates=deduplicated.duplicates.to(Kafka(topic_of(topic, "duplicates"), key="card")),
        rejected=events.rejected.to(Kafka(topic_of(topic, "rejected"))),
    )


def _counted(windows: Windowed) -> Stream:
    return windows.agg(n=F.count("*"), total=F.sum("amount"), least=F.min("amount"), last=F.last("number"))
