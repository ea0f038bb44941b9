"""The example of accounts taken over, on what its own generator makes: a plain loop finds the same."""

import runpy
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headrace.run import pipeline_file
from headrace.testing import Harness

LOGINS = Path(__file__).parents[2] / "examples" / "logins"
START = datetime(2026, 1, 1, tzinfo=UTC)
FIVE, TEN = timedelta(minutes=5), timedelta(minutes=10)

Rows = list[dict[str, Any]]


def travelled(rows: Rows) -> Iterator[tuple[datetime, datetime]]:
    """Yield each login with the next purchase from elsewhere."""
    for place, login in enumerate(rows):
        if login["kind"] == "login":
            fits = [
                row
                for row in rows[place + 1 :]
                if row["kind"] == "purchase" and row["country"] != login["country"]
            ]
            if fits and fits[0]["at"] - login["at"] < FIVE:
                yield login["at"], fits[0]["at"]


def broken_into(rows: Rows) -> Iterator[tuple[datetime, datetime]]:
    """Yield three failures without a reset among or behind them, and the login that follows."""
    taken = START - TEN
    for place, first in enumerate(rows):
        if first["kind"] != "failed" or first["at"] <= taken:
            continue
        failed = 1
        for row in rows[place + 1 :]:
            over = row["at"] - first["at"] >= TEN or row["kind"] == "reset"
            entered = failed == 3 and row["kind"] == "login"
            if over or entered:
                if entered and not over:
                    yield first["at"], row["at"]
                    taken = row["at"]
                break
            failed = min(3, failed + (row["kind"] == "failed"))


def test_the_accounts_found_are_those_that_a_loop_finds(spark: SparkSession) -> None:
    made = runpy.run_path(str(LOGINS / "generator.py"))["messages"]
    messages = [row for _, _, row in made(5, 2, 1_800, START, users=40)]
    by_user: dict[str, Rows] = defaultdict(list)
    for row in sorted(messages, key=lambda row: row["at"]):
        by_user[row["user"]].append({**row, "at": datetime.fromisoformat(row["at"])})
    with Harness(pipeline_file.load(str(LOGINS / "pipeline.py")), spark) as harness:
        for half in (messages[: len(messages) // 2], messages[len(messages) // 2 :]):
            harness.feed("activity", *half)
            harness.run()
        harness.drain()
        for label, truth in (("travelled", travelled), ("broken_into", broken_into)):
            expected = {(user, *each) for user, rows in by_user.items() for each in truth(rows)}
            found = [(row["user"], row["start"], row["end"]) for row in harness.rows(label)]
            assert len(expected) > 20
            assert sorted(found) == sorted(expected), label
        assert harness.rows("guessing")
        assert harness.rows("late") == harness.rows("rejected") == []
