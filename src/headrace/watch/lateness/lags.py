"""Lags counted in bounded memory: exactly while there are few different ones, else in narrow buckets."""

from __future__ import annotations

from collections.abc import Iterable

from headrace.watch.lateness.curve import Curve

EXACT_LAGS = 4_096
# A bucket keeps the eight leading bits of a lag: it is at most 1/128 of its least lag wide.
_BITS = 8
RELATIVE_ERROR = 1 / 2 ** (_BITS - 1)


class Lags:
    """How many rows were how late, in microseconds; two of them add up to a third.

    Up to 4,096 different lags are kept as they are. With more of them each is taken for the greatest of its
    bucket, which is longer by at most 1/128: never more rows seem to come in time than do. The result
    depends on the rows alone, not on their order or on how they were put together.
    """

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self.exact = True
        self.rows = 0
        self.longest = 0

    def add(self, lag: int, rows: int = 1) -> None:
        """Count rows that were late by `lag` microseconds, 0 for those in order."""
        self.rows += rows
        self.longest = max(self.longest, lag)
        kept = lag if self.exact else bucket(lag)
        self._counts[kept] = self._counts.get(kept, 0) + rows
        if self.exact and len(self._counts) > EXACT_LAGS:
            self._condense()

    def curve(self) -> Curve:
        """Return what has been counted as completeness against lag."""
        within, steps, totals = 0, [], []
        for lag in sorted(self._counts):
            within += self._counts[lag]
            steps.append(min(lag, self.longest))
            totals.append(within)
        return Curve(tuple(steps), tuple(totals))

    def _condense(self) -> None:
        exact, self._counts, self.exact = self._counts, {}, False
        for lag, rows in exact.items():
            kept = bucket(lag)
            self._counts[kept] = self._counts.get(kept, 0) + rows

    def _take(self, other: Lags) -> None:
        if self.exact and not other.exact:
            self._condense()
        longest = max(self.longest, other.longest)
        for lag, rows in other._counts.items():
            self.add(lag, rows)
        # The other's buckets reach further than its longest lag.
        self.longest = longest


def together(parts: Iterable[Lags]) -> Lags:
    """Return the sum of all parts; they stay as they are."""
    made = Lags()
    for part in parts:
        made._take(part)
    return made


def bucket(lag: int) -> int:
    """Return the greatest lag of the bucket that `lag` is in; the bucket of that one is the same."""
    dropped = max(0, lag.bit_length() - _BITS)
    return (((lag >> dropped) + 1) << dropped) - 1
