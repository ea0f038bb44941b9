"""Pipelines whose plans are compared with golden files."""

from datetime import datetime
from decimal import Decimal

from headrace import Bounded, F, Kafka, Pipeline, Topic, Tumbling, record


@record
class Payment:
    id: str
    card: str
    country: str
    amount: Decimal
    at: datetime


@record
class Card:
    card: str
    country: str | None
    limit: Decimal
    active: bool


@record
class Click:
    user: str
    page: str


payments = Topic("payments", Payment, key="card", time="at").stream(watermark=Bounded("5 seconds"))
refunds = Topic("refunds.eu", Payment, key="card", time="at", start="latest", on_data_loss="continue").stream(
    watermark=Bounded("1 minute", idle="10 seconds")
)
clicks = Topic("clicks", Click, on_error="fail").stream()

abroad = payments.where(F.col("country") != "CH", name="abroad")
per_card = (
    abroad.key_by("card")
    .window("per-card", Tumbling("1 minute", offset="10 seconds"))
    .agg(payments=F.count("*"), total=F.sum("amount"), countries=F.approx_count_distinct("country"))
)
both = payments.union(refunds)
per_country = both.key_by("country").window("per-country", Tumbling("1 hour")).agg(last=F.last("id"))
home_pages = clicks.where("page = '/'").select("user", length=F.length("page"))

windows = Pipeline(
    "windows",
    busy=per_card.where(F.col("payments") > 3).to(Kafka("busy", key="card")),
    late=per_card.late.to(Kafka("late")),
    countries=per_country.to(Kafka("countries", key="country", guarantee="at-least-once")),
    rejected=payments.rejected.to(Kafka("rejected")),
)
passing = Pipeline("passing", home=home_pages.to(Kafka("home", key="user")))

cards = Topic("cards", Card, key="card", compacted=True).table()
homes = (
    cards.where("active")
    .group_by("country")
    .agg(cards=F.count("*"), limits=F.sum("limit"), least=F.min("limit"))
)
last = payments.latest("last-payment", by="card")
tables = Pipeline(
    "tables",
    cards=cards.select("card", "country").to(Kafka("cards.short")),
    homes=homes.to(Kafka("homes")),
    sizes=homes.group_by("cards").agg(countries=F.count("*")).to(Kafka("sizes")),
    total=cards.agg(cards=F.count("*")).to(Kafka("total")),
    last=last.to(Kafka("last")),
    spent=payments.fold("spent", {"n": 0}, lambda state, _row: {"n": state["n"] + 1}, by="card").to(
        Kafka("spent")
    ),
    moved=last.select("card", "country").changes().where("op = 'update'").to(Kafka("moved", key="card")),
)
PIPELINES = {pipeline.name: pipeline for pipeline in (windows, passing, tables)}
