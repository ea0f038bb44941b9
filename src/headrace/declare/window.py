"""Windows: which stretches of event time belong together.

Windows are half-open, ``[start, end)``, and aligned to 1970-01-01 UTC plus an offset. With a time zone
their sizes are local days, weeks or months. A window says by :meth:`spec` what the kernel is told.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from headrace.declare.calendar import Calendar, calendar, is_months, time_zone
from headrace.declare.duration import duration, microseconds, spell
from headrace.errors import DeclarationError, caller

Length = timedelta | Calendar


def _length(size: Any, zone: str | None, what: str) -> Length:
    if zone is not None or is_months(size):
        return calendar(size, what=what)
    return duration(size, what=what, positive=True)


def _shown(length: Length) -> str:
    return length.text() if isinstance(length, Calendar) else spell(length)


def _grid(zone: str | None, offset: timedelta, **lengths: Length) -> dict[str, Any]:
    """Return the sizes as the kernel takes them: microseconds, or numbers of one unit of the calendar."""
    told: dict[str, Any] = {"offset": microseconds(offset)}
    counted = [each for each in lengths.values() if isinstance(each, Calendar)]
    if not counted:
        fixed = {name: microseconds(each) for name, each in lengths.items() if isinstance(each, timedelta)}
        return told | fixed
    same = len({each.unit for each in counted}) == 1
    units = {
        name: each if same else each.in_days() for name, each in lengths.items() if isinstance(each, Calendar)
    }
    unit = next(iter(units.values())).unit
    if not same:
        # Days that make up weeks begin with a Monday, as weeks do.
        told["weekly"] = True
    return told | {"unit": unit, "zone": zone or "UTC"} | {name: each.count for name, each in units.items()}


def _comparable(one: Length, other: Length, where: str) -> tuple[Any, Any]:
    """Return both lengths as numbers of one unit, or refuse months beside days."""
    if isinstance(one, timedelta) and isinstance(other, timedelta):
        return one, other
    pair = [each for each in (one, other) if isinstance(each, Calendar)]
    if len(pair) == 2 and pair[0].unit != pair[1].unit:  # noqa: PLR2004 - both
        pair = [each.in_days() for each in pair]
    if len(pair) != 2 or pair[0].unit != pair[1].unit:  # noqa: PLR2004
        raise DeclarationError(
            f"{_shown(one)} and {_shown(other)} cannot be compared: months differ in length",
            where=where,
            cure="give both in months, or both in days or weeks",
        )
    return pair[0].count, pair[1].count


def _offset(offset: Any, size: Length, what: str) -> timedelta:
    made = duration(offset, what=f"the offset of {what}")
    longest = timedelta(days=1) if isinstance(size, Calendar) else size
    if made >= longest:
        cure = f"the same windows have the offset {spell(made % longest)}"
        raise DeclarationError(
            f"the offset {spell(made)} is not shorter than the window, {_shown(size)}"
            if isinstance(size, timedelta)
            else f"the offset {spell(made)} is not shorter than a day, from whose midnight it counts",
            where=caller(),
            cure=cure,
        )
    return made


def _aligned(offset: timedelta, zone: str | None) -> str:
    shifted = f", offset {spell(offset)}" if offset else ""
    return f"{shifted}, {zone} time" if zone else shifted


@dataclass(frozen=True, init=False)
class Tumbling:
    """Windows of one size, one after the other.

    With `zone` the size is a number of local days, weeks (from Monday) or months, and the offset a local
    time.

    >>> Tumbling("1 hour", offset="15 minutes").text()
    'tumbling 1 hour, offset 15 minutes'
    >>> Tumbling("1 day", zone="Europe/Berlin").text()
    'tumbling 1 day, Europe/Berlin time'
    """

    size: Length
    offset: timedelta
    zone: str | None

    def __init__(
        self, size: str | timedelta, *, offset: str | timedelta = "0 seconds", zone: str | None = None
    ) -> None:
        object.__setattr__(self, "zone", None if zone is None else time_zone(zone))
        object.__setattr__(self, "size", _length(size, zone, "the size of Tumbling"))
        object.__setattr__(self, "offset", _offset(offset, self.size, "Tumbling"))

    def text(self) -> str:
        """Return the window in words, for the plan."""
        return f"tumbling {_shown(self.size)}{_aligned(self.offset, self.zone)}"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"kind": "tumbling", **_grid(self.zone, self.offset, size=self.size)}


@dataclass(frozen=True, init=False)
class Hopping:
    """Windows of one size that begin every so often: an event is in several of them.

    >>> Hopping("5 minutes", every="1 minute").text()
    'hopping 5 minutes every 1 minute'
    """

    size: Length
    every: Length
    offset: timedelta
    zone: str | None

    def __init__(
        self,
        size: str | timedelta,
        *,
        every: str | timedelta,
        offset: str | timedelta = "0 seconds",
        zone: str | None = None,
    ) -> None:
        zone = None if zone is None else time_zone(zone)
        calendar_zone = zone or ("UTC" if is_months(size) or is_months(every) else None)
        object.__setattr__(self, "zone", zone)
        object.__setattr__(self, "size", _length(size, calendar_zone, "the size of Hopping"))
        object.__setattr__(self, "every", _length(every, calendar_zone, "every of Hopping"))
        object.__setattr__(self, "offset", _offset(offset, self.every, "Hopping"))
        whole, hop = _comparable(self.size, self.every, caller())
        if hop > whole:
            raise DeclarationError(
                f"a hop of {_shown(self.every)} is longer than the window, {_shown(self.size)}: "
                "events between two windows would be in none",
                where=caller(),
                cure="make every= at most the size, or filter what is not wanted",
            )

    def text(self) -> str:
        """Return the window in words, for the plan."""
        return f"hopping {_shown(self.size)} every {_shown(self.every)}{_aligned(self.offset, self.zone)}"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"kind": "hopping", **_grid(self.zone, self.offset, size=self.size, every=self.every)}


@dataclass(frozen=True, init=False)
class Cumulative:
    """Windows that begin together and end step by step: the day so far, every hour.

    >>> Cumulative("1 day", step="1 hour").text()
    'cumulative 1 day by 1 hour'
    """

    size: Length
    step: Length
    offset: timedelta
    zone: str | None

    def __init__(
        self,
        size: str | timedelta,
        *,
        step: str | timedelta,
        offset: str | timedelta = "0 seconds",
        zone: str | None = None,
    ) -> None:
        zone = None if zone is None else time_zone(zone)
        calendar_zone = zone or ("UTC" if is_months(size) or is_months(step) else None)
        object.__setattr__(self, "zone", zone)
        object.__setattr__(self, "size", _length(size, calendar_zone, "the size of Cumulative"))
        object.__setattr__(self, "step", _length(step, calendar_zone, "the step of Cumulative"))
        object.__setattr__(self, "offset", _offset(offset, self.size, "Cumulative"))
        whole, step_size = _comparable(self.size, self.step, caller())
        if step_size > whole or whole % step_size:
            raise DeclarationError(
                f"the size {_shown(self.size)} is not a multiple of the step, {_shown(self.step)}",
                where=caller(),
                cure="give a step that divides the size",
            )

    def text(self) -> str:
        """Return the window in words, for the plan."""
        return f"cumulative {_shown(self.size)} by {_shown(self.step)}{_aligned(self.offset, self.zone)}"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"kind": "cumulative", **_grid(self.zone, self.offset, size=self.size, step=self.step)}


@dataclass(frozen=True, init=False)
class Session:
    """The events of a key that are less than `gap` apart: ``[first, last + gap)``.

    Events that come late may merge two sessions into one.

    >>> Session("30 minutes").text()
    'sessions 30 minutes apart'
    """

    gap: timedelta

    def __init__(self, gap: str | timedelta) -> None:
        object.__setattr__(self, "gap", duration(gap, what="the gap of Session", positive=True))

    def text(self) -> str:
        """Return the window in words, for the plan."""
        return f"sessions {spell(self.gap)} apart"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"kind": "session", "gap": microseconds(self.gap)}


@dataclass(frozen=True, init=False)
class Sliding:
    """For every event the window that ends with it: ``(time - size, time]``.

    "More than three failed logins within ten minutes of each other" is a count over
    ``Sliding("10 minutes")``. It is the one window that has its end and not its start.

    >>> Sliding("10 minutes").text()
    'sliding 10 minutes'
    """

    size: timedelta

    def __init__(self, size: str | timedelta) -> None:
        object.__setattr__(self, "size", duration(size, what="the size of Sliding", positive=True))

    def text(self) -> str:
        """Return the window in words, for the plan."""
        return f"sliding {spell(self.size)}"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"kind": "sliding", "size": microseconds(self.size)}


@dataclass(frozen=True)
class Global:
    """One window for all of time, whose panes a trigger gives; its start and end are null.

    >>> Global().text()
    'global'
    """

    def text(self) -> str:
        """Return the window in words, for the plan."""
        return "global"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"kind": "global"}


@dataclass(frozen=True, init=False)
class Custom:
    """The window that each row states by itself: two expressions, or a function of the time that gives them.

    The function is called once, while declaring, with the recorded column of the event time. A row whose
    window has no start or end, or ends before it begins, is rejected.

    >>> Custom("opened", "closes").text()
    'custom'
    """

    start: Any
    end: Any
    function: Callable[[Any], tuple[Any, Any]] | None

    def __init__(self, start: Any, end: Any = None) -> None:
        function = start if end is None and callable(start) else None
        if function is None and end is None:
            raise DeclarationError(
                "Custom needs the start and the end of a row's window",
                where=caller(),
                cure='write Custom(F.col("opened"), F.col("closes")), or Custom(lambda time: (start, end))',
            )
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "start", None if function else start)
        object.__setattr__(self, "end", end)

    def text(self) -> str:
        """Return the window in words, for the plan."""
        return "custom"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"kind": "custom"}


Window = Tumbling | Hopping | Cumulative | Session | Sliding | Global | Custom
