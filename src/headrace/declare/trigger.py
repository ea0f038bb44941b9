"""Triggers: when a window gives a pane, and what the pane holds.

A pane is *early* before its window is complete, *on_time* when the watermark has reached its end, *late*
after that. A trigger says by ``spec()`` what the kernel is told.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, get_args

from headrace.declare.duration import duration, microseconds, spell
from headrace.errors import DeclarationError, caller

Accumulate = Literal["accumulating", "discarding", "retracting"]

ACCUMULATE: tuple[Accumulate, ...] = get_args(Accumulate)
_MOMENTS = 7


@dataclass(frozen=True, init=False)
class Every:
    """Whenever the wall clock passes a multiple of `interval`, if there are rows that no pane has shown.

    >>> Every("10 seconds").text()
    'every 10 seconds'
    """

    interval: timedelta

    def __init__(self, interval: str | timedelta) -> None:
        object.__setattr__(self, "interval", duration(interval, what="the interval of Every", positive=True))
        if self.interval < timedelta(milliseconds=1):
            raise DeclarationError(
                f"Every({spell(self.interval)}) is finer than a clock shows",
                where=caller(),
                cure="give at least a millisecond",
            )

    def text(self) -> str:
        """Return it in words."""
        return f"every {spell(self.interval)}"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"every": microseconds(self.interval)}


@dataclass(frozen=True)
class AfterCount:
    """When so many rows have come since the last pane; looked at once an epoch.

    >>> AfterCount(100).text()
    'after 100 rows'
    """

    rows: int

    def __post_init__(self) -> None:
        rows: Any = self.rows
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise DeclarationError(
                f"AfterCount takes a number of rows, not {self.rows!r}",
                where=caller(),
                cure="write AfterCount(100)",
            )

    def text(self) -> str:
        """Return it in words."""
        return f"after {self.rows} row{'' if self.rows == 1 else 's'}"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"count": self.rows}


@dataclass(frozen=True, init=False)
class AfterAny:
    """When any of several conditions is due.

    >>> AfterAny(AfterCount(100), Every("10 seconds")).text()
    'after 100 rows or every 10 seconds'
    """

    conditions: tuple["Condition", ...]

    def __init__(self, *conditions: "Condition") -> None:
        object.__setattr__(self, "conditions", _several(conditions, "AfterAny"))

    def text(self) -> str:
        """Return it in words."""
        return " or ".join(_inner(each) for each in self.conditions)

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"any": [each.spec() for each in self.conditions]}


@dataclass(frozen=True, init=False)
class AfterAll:
    """When all of several conditions have been due since the last pane.

    >>> AfterAll(AfterCount(100), Every("10 seconds")).text()
    'after 100 rows and every 10 seconds'
    """

    conditions: tuple["Condition", ...]

    def __init__(self, *conditions: "Condition") -> None:
        object.__setattr__(self, "conditions", _several(conditions, "AfterAll"))

    def text(self) -> str:
        """Return it in words."""
        return " and ".join(_inner(each) for each in self.conditions)

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"all": [each.spec() for each in self.conditions]}


Condition = Every | AfterCount | AfterAny | AfterAll


@dataclass(frozen=True)
class AtWatermark:
    """When the watermark reaches the window's end; before that by `early`, after it by `late`.

    >>> AtWatermark(early=Every("10 seconds")).text()
    'at the watermark, early every 10 seconds'
    """

    early: Condition | None = None
    late: Condition = field(default_factory=lambda: AfterCount(1))

    def __post_init__(self) -> None:
        for name, given in (("early", self.early), ("late", self.late)):
            if not (given is None and name == "early") and not isinstance(given, Condition):
                raise _no_condition(given, f"{name}=")
        _check_moments(self)

    def text(self) -> str:
        """Return it in words."""
        early = f", early {self.early.text()}" if self.early else ""
        late = f", late {self.late.text()}" if self.late != AfterCount(1) else ""
        return f"at the watermark{early}{late}"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        early = self.early.spec() if self.early else None
        return {"kind": "at_watermark", "early": early, "late": self.late.spec()}


@dataclass(frozen=True)
class Final:
    """Once, when nothing can change the window any more: at its end plus the lateness.

    >>> Final().text()
    'once, when final'
    """

    def text(self) -> str:
        """Return it in words."""
        return "once, when final"

    def spec(self) -> dict[str, Any]:
        """Return what the kernel is told."""
        return {"kind": "final"}


Trigger = AtWatermark | Final | Condition


def trigger_spec(trigger: Trigger) -> dict[str, Any]:
    """Return what the kernel is told of a trigger; a condition alone is one too."""
    return (
        trigger.spec()
        if isinstance(trigger, AtWatermark | Final)
        else {"kind": "when", "due": trigger.spec()}
    )


def check_trigger(trigger: Any, where: str) -> Trigger:
    """Return the trigger, or refuse what is none."""
    if not isinstance(trigger, Trigger):
        raise DeclarationError(
            f"{trigger!r} is no trigger",
            where=where,
            cure='write AtWatermark(early=Every("10 seconds")), Final() or AfterCount(100)',
        )
    _check_moments(trigger)
    return trigger


def check_accumulate(accumulate: Any, where: str) -> Accumulate:
    """Return the mode of accumulation, or refuse what is none."""
    if accumulate not in ACCUMULATE:
        raise DeclarationError(
            f"accumulate={accumulate!r} is no mode",
            where=where,
            cure=f"choose one of {', '.join(ACCUMULATE)}",
        )
    mode: Accumulate = accumulate
    return mode


def moments(trigger: Trigger) -> tuple[timedelta, ...]:
    """Return the intervals of the wall clock that a trigger goes by."""
    if isinstance(trigger, Every):
        return (trigger.interval,)
    if isinstance(trigger, AfterAny | AfterAll):
        return tuple(each for part in trigger.conditions for each in moments(part))
    if isinstance(trigger, AtWatermark):
        early = moments(trigger.early) if trigger.early else ()
        return (*early, *moments(trigger.late))
    return ()


def _several(conditions: tuple[Any, ...], what: str) -> tuple[Condition, ...]:
    if len(conditions) < 2:  # noqa: PLR2004 - several are two or more
        raise DeclarationError(
            f"{what} takes two conditions or more",
            where=caller(),
            cure=f"write {what}(AfterCount(100), Every(...))",
        )
    for each in conditions:
        if not isinstance(each, Condition):
            raise _no_condition(each, what)
    return conditions


def _no_condition(given: Any, what: str) -> DeclarationError:
    return DeclarationError(
        f"{what} takes Every, AfterCount, AfterAny or AfterAll, not {given!r}",
        where=caller(),
        cure='write for example Every("10 seconds") or AfterCount(100)',
    )


def _check_moments(trigger: Trigger) -> None:
    if len(moments(trigger)) > _MOMENTS:
        raise DeclarationError(
            f"a trigger has at most {_MOMENTS} intervals", where=caller(), cure="leave some of them out"
        )


def _inner(condition: Condition) -> str:
    several = isinstance(condition, AfterAny | AfterAll)
    return f"({condition.text()})" if several else condition.text()
