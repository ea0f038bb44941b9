"""Alert on cards that are used as their owners would not: too often, too dearly, or in two places at once."""

from datetime import datetime
from decimal import Decimal

from headrace import Bounded, F, Kafka, Pipeline, Topic, Tumbling, record


@record
class Payment:
    """One use of a card."""

    id: str
    card: str
    country: str
    amount: Decimal
    at: datetime


payments = Topic("payments", Payment, key="card", time="at")
paid = payments.stream(watermark=Bounded("3 seconds"))

velocity = (
    paid.key_by("card")
    .window("velocity", Tumbling("10 seconds"))
    .agg(
        payments=F.count("*"),
        total=F.sum("amount"),
        largest=F.max("amount"),
        first_country=F.first("country"),
        last_country=F.last("country"),
    )
)

MANY = 50
DEAR = 5_000

moved = F.col("first_country") != F.col("last_country")
alerts = (
    velocity.where(moved | (F.col("payments") >= MANY) | (F.col("total") >= DEAR))
    .with_columns(reason=F.when(moved, "two countries").otherwise("velocity"))
    .select(
        "card",
        F.col("window.start").alias("since"),
        F.col("window.end").alias("until"),
        "payments",
        "total",
        "largest",
        "first_country",
        "last_country",
        "reason",
    )
)

pipeline = Pipeline(
    "fraud",
    velocity=velocity.to(Kafka("velocity", key="card")),
    alerts=alerts.to(Kafka("alerts", key="card")),
    late=velocity.late.to(Kafka("payments.late", key="card")),
    rejected=paid.rejected.to(Kafka("payments.rejected")),
)
