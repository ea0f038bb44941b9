"""Sessions of one card, epoch by epoch, by their definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Place = tuple[int, int, int, int]
"""Time, partition, offset and number of an event: the order in which one is the last."""


@dataclass
class Session:
    """Events of a card that are less than a gap apart; it ends a gap after its last."""

    start: int
    end: int
    n: int
    total: int
    least: int
    last: Place
    fresh: bool = True
    shown: bool = False
    index: int = 0

    def meets(self, other: Session) -> bool:
        """Tell whether both are one."""
        return self.start < other.end and other.start < self.end

    def take(self, other: Session, watermark: int) -> None:
        """Become one with another."""
        self.start, self.end = min(self.start, other.start), max(self.end, other.end)
        self.n += other.n
        self.total += other.total
        self.least = min(self.least, other.least)
        self.last = max(self.last, other.last)
        self.fresh |= other.fresh
        # Grown to an end that time has not reached, it is complete once more when time does.
        self.shown = (self.shown or other.shown) and self.end <= watermark
        self.index = max(self.index, other.index)


@dataclass
class Found:
    """What came of a card's events: panes, and the late ones with the seconds that they were late by."""

    panes: list[tuple[int, int, int, int, int, int, str, int, bool]]
    late: list[tuple[int, float]]
    used: dict[int, int]


def find(
    events: Iterable[tuple[int, int, Place]], watermarks: Sequence[int], gap: int, lateness: int
) -> Found:
    """Find the panes of a card's events, which are (epoch, amount, place) in any order."""
    by_epoch: dict[int, list[Session]] = {}
    for epoch, amount, place in events:
        one = Session(place[0], place[0] + gap, 1, amount, amount, place)
        by_epoch.setdefault(epoch, []).append(one)
    found = Found([], [], {})
    kept: list[Session] = []
    for epoch, watermark in enumerate(watermarks):
        came = by_epoch.get(epoch, [])
        in_time = [one for one in came if watermark < one.end + lateness]
        doubtful = [one for one in came if watermark >= one.end + lateness]
        kept = _merged(kept + in_time, watermark)
        # Late by themselves, they are used if they lead to a session that was kept.
        while doubtful:
            led = [one for one in doubtful if any(one.meets(session) for session in kept)]
            if not led:
                break
            doubtful = [one for one in doubtful if not any(one is each for each in led)]
            kept = _merged(kept + led, watermark)
        found.late += [(one.last[3], (watermark - one.end) / 1e6) for one in doubtful]
        if came:
            found.used[epoch] = len(came) - len(doubtful)
        for session in kept:
            if watermark >= session.end and (session.fresh or not session.shown):
                found.panes.append(_pane(session, closing=watermark >= session.end + lateness))
                session.fresh, session.shown = False, True
                session.index += 1
        kept = [session for session in kept if watermark < session.end + lateness]
    return found


def _merged(sessions: list[Session], watermark: int) -> list[Session]:
    sessions.sort(key=lambda session: session.start)
    merged: list[Session] = []
    for session in sessions:
        if merged and merged[-1].meets(session):
            merged[-1].take(session, watermark)
        else:
            merged.append(session)
    return merged


def _pane(session: Session, *, closing: bool) -> tuple[Any, ...]:
    kind = "late" if session.shown else "on_time"
    return (
        session.start,
        session.end,
        session.n,
        session.total,
        session.least,
        session.last[3],
        kind,
        session.index,
        closing,
    )
