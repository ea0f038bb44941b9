"""Accounts that are taken over: found while it happens, by what their users do one thing after another."""

from datetime import datetime
from decimal import Decimal

from headrace import Bounded, F, Kafka, Pattern, Pipeline, SkipPastLast, Topic, prev, record


@record
class Activity:
    """Something that a user did: login, failed (a login with a wrong password), reset (of it), purchase."""

    user: str
    kind: str
    country: str
    amount: Decimal | None
    at: datetime


activity = Topic("activity", Activity, key="user", time="at").stream(watermark=Bounded("5 seconds"))
users = activity.key_by("user")

# Nobody is in two countries within five minutes.
elsewhere = (
    Pattern.begin("login")
    .where("kind = 'login'")
    .followed_by("purchase")
    .where("kind = 'purchase'")
    .where(F.col("country") != prev("login")["country"])
    .within("5 minutes")
)
# Who resets the password has forgotten it; who does not, and gets in after all, has guessed it.
guessed = (
    Pattern.begin("failed")
    .where("kind = 'failed'")
    .times(3)
    .not_followed_by("reset")
    .where("kind = 'reset'")
    .followed_by("entered")
    .where("kind = 'login'")
    .within("10 minutes")
)
travelled = users.match("travelled", elsewhere)
broken_into = users.match("broken-into", guessed, after_match=SkipPastLast())

pipeline = Pipeline(
    "logins",
    travelled=travelled.select("user", "start", "end", F.col("purchase")[0]["amount"].alias("amount")).to(
        Kafka("travelled", key="user")
    ),
    broken_into=broken_into.select("user", "start", "end").to(Kafka("broken-into", key="user")),
    guessing=broken_into.timed_out.select("user", "start", F.size("failed").alias("tries")).to(
        Kafka("guessing", key="user")
    ),
    late=travelled.late.to(Kafka("activity.late")),
    rejected=activity.rejected.to(Kafka("activity.rejected")),
)
