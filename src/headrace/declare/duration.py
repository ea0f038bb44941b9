"""Lengths of time as people write them: ``"5 minutes"``, ``"1 hour 30 minutes"`` or a timedelta."""

import re
from datetime import timedelta
from decimal import Decimal

from headrace.errors import DeclarationError, caller

_MICROSECONDS = {
    "week": 7 * 24 * 3_600_000_000,
    "day": 24 * 3_600_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_PART = re.compile(r"(?P<sign>[-+]?)(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[A-Za-z]+)")
_CURE = 'write for example "5 minutes", "1 hour 30 minutes", or timedelta(minutes=5)'
_LONGEST = timedelta(days=100 * 365)


def duration(value: str | timedelta, *, what: str, positive: bool = False) -> timedelta:
    """Return `value` as a timedelta; `what` names it in the error.

    The units are microseconds, milliseconds, seconds, minutes, hours, days and weeks, in the singular
    or the plural; parts add up. Negative lengths are refused, and zero too where `positive` is asked.

    >>> duration("1 hour 30 minutes", what="lag")
    datetime.timedelta(seconds=5400)
    """
    length = value if isinstance(value, timedelta) else _parse(value, what)
    if length < timedelta(0):
        raise DeclarationError(f"{what} is negative: {value!s}", where=caller(), cure=_CURE)
    if positive and not length:
        raise DeclarationError(f"{what} must be longer than nothing", where=caller(), cure=_CURE)
    if length > _LONGEST:
        raise DeclarationError(
            f"{what} is longer than a hundred years: {value!s}", where=caller(), cure=_CURE
        )
    return length


def spell(length: timedelta) -> str:
    """Return the words for `length`, such that :func:`duration` reads them back.

    >>> spell(timedelta(minutes=90))
    '1 hour 30 minutes'
    """
    left = microseconds(length)
    parts = []
    for unit, size in _MICROSECONDS.items():
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}{'' if count == 1 else 's'}")
    return " ".join(parts) or "0 seconds"


def microseconds(length: timedelta) -> int:
    """Return `length` in microseconds, exactly."""
    return length // timedelta(microseconds=1)


def _parse(text: object, what: str) -> timedelta:
    if not isinstance(text, str):
        kind = type(text).__name__
        raise DeclarationError(f"{what} is no duration: {text!r} ({kind})", where=caller(), cure=_CURE)
    position, total = 0, Decimal(0)
    stripped = text.strip()
    if not stripped:
        raise DeclarationError(f"{what} is no duration: {text!r}", where=caller(), cure=_CURE)
    while position < len(stripped):
        part = _PART.match(stripped, position)
        if part is None:
            raise DeclarationError(f"{what} is no duration: {text!r}", where=caller(), cure=_CURE)
        if part["sign"] == "-":
            raise DeclarationError(f"{what} is negative: {text!r}", where=caller(), cure=_CURE)
        unit = part["unit"].lower().removesuffix("s")
        if unit not in _MICROSECONDS:
            units = ", ".join(f"{name}s" for name in reversed(_MICROSECONDS))
            cure = f"the units are {units}"
            raise DeclarationError(f'{what} has an unknown unit "{part["unit"]}"', where=caller(), cure=cure)
        total += Decimal(part["number"]) * _MICROSECONDS[unit]
        position = part.end()
        while position < len(stripped) and stripped[position] in " \t":
            position += 1
    if total != total.to_integral_value():
        raise DeclarationError(f"{what} is finer than a microsecond: {text!r}", where=caller(), cure=_CURE)
    try:
        return timedelta(microseconds=int(total))
    except OverflowError:
        message = f"{what} is longer than a hundred years: {text!r}"
        raise DeclarationError(message, where=caller(), cure=_CURE) from None
