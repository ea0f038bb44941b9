"""A perfect pipeline in a few lines: what the example must deliver for rows read in epochs of a size."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from examples.fraud.generator import Row

LAG = timedelta(seconds=3)
SIZE = timedelta(seconds=10)
NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass
class Delivered:
    """The values of the messages of the output topics, in the order of `Topics`."""

    alerts: list[dict[str, Any]] = field(default_factory=list)
    late: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)
    velocity: list[dict[str, Any]] = field(default_factory=list)


def deliver(partitions: dict[int, list[Row]], *, epoch_rows: int) -> Delivered:
    """Read all partitions side by side, `epoch_rows` of each an epoch, and deliver."""
    delivered = Delivered()
    windows: dict[tuple[str, datetime], list[tuple[datetime, int, dict[str, Any]]]] = {}
    highest = dict.fromkeys(partitions, NEVER)
    for first in range(0, max(map(len, partitions.values())), epoch_rows):
        reached = min(highest.values())
        watermark = reached - LAG if reached > NEVER else NEVER
        for partition, rows in partitions.items():
            for offset, row in enumerate(rows[first : first + epoch_rows], first):
                if row.damage is not None:
                    delivered.rejected.append({"topic": "payments", "partition": partition, "offset": offset})
                    continue
                payment = json.loads(row.value, parse_float=Decimal)
                at = datetime.fromisoformat(payment["at"])
                highest[partition] = max(highest[partition], at)
                start = at - timedelta(seconds=at.second % 10, microseconds=at.microsecond)
                if watermark >= start + SIZE:
                    late_by = (watermark - start - SIZE).total_seconds()
                    delivered.late.append({**payment, "late_by_seconds": late_by})
                else:
                    windows.setdefault((payment["card"], start), []).append((at, offset, payment))
    delivered.velocity = list(_velocity(windows))
    delivered.alerts = list(_alerts(delivered.velocity))
    return delivered


def _velocity(
    windows: dict[tuple[str, datetime], list[tuple[datetime, int, dict[str, Any]]]],
) -> Iterable[dict[str, Any]]:
    for (card, start), rows in windows.items():
        payments = [payment for _, _, payment in sorted(rows, key=lambda row: row[:2])]
        yield {
            "card": card,
            "window": {"start": start.isoformat(), "end": (start + SIZE).isoformat()},
            "payments": len(payments),
            "total": sum(Decimal(payment["amount"]) for payment in payments),
            "largest": max(Decimal(payment["amount"]) for payment in payments),
            "first_country": payments[0]["country"],
            "last_country": payments[-1]["country"],
            "pane": "on_time",
            "pane_index": 0,
        }


def _alerts(velocity: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for row in velocity:
        moved = row["first_country"] != row["last_country"]
        if not moved and row["payments"] < 50 and row["total"] < 5000:
            continue
        alert = {name: value for name, value in row.items() if name not in {"window", "pane", "pane_index"}}
        yield {
            **alert,
            "since": row["window"]["start"],
            "until": row["window"]["end"],
            "reason": "two countries" if moved else "velocity",
        }
