"""Lengths of time that people like to read: rounded up to one, and written short."""

from __future__ import annotations

from datetime import timedelta

MILLISECOND = 1_000
SECOND = 1_000 * MILLISECOND
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY

_STEPS = {
    MILLISECOND: (1, 2, 5, 10, 20, 50, 100, 200, 500),
    SECOND: (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 45, 50),
    MINUTE: (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 45, 50),
    HOUR: (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20),
    DAY: (1, 2, 3, 4, 5, 6),
}
_PLEASANT = tuple(count * unit for unit, counts in _STEPS.items() for count in counts)
_SHORT = {WEEK: "w", DAY: "d", HOUR: "h", MINUTE: "min", SECOND: "s", MILLISECOND: "ms", 1: "µs"}


def rounded_up(lag: int) -> timedelta:
    """Return the least pleasant length that is not shorter than `lag` microseconds.

    >>> rounded_up(3_700_000)
    datetime.timedelta(seconds=4)
    """
    if not lag:
        return timedelta(0)
    for length in _PLEASANT:
        if lag <= length:
            return timedelta(microseconds=length)
    return timedelta(weeks=-(-lag // WEEK))


def short(lag: int) -> str:
    """Return microseconds as a few characters, with three digits at most, rounded up.

    >>> short(2_340_500), short(90_000_000), short(0)
    ('2.35 s', '1.5 min', '0')
    """
    if not lag:
        return "0"
    unit = next(unit for unit in _SHORT if lag >= unit)
    decimals = max(0, 3 - len(str(lag // unit)))
    scaled = -(-lag * 10**decimals // unit)
    rounded = scaled * unit // 10**decimals
    if any(lag < larger <= rounded for larger in _SHORT):
        # 999.9 ms are 1 s, not 1000 ms.
        return short(rounded)
    whole, rest = divmod(scaled, 10**decimals)
    digits = f"{whole}.{rest:0{decimals}}".rstrip("0").rstrip(".") if decimals else str(whole)
    return f"{digits} {_SHORT[unit]}"
