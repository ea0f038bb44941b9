"""Progress: what the lines of ``headrace run --json`` add up to."""

import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from typing import Any

_RECENT_EPOCHS = 50
_RATE_SECONDS = 5.0


@dataclass
class Progress:
    """Counts of one pipeline over all of its runs; an epoch that is told twice counts once."""

    rows_in: int = 0
    backlog: int = 0
    epochs: int = 0
    last_epoch: int | None = None
    fired: int = 0
    late: int = 0
    rejected: int = 0
    delivered: dict[str, int] = field(default_factory=dict)
    watermarks: dict[str, datetime | None] = field(default_factory=dict)
    lags: dict[str, float | None] = field(default_factory=dict)
    hot_keys: list[Mapping[str, Any]] = field(default_factory=list)
    """Of the newest epoch: step, key (unless hidden) and share of the step's rows."""
    epoch_ms: deque[int] = field(default_factory=lambda: deque(maxlen=_RECENT_EPOCHS))
    _rows: deque[tuple[float, int]] = field(default_factory=deque)
    _rows_at_start: int = 0

    def take(self, line: Mapping[str, Any], now: float | None = None) -> None:
        """Add one line; `now` is a monotonic time in seconds."""
        if line.get("event") == "epoch":
            self._epoch(line, time.monotonic() if now is None else now)

    def _epoch(self, line: Mapping[str, Any], now: float) -> None:
        epoch = int(line["epoch"])
        if self.last_epoch is not None and epoch <= self.last_epoch:
            return
        self.last_epoch = epoch
        self.epochs += 1
        self.rows_in += line["rows_in"]
        self.backlog = line["backlog"]
        self.fired += sum(line["fired"].values())
        self.late += sum(line["late"].values())
        self.rejected += sum(line["rejected"].values())
        for name, rows in line["delivered"].items():
            self.delivered[name] = self.delivered.get(name, 0) + rows
        self.watermarks = {name: _time(text) for name, text in line["watermarks"].items()}
        self.lags = dict(line["watermark_lag_seconds"])
        self.hot_keys = list(line["hot_keys"])
        self.epoch_ms.append(line["epoch_ms"])
        self._rows.append((now, line["rows_in"]))

    def rows_per_second(self, now: float | None = None) -> float:
        """Return the rate of rows over the last few seconds."""
        now = time.monotonic() if now is None else now
        while self._rows and self._rows[0][0] < now - _RATE_SECONDS:
            self._rows.popleft()
        return sum(rows for _, rows in self._rows) / _RATE_SECONDS

    @property
    def watermark(self) -> datetime | None:
        """The watermark of the slowest source; None before there is one, and at the very end."""
        known = [each for each in self.watermarks.values() if each is not None]
        return min(known) if known and len(known) == len(self.watermarks) else None

    @property
    def lag(self) -> float | None:
        """How far the watermark of the slowest source is behind the wall clock, in seconds."""
        known = [each for each in self.lags.values() if each is not None]
        return max(known) if known and self.watermark else None

    @property
    def hot(self) -> str:
        """What many rows of the newest epoch have in common, in words; empty where nothing is."""
        return ", ".join(map(hot_key, self.hot_keys))

    @property
    def epoch_p50(self) -> float | None:
        """The median time of the recent epochs, in milliseconds."""
        return median(self.epoch_ms) if self.epoch_ms else None

    @property
    def epoch_last(self) -> int | None:
        """The time of the newest epoch, in milliseconds."""
        return self.epoch_ms[-1] if self.epoch_ms else None


def hot_key(told: Mapping[str, Any]) -> str:
    """Return ``velocity {"card": "4711"} 31 %``, without the key where keys are hidden."""
    key = f" {json.dumps(told['key'], ensure_ascii=False)}" if "key" in told else ""
    return f"{told['step']}{key} {100 * told['share']:.0f} %"


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        # A drained clock has no time any more.
        return None
