"""Impressions meet their clicks: how often each campaign is clicked, and what nobody clicked."""

from datetime import datetime

from headrace import Bounded, F, Kafka, Pipeline, Topic, Tumbling, View, record


@record
class Impression:
    """An ad that was shown to somebody."""

    id: str
    campaign: str
    user: str
    at: datetime


@record
class Click:
    """A click on an impression; browsers send some of them twice."""

    impression: str
    at: datetime


soon = Bounded("5 seconds", idle="10 seconds")
shown = Topic("impressions", Impression, key="id", time="at").stream(watermark=soon)
clicks = Topic("clicks", Click, key="impression", time="at").stream(watermark=soon)
clicked = clicks.dedup("first-click", by="impression", within="10 minutes")

# A click counts for ten minutes; an impression without one leaves when the watermark says that none can come.
outcome = shown.join(
    "clicked",
    clicked,
    on={"id": "impression"},
    within=("0 seconds", "10 minutes"),
    how="left",
    suffix="_of_click",
)
unclicked = F.col("at_of_click").isNull()

per_campaign = (
    outcome.key_by("campaign")
    .window("rate", Tumbling("1 minute"))
    .agg(impressions=F.count("*"), clicks=F.count("at_of_click"))
)
rate = per_campaign.select(
    "campaign",
    F.col("window.start").alias("since"),
    "impressions",
    "clicks",
    rate=F.col("clicks") / F.col("impressions"),
)

pipeline = Pipeline(
    "ads",
    rate=rate.to(View("rate", key=["campaign", "since"])),
    unclicked=outcome.where(unclicked)
    .select("id", "campaign", "user", "at")
    .to(Kafka("unclicked", key="id")),
    late_impressions=outcome.late_left.to(Kafka("impressions.late")),
    late_clicks=outcome.late_right.to(Kafka("clicks.late")),
)
