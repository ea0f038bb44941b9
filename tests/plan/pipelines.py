"""Pipelines whose plans are compared with golden files."""

from datetime import datetime
from decimal import Decimal

from headrace import (
    Bounded,
    F,
    Kafka,
    Pattern,
    Pipeline,
    PostgresTable,
    SkipPastLast,
    Topic,
    Tumbling,
    record,
)


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
class Limit:
    number: str
    country: str | None
    limit: Decimal


@record
class Click:
    user: str
    page: str


@record
class Shown:
    ad: str
    at: datetime


@record
class Clicked:
    ad_id: str
    user: str | None
    at: datetime


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
best = (
    per_card.key_by("card")
    .window("best-minutes", Tumbling("1 day"), accumulate="retracting", lateness="1 hour")
    .top(3, by=[F.desc("total"), "payments"], columns=["total", F.col("window").alias("minute")])
)
largest = payments.key_by("country").top("largest", 10, by=F.desc("amount"))
latest = payments.key_by("card").top("latest", 1, by=F.desc("at"), columns=["id"], keep="30 days")
leader = payments.top("leader", 1, by=F.col("amount").desc_nulls_last(), columns=["id", "card"])
ranked = Pipeline(
    "ranked",
    best=best.to(Kafka("best", key="card")),
    largest=largest.to(Kafka("largest", key="country")),
    latest=latest.to(Kafka("latest", key="card")),
    leader=leader.to(Kafka("leader")),
    rejected=payments.rejected.to(Kafka("rejected")),
)
shown = Topic("shown", Shown, time="at").stream(watermark=Bounded("5 seconds"))
clicked = Topic("clicked", Clicked, time="at").stream(watermark=Bounded("30 seconds"))
met = shown.join(
    "clicks",
    clicked.where(F.col("user").isNotNull(), name="known"),
    on={"ad": "ad_id"},
    within=("0 seconds", "30 minutes"),
    how="left",
    lateness="1 minute",
    suffix="_of_click",
)
again = met.join("again", shown, on="ad", within="10 seconds", how="semi")
clicks_per_ad = met.key_by("ad").window("per-ad", Tumbling("1 hour")).agg(clicks=F.count("user"))
joins = Pipeline(
    "joins",
    met=met.to(Kafka("met")),
    late=met.late_right.to(Kafka("late")),
    again=again.to(Kafka("again")),
    rate=clicks_per_ad.to(Kafka("rate")),
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

people = payments.latest("people", by="card").select("card", "country")
spending = payments.group_by("card", name="spending").agg(total=F.sum("amount"), last=F.max("at"))
named = cards.join("named", spending, on="card", how="full")
placed = cards.select("card", "country").join(
    "placed", homes.select("country", "limits"), on="country", how="left"
)
joined_tables = Pipeline(
    "joined-tables",
    named=named.to(Kafka("named")),
    placed=placed.to(Kafka("placed")),
    sums=placed.group_by("limits").agg(cards=F.count("*")).to(Kafka("sums")),
    pairs=people.join("pairs", cards.select("country", other="card"), on="country")
    .where("card < other")
    .to(Kafka("pairs")),
)
then = payments.join("card-then", last, on="card", how="left", lateness="1 minute", suffix="_before")
now = payments.join("card-now", cards.where("active"), on={"card": "card"}, as_of=None, suffix="_of_card")
tables_joined = Pipeline(
    "tables-joined",
    then=then.to(Kafka("then")),
    now=now.to(Kafka("now")),
    per_country=payments.join("versions", cards, on="card", suffix="_of_card")
    .key_by("country_of_card")
    .window("per-country", Tumbling("1 hour"))
    .agg(payments=F.count("*"))
    .to(Kafka("per-country")),
)
limits = PostgresTable("postgresql://reader:s3cret@db.example.com:6432/cards", "crm.cards", Limit)
checked = payments.lookup("limits", limits, on={"card": "number"}, suffix="_of_card")
home = payments.lookup(
    "homes", limits, on={"card": "number"}, how="inner", cache="0 seconds", suffix="_2", repeatable=True
)
looked_up = Pipeline(
    "looked-up",
    checked=checked.to(Kafka("checked")),
    homes=home.key_by("country_2").top("by-country", 1, by="amount", columns=["id"]).to(Kafka("homes")),
)
probing = (
    Pattern.begin("probe")
    .where("amount < 2")
    .times(3)
    .followed_by("hit")
    .where(F.col("amount") > 500)
    .within("10 minutes")
)
tested = payments.key_by("card").match("card-testing", probing, order_by="id", after_match=SkipPastLast())
moving = Pattern.begin("here").not_followed_by("report").where("country = 'CH'").within("1 hour")
patterns = Pipeline(
    "patterns",
    tested=tested.select("card", "start", F.size("probe").alias("probes")).to(Kafka("tested")),
    given_up=tested.timed_out.to(Kafka("given-up")),
    late=tested.late.to(Kafka("late")),
    moved=payments.key_by("card").match("moving", moving).to(Kafka("moved")),
)
_ALL = (windows, passing, ranked, joins, tables, joined_tables, tables_joined, looked_up, patterns)
PIPELINES = {pipeline.name: pipeline for pipeline in _ALL}
