"""The records and streams that the tests of declarations share."""

from datetime import datetime
from decimal import Decimal

from headrace import Bounded, Topic, record


@record
class Place:
    country: str
    city: str | None


@record
class Payment:
    id: str
    card: str
    amount: Decimal
    count: int
    at: datetime
    place: Place | None
    extra: dict[str, int]


payments = Topic("payments.eu", Payment, key="card", time="at")
paid = payments.stream(watermark=Bounded("5 seconds"))
timeless = Topic("clicks", Place).stream()
