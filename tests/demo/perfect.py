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
    """The values of the messages of the three output topics."""

    alerts: list[dict[str, Any]] = field(default_factory=list)
    late: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)


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
    delivered.alerts = list(_alerts(windows))
    return delivered


def _alerts(
    windows: dict[tuple[str, datetime], list[tuple[datetime, int, dict[str, Any]]]],
) -> Iterable[dict[str, Any]]:
    for (card, start), rows in windows.items():
        payments = [payment for _, _, payment in sorted(rows, key=lambda row: row[:2])]
        total = sum(Decimal(payment["amount"]) for payment in payments)
        first, last = payments[0]["country"], payments[-1]["country"]
        if first == last and len(payments) < 50 and total < 5000:
            continue
        yield {
            "card": card,
            "since": start.isoformat(),
            "until": (start + SIZE).isoformat(),
            "payments": len(payments),
            "total": total,
            "largest": max(Decimal(payment["amount"]) for payment in payments),
            "first_country": first,
            "last_country": last,
            "reason": "velocity" if first == last else "two countries",
        }
