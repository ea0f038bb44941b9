"""The curve: what share of the rows has come when one waits for a lag."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction

# The shares that are told and ticked: a nine more each time.
NINES = (Fraction(9, 10), Fraction(99, 100), Fraction(999, 1_000), Fraction(9_999, 10_000))
ALL = Fraction(1)


@dataclass(frozen=True)
class Curve:
    """Rows that come within a lag: ``lags`` in microseconds, ascending, with how many rows are ``within``."""

    lags: tuple[int, ...]
    within: tuple[int, ...]

    @property
    def rows(self) -> int:
        """All rows."""
        return self.within[-1] if self.within else 0

    @property
    def longest(self) -> int:
        """The lag within which all rows come."""
        return self.lags[-1] if self.lags else 0

    def rows_within(self, lag: int) -> int:
        """Return how many rows come within `lag` microseconds."""
        place = bisect_right(self.lags, lag)
        return self.within[place - 1] if place else 0

    def rows_after(self, lag: int) -> int:
        """Return how many rows come later than that."""
        return self.rows - self.rows_within(lag)

    def completeness(self, lag: int) -> Fraction:
        """Return the share of the rows that come within `lag`."""
        return Fraction(self.rows_within(lag), self.rows) if self.rows else ALL

    def lag_for(self, completeness: Fraction) -> int:
        """Return the least lag within which so large a share of the rows comes."""
        if not self.rows:
            return 0
        needed = math.ceil(completeness * self.rows)
        return self.lags[bisect_left(self.within, max(needed, 1))]


def percent(share: Fraction) -> str:
    """Return a share in words, never rounded up: what is not all is not 100 %.

    >>> percent(Fraction(99931, 100000)), percent(Fraction(1))
    ('99.93 %', '100 %')
    """
    missing = 1 - share
    if not missing:
        return "100 %"
    # As many decimals as the first digit that is missing needs.
    decimals = max(1, math.ceil(-math.log10(100 * missing)))
    shown = math.floor(share * 100 * 10**decimals)
    whole, rest = divmod(shown, 10**decimals)
    return f"{whole}.{rest:0{decimals}}".rstrip("0").rstrip(".") + " %"
