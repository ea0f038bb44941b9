"""Lengths of time that the calendar decides: days, weeks and months of a time zone."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo, available_timezones

from headrace.declare.suggestion import did_you_mean
from headrace.errors import DeclarationError, caller

Unit = Literal["day", "week", "month"]

_SIZE = re.compile(r"\s*(?P<count>[0-9]+)\s*(?P<unit>day|week|month)s?\s*", re.IGNORECASE)
_UNITS: dict[str, Unit] = {"day": "day", "week": "week", "month": "month"}
_DAYS = {"day": 1, "week": 7}


@dataclass(frozen=True)
class Calendar:
    """So many local days, weeks from Monday, or months; a day has 23 or 25 hours where clocks change."""

    count: int
    unit: Unit

    def text(self) -> str:
        """Return ``1 day``."""
        return f"{self.count} {self.unit}{'' if self.count == 1 else 's'}"

    def in_days(self) -> "Calendar":
        """Return the same length in days; a month has no number of them and stays what it is."""
        return Calendar(self.count * _DAYS[self.unit], "day") if self.unit in _DAYS else self


def is_months(size: Any) -> bool:
    """Tell whether a length is in months, which no fixed length is."""
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    return found is not None and found["unit"].lower() == "month"


def calendar(size: str | timedelta, *, what: str) -> Calendar:
    """Return a length that a calendar can count; `what` names it in the error."""
    if isinstance(size, timedelta) and not size % timedelta(days=1):
        made = Calendar(size // timedelta(days=1), "day")
    else:
        found = _SIZE.fullmatch(size) if isinstance(size, str) else None
        if found is None:
            raise DeclarationError(
                f"{what} is {size}, and a time zone only matters to days, weeks and months",
                where=caller(),
                cure='write for example "1 day", "2 weeks" or "1 month", or leave zone= out',
            )
        made = Calendar(int(found["count"]), _UNITS[found["unit"].lower()])
    if made.count < 1:
        raise DeclarationError(f"{what} must be longer than nothing", where=caller(), cure='write "1 day"')
    return made


def time_zone(name: str) -> str:
    """Return the name of a time zone that exists."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, TypeError, OSError):
        raise DeclarationError(
            f"there is no time zone {name!r}",
            where=caller(),
            cure=did_you_mean(str(name), sorted(available_timezones()), what="names of the tz database"),
        ) from None
    return name
