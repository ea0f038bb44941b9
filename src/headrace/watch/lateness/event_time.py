"""The event time of a message, as the JSON codec of a running pipeline reads it; the twin of IsoTime.java.

A record is not known here: what else the codec may refuse in a message (another field of a wrong type, one
that is there twice, nesting beyond 64 levels) is not looked at.
"""

from __future__ import annotations

import codecs
import json
import re
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, NoReturn

MINUTE = 60_000_000
_LONGEST_OFFSET = 18 * 60
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(
    r"(?P<minute>\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d)(?::(?P<second>[0-5]\d)(?:\.(?P<fraction>\d{1,9}))?)?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<hours>\d\d)(?::?(?P<minutes>[0-5]\d))?)?",
    re.ASCII,
)


class Refused(StrEnum):
    """Why a message has no event time."""

    TOMBSTONE = "tombstone"
    UNREADABLE = "unreadable"
    MISSING = "missing"
    NO_TIME = "no_time"
    FUTURE = "future"


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"JSON has no {text}")


# Python takes NaN and Infinity for JSON, the codec does not.
_JSON = json.JSONDecoder(parse_constant=_no_number)


def parsed(value: bytes | None) -> dict[str, Any] | Refused:
    """Return the JSON object that a message is, or why it is none."""
    if value is None:
        return Refused.TOMBSTONE
    try:
        found = _JSON.decode(value.removeprefix(codecs.BOM_UTF8).decode())
    except (ValueError, RecursionError):
        return Refused.UNREADABLE
    return found if isinstance(found, dict) else Refused.UNREADABLE


def at_path(message: dict[str, Any], path: tuple[str, ...]) -> Any:
    """Return what stands in a column, `path` through nested objects; None when there is nothing."""
    found: Any = message
    for name in path:
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def event_time(value: bytes | None, path: tuple[str, ...]) -> int | Refused:
    """Return the event time of a message in microseconds since 1970, or why it has none."""
    message = parsed(value)
    if isinstance(message, Refused):
        return message
    found = at_path(message, path)
    if found is None:
        return Refused.MISSING
    # A number is refused, as by the codec: nobody can tell seconds from milliseconds.
    time = micros(found) if isinstance(found, str) else None
    return Refused.NO_TIME if time is None else time


def micros(text: str) -> int | None:
    """Return ISO-8601 text as microseconds since 1970; without a time zone it is in UTC.

    >>> micros("1970-01-01 00:01:00.5+00:00")
    60500000
    """
    found = _ISO.fullmatch(text)
    if found is None:
        return None
    minute, second, fraction, sign, hours, minutes = found.groups()
    start = _minute(minute)
    if start is None:
        return None
    time = start
    if second is not None:
        time += int(second) * 1_000_000
    if fraction is not None:
        # Clocks that count nanoseconds are common, and Spark has microseconds.
        time += int(fraction[:6].ljust(6, "0"))
    if sign is not None:
        offset = int(hours) * 60 + int(minutes or 0)
        if offset > _LONGEST_OFFSET:
            return None
        time += offset * MINUTE if sign == "-" else -offset * MINUTE
    return time


@lru_cache(maxsize=8_192)
def _minute(text: str) -> int | None:
    """Return the start of a minute; most rows share theirs with many others."""
    try:
        parts = [int(text[at : at + length]) for at, length in ((0, 4), (5, 2), (8, 2), (11, 2), (14, 2))]
        day = datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]
    except ValueError:
        return None
    return (day - _EPOCH) // _EPOCH.resolution
