"""The axes: lag on a logarithmic scale that begins at 0, completeness by the nines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from headrace.watch.lateness.curve import ALL, Curve
from headrace.watch.lateness.pleasant import DAY, HOUR, MILLISECOND, MINUTE, SECOND, WEEK

# The logarithm begins where the rows that are late begin, but so many of them; it shows a decade at least.
_SHORTEST = MILLISECOND
_BEFORE = Fraction(1, 20)
_LEAST = 10
# Room after the longest lag, for the curve to be seen arriving.
_ROOM = 1.1
# The piece of the axis on which the lag of 0 stands, before the logarithm begins.
_ZERO = 0.1
_MOST_NINES = 5

_FINE_DECADES = 3.2
_TICKS = (
    *(MILLISECOND * 10**power for power in range(3)),
    SECOND,
    10 * SECOND,
    MINUTE,
    10 * MINUTE,
    HOUR,
    6 * HOUR,
    DAY,
    WEEK,
    4 * WEEK,
    52 * WEEK,
    520 * WEEK,
)


# Between the ticks, where few of them would be seen.
_FINE = (
    *(count * 10**power * MILLISECOND for power in range(3) for count in (2, 5)),
    *(count * SECOND for count in (2, 5, 20, 30)),
    *(count * MINUTE for count in (2, 5, 20, 30)),
    *(count * HOUR for count in (2, 3, 12)),
    *(count * DAY for count in (2, 3)),
    2 * WEEK,
    13 * WEEK,
    104 * WEEK,
)


@dataclass(frozen=True)
class Scale:
    """Places between 0 and 1 on both axes; `nines` is how many of them the upright one shows."""

    shortest: int
    longest: int
    lowest: int
    nines: int

    @classmethod
    def of(cls, curve: Curve, marked: int = 0) -> Scale:
        """Return the scale on which the whole of a curve is seen, and a lag that is to be marked."""
        longest = int(max(curve.longest, marked, _LEAST * _SHORTEST) * _ROOM)
        in_order = curve.completeness(0)
        begins = min(curve.lag_for(in_order + _BEFORE * (1 - in_order)), longest // _LEAST)
        shortest = max((tick for tick in _TICKS if tick <= begins), default=_SHORTEST)
        below = float(curve.completeness(0)) < 0.9  # noqa: PLR2004 - the first nine
        nines = min(max(len(str(curve.rows)) - 1, 2), _MOST_NINES)
        return cls(shortest, longest, 0 if below else 1, nines)

    def across(self, lag: int) -> float:
        """Return where a lag lies, 0 being at the left."""
        if lag <= self.shortest:
            return _ZERO * lag / self.shortest
        decades = math.log(lag / self.shortest) / math.log(self.longest / self.shortest)
        return _ZERO + (1 - _ZERO) * decades

    def lag_at(self, across: float) -> int:
        """Return the lag at a place; the opposite of :meth:`across`."""
        if across <= _ZERO:
            return int(self.shortest * across / _ZERO)
        decades = (across - _ZERO) / (1 - _ZERO)
        return round(self.shortest * math.pow(self.longest / self.shortest, decades))

    def up(self, completeness: Fraction) -> float:
        """Return how high a completeness lies; all rows are at the very top, one nine above the last."""
        if completeness == ALL:
            return 1.0
        nines = -math.log10(1 - completeness)
        height = (nines - self.lowest) / (self.nines - self.lowest + 1)
        # What is not all never touches the top.
        return min(max(height, 0.0), 1 - 0.25 / (self.nines - self.lowest + 1))

    @property
    def shares(self) -> list[Fraction]:
        """The shares to tick, from the lowest to all."""
        return [*(1 - Fraction(1, 10**nines) for nines in range(self.lowest, self.nines + 1)), ALL]

    @property
    def ticks(self) -> list[int]:
        """The lags to tick: 0, and round ones that are on the axis."""
        fine = math.log10(self.longest / self.shortest) < _FINE_DECADES
        known = sorted({*_TICKS, *(_FINE if fine else ())})
        return [0, *(lag for lag in known if self.shortest <= lag <= self.longest)]
