"""A pipeline file whose annotations are strings; read by test_import.py."""

from __future__ import annotations

from datetime import datetime

from headrace import Bounded, F, Kafka, Pipeline, Topic, Tumbling, record


@record
class Place:
    country: str


@record
class Payment:
    card: str
    amount: int
    at: datetime
    place: Place | None


@F.udf("string")
def shout(text: str) -> str:
    return text.upper()


paid = Topic("payments", Payment, key="card", time="at").stream(watermark=Bounded("5 seconds"))
velocity = (
    paid.where(F.col("amount") > 0)
    .with_columns(country=shout("place.country"))
    .key_by("card")
    .window("velocity", Tumbling("1 minute"))
    .agg(total=F.sum("amount"))
)
pipeline = Pipeline("fraud", totals=velocity.to(Kafka("totals", key="card")))
