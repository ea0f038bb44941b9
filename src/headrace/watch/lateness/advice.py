"""The advice: the watermark that the measured lateness asks for, what others would cost, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise
from statistics import median

from headrace.declare.duration import microseconds, spell
from headrace.watch.lateness.curve import ALL, NINES, Curve, percent
from headrace.watch.lateness.lags import together
from headrace.watch.lateness.measurement import Measurement
from headrace.watch.lateness.pleasant import rounded_up, short

TARGET = Fraction(999, 1_000)
OFFERED = (Fraction(99, 100), TARGET, ALL)
# A share is believed when so many rows lie beyond it: one row more or less then changes little.
_BEYOND = 20
# Lags below it are all the same to people: no rule is to fire on microseconds.
_FLOOR = 100_000
_CHANGED = 2
# A tail like a power law without a finite variance: each further nine takes more than sqrt(10) times the lag.
_HEAVY_SQUARED = 10
_OUTLIER = 4


@dataclass(frozen=True)
class Choice:
    """A fixed lag, rounded up to a pleasant one, and what it costs."""

    asked: Fraction
    lag: timedelta
    achieved: Fraction
    late: int

    @property
    def code(self) -> str:
        return f'Bounded("{spell(self.lag)}")'


@dataclass(frozen=True)
class Advice:
    """The watermark to take, as code; `fixed` is the best one with a fixed lag, `reasons` why."""

    code: str
    adaptive: bool
    fixed: Choice
    choices: tuple[Choice, ...]
    reasons: tuple[str, ...]
    hints: tuple[str, ...]

    @property
    def mark(self) -> str:
        """What the lag marked in a picture is."""
        return f"fixed lag for {percent(TARGET)}" if self.adaptive else "recommended lag"


def advise(measurement: Measurement) -> Advice:
    """Return what the measurement advises; it must hold at least one row with an event time."""
    curve = measurement.lags.curve()
    choices = tuple(_choice(curve, asked) for asked in OFFERED)
    fixed = choices[OFFERED.index(TARGET)]
    reasons = tuple(filter(None, (_changed(measurement), _heavy(curve))))
    code = fixed.code
    if reasons:
        # The most that it may wait for: one nine more than what is asked.
        at_most = max(rounded_up(curve.lag_for(NINES[-1])), fixed.lag)
        code = f'Adaptive(completeness={float(TARGET)}, at_most="{spell(at_most)}")'
    hints = tuple(filter(None, (*_outliers(measurement), _few(curve))))
    return Advice(f"topic.stream(watermark={code})", bool(reasons), fixed, choices, reasons, hints)


def _choice(curve: Curve, asked: Fraction) -> Choice:
    lag = rounded_up(curve.lag_for(asked))
    within = microseconds(lag)
    return Choice(asked, lag, curve.completeness(within), curve.rows_after(within))


def believable(rows: int) -> list[Fraction]:
    """Return the shares that so many rows can tell."""
    return [share for share in NINES if rows * (1 - share) >= _BEYOND]


def _changed(measurement: Measurement) -> str | None:
    """Compare the halves at the highest share up to the target that both of them can tell."""
    first, second = (half.curve() for half in measurement.halves)
    shares = [share for share in believable(min(first.rows, second.rows)) if share <= TARGET]
    if not shares:
        return None
    lags = [half.lag_for(shares[-1]) for half in (first, second)]
    least, most = (max(each, _FLOOR) for each in sorted(lags))
    if most < _CHANGED * least:
        return None
    return (
        f"the lateness changes: {percent(shares[-1])} take {short(lags[0])} in the first half of what was "
        f"read and {short(lags[1])} in the second, a difference of over {_CHANGED} times"
    )


def _heavy(curve: Curve) -> str | None:
    """Look whether the last two nines that can be told each multiply the lag."""
    shares = believable(curve.rows)[-3:]
    if len(shares) < 3:  # noqa: PLR2004 - two steps have three ends
        return None
    lags = [max(curve.lag_for(share), _FLOOR) for share in shares]
    if not all(after**2 > _HEAVY_SQUARED * before**2 for before, after in pairwise(lags)):
        return None
    told = ", ".join(f"{percent(share)} {short(lag)}" for share, lag in zip(shares, lags, strict=True))
    return f"the tail is heavy: each further nine takes over 3.2 times the lag ({told})"


def _few(curve: Curve) -> str | None:
    if TARGET in believable(curve.rows):
        return None
    needed = int(_BEYOND / (1 - TARGET))
    return (
        f"{curve.rows:,} rows are few: fewer than {_BEYOND} of them lie beyond {percent(TARGET)}; "
        f"measure {needed:,} or more before you rely on it"
    )


def _outliers(measurement: Measurement) -> list[str]:
    """Name the partitions that need a much longer lag than the others."""
    curves = {each.number: each.lags.curve() for each in measurement.partitions}
    least = min((curve.rows for curve in curves.values() if curve.rows), default=0)
    shares = [share for share in believable(least) if share <= TARGET]
    told = {number: curve.lag_for(shares[-1]) for number, curve in curves.items() if curve.rows and shares}
    found = []
    for number, lag in told.items():
        others = [each for other, each in told.items() if other != number]
        if others and lag > _OUTLIER * max(int(median(others)), _FLOOR):
            found.append((number, lag, _without(measurement, number)))
    return [
        f"partition {number} is much later than the others: {percent(shares[-1])} take {short(lag)}, "
        f"over {_OUTLIER} times their median; look at what writes to it (without it {percent(TARGET)} of all "
        f"rows would take {short(rest)})"
        for number, lag, rest in found
    ]


def _without(measurement: Measurement, number: int) -> int:
    """Return the lag for the target over all partitions but one."""
    halves = (half for each in measurement.partitions if each.number != number for half in each.halves)
    return together(halves).curve().lag_for(TARGET)
