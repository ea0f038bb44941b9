"""The truth finds every kind of fault that is put into otherwise perfect deliveries on a real Kafka."""

import json
import uuid
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from examples.fraud.generator import HEADER, Generator, Row
from examples.fraud.truth import Check, Topics, Verdict

from tests.demo.perfect import Delivered, deliver

pytestmark = pytest.mark.stack

SECONDS, RATE = 40, 400
NOTHING = {"missing": 0, "extra": 0, "duplicate": 0}


@dataclass
class Stage:
    """A topic of payments, and what a perfect pipeline would deliver for it."""

    bootstrap: str
    payments: str
    perfect: Delivered
    repeated: set[str]

    def verdict(self, fault: Callable[[Delivered], object] | None = None) -> Verdict:
        """Deliver, with a fault, to fresh topics; let the truth look at it."""
        delivered = deepcopy(self.perfect)
        if fault is not None:
            fault(delivered)
        mark = uuid.uuid4().hex[:8]
        topics = Topics(
            self.payments, f"alerts-{mark}", f"late-{mark}", f"rejected-{mark}", f"velocity-{mark}"
        )
        create(self.bootstrap, *topics[1:])
        producer = Producer({"bootstrap.servers": self.bootstrap})
        for topic, values in zip(topics[1:], vars(delivered).values(), strict=True):
            for value in values:
                producer.produce(topic, json.dumps(value, default=number))
        assert producer.flush(30) == 0
        return Check(self.bootstrap, topics).run()


def number(value: Any) -> float:
    assert isinstance(value, Decimal)
    return float(value)


def create(bootstrap: str, *topics: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for made in admin.create_topics([NewTopic(topic, 2) for topic in topics]).values():
        made.result(30)


@pytest.fixture(scope="module")
def stage(kafka: str) -> Stage:
    topic = f"payments-{uuid.uuid4().hex[:8]}"
    create(kafka, topic)
    partitions: dict[int, list[Row]] = {0: [], 1: []}
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=SECONDS)
    producer = Producer({"bootstrap.servers": kafka})
    for row in Generator(3, RATE, start).rows(SECONDS):
        partition = int(row.key[-1]) % 2
        partitions[partition].append(row)
        headers: dict[str, str | bytes | None] = {HEADER: row.damage} if row.damage else {}
        producer.produce(topic, row.value, row.key, partition, headers=headers)
    assert producer.flush(30) == 0
    perfect = deliver(partitions, epoch_rows=200)
    assert len(perfect.velocity) > 1_000
    assert len(perfect.alerts) > 50
    assert len(perfect.late) > 10
    assert len(perfect.rejected) > 30
    values = Counter(row.value for rows in partitions.values() for row in rows if row.damage is None)
    repeated = {json.loads(value)["id"] for value, times in values.items() if times > 1}
    return Stage(kafka, topic, perfect, repeated)


def deviations(verdict: Verdict) -> dict[str, dict[str, int]]:
    found = {
        name: {what: getattr(getattr(verdict, name), what) for what in NOTHING}
        for name in ("velocity", "alerts", "late", "rejected")
    }
    return {name: counts for name, counts in found.items() if counts != NOTHING}


def test_perfect_deliveries_are_right(stage):
    verdict = stage.verdict()
    assert deviations(verdict) == {}
    assert verdict.right
    assert verdict.rows == verdict.used + verdict.late.delivered + verdict.damaged
    assert verdict.alerts.delivered == len(stage.perfect.alerts)
    assert "RIGHT: 0 missing, 0 extra, 0 duplicate" in verdict.as_text()


@pytest.mark.parametrize("name", ["velocity", "alerts", "late", "rejected"])
def test_a_row_delivered_twice(stage, name):
    def fault(delivered: Delivered) -> None:
        rows = getattr(delivered, name)
        # Of a payment that was sent twice, two late rows may be right.
        rows.append(next(row for row in rows if row.get("id") not in stage.repeated))

    verdict = stage.verdict(fault)
    assert deviations(verdict) == {name: {**NOTHING, "duplicate": 1}}
    assert not verdict.right


@pytest.mark.parametrize("name", ["velocity", "alerts", "late", "rejected"])
def test_a_row_lost(stage, name):
    verdict = stage.verdict(lambda delivered: getattr(delivered, name).pop())
    assert deviations(verdict)[name] == {**NOTHING, "missing": 1}
    assert not verdict.right


def test_a_row_lost_from_a_window_that_does_not_alert(stage):
    alerting = {(row["card"], row["until"]) for row in stage.perfect.alerts}

    def fault(delivered: Delivered) -> None:
        row = next(
            row
            for row in delivered.velocity
            if row["payments"] > 1 and (row["card"], row["window"]["end"]) not in alerting
        )
        row["payments"] -= 1

    verdict = stage.verdict(fault)
    assert deviations(verdict) == {"velocity": {"missing": 1, "extra": 1, "duplicate": 0}}
    assert verdict.rows == verdict.used + 1 + verdict.late.delivered + verdict.damaged
    assert "all others are in their windows" not in verdict.as_text()


def test_an_alert_about_nothing(stage):
    verdict = stage.verdict(lambda delivered: delivered.alerts.append({**delivered.alerts[0], "card": "x"}))
    assert deviations(verdict) == {"alerts": {**NOTHING, "extra": 1}}


def test_an_alert_with_a_wrong_sum(stage):
    def fault(delivered: Delivered) -> None:
        delivered.alerts[0]["total"] += Decimal("0.01")

    assert deviations(stage.verdict(fault)) == {"alerts": {"missing": 1, "extra": 1, "duplicate": 0}}


def test_a_good_row_rejected(stage):
    taken = {(row["partition"], row["offset"]) for row in stage.perfect.rejected}
    free = next(offset for offset in range(1_000) if (0, offset) not in taken)
    verdict = stage.verdict(
        lambda delivered: delivered.rejected.append({"topic": "payments", "partition": 0, "offset": free})
    )
    assert deviations(verdict) == {"rejected": {**NOTHING, "extra": 1}}


def test_a_row_called_late_by_a_watermark_that_could_not_have_been(stage):
    def fault(delivered: Delivered) -> None:
        delivered.late[0]["late_by_seconds"] += 3_600

    verdict = stage.verdict(fault)
    assert verdict.late.extra == 1
    assert not verdict.right


def test_a_late_row_that_nobody_sent(stage):
    verdict = stage.verdict(lambda delivered: delivered.late.append({**delivered.late[0], "id": "x"}))
    assert deviations(verdict) == {"late": {**NOTHING, "extra": 1}}
