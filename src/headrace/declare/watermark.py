"""Watermarks: how far event time has surely come, and what is taken as too late."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from headrace.declare.duration import duration, spell
from headrace.errors import DeclarationError, caller

_IDLE = "30 seconds"
_AHEAD = "10 minutes"


@dataclass(frozen=True, init=False)
class Bounded:
    """Events are at most `lag` out of order within their Kafka partition.

    The watermark of a partition is the greatest event time seen in it less `lag`; that of the source is
    the least over its partitions. A partition that is read to its end and silent for `idle` holds nothing
    up; one with unread rows always does. An event time further than `ahead` in front of the wall clock
    cannot be true: it moves no watermark, and its row leaves through ``.rejected``.

    >>> Bounded("5 seconds", idle="30 seconds").lag
    datetime.timedelta(seconds=5)
    """

    lag: timedelta
    idle: timedelta
    ahead: timedelta

    def __init__(
        self,
        lag: str | timedelta,
        *,
        idle: str | timedelta = _IDLE,
        ahead: str | timedelta = _AHEAD,
    ) -> None:
        object.__setattr__(self, "lag", duration(lag, what="the lag of Bounded"))
        object.__setattr__(self, "idle", duration(idle, what="idle of Bounded", positive=True))
        object.__setattr__(self, "ahead", duration(ahead, what="ahead of Bounded"))

    def text(self) -> str:
        """Return the watermark in words, for the plan."""
        return f"at most {spell(self.lag)} out of order, idle after {spell(self.idle)}"


@dataclass(frozen=True, init=False)
class Adaptive:
    """As :class:`Bounded`, with a lag that is learned from how late the rows of this source are.

    The lag is as long as it takes to leave no more than ``1 - completeness`` of the rows behind the watermark
    in the long run, and never longer than `at_most`; until enough rows were seen to know it
    (``20 / (1 - completeness)``) it is `at_most`. It follows longer lateness within a few epochs, shorter
    lateness after a while. What was learned is in the checkpoint. Rows that are left behind may be late:
    deliver ``.late`` to keep them.

    >>> Adaptive(completeness=0.99, at_most="2 minutes").text()
    '99% of the rows in time, learned, at most 2 minutes out of order, idle after 30 seconds'
    """

    completeness: float
    at_most: timedelta
    idle: timedelta
    ahead: timedelta

    def __init__(
        self,
        *,
        completeness: float = 0.999,
        at_most: str | timedelta | None = None,
        idle: str | timedelta = _IDLE,
        ahead: str | timedelta = _AHEAD,
    ) -> None:
        number: Any = completeness
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1:
            raise DeclarationError(
                f"completeness={completeness!r} is no share of the rows between 0 and 1",
                where=caller(),
                cure="write for example completeness=0.999; for all rows there are Bounded and Perfect",
            )
        if at_most is None:
            raise DeclarationError(
                "Adaptive has no at_most: the lag must have an end, and is at_most until it is learned",
                where=caller(),
                cure='write for example Adaptive(completeness=0.999, at_most="2 minutes")',
            )
        object.__setattr__(self, "completeness", float(completeness))
        object.__setattr__(self, "at_most", duration(at_most, what="at_most of Adaptive", positive=True))
        object.__setattr__(self, "idle", duration(idle, what="idle of Adaptive", positive=True))
        object.__setattr__(self, "ahead", duration(ahead, what="ahead of Adaptive"))

    def text(self) -> str:
        """Return the watermark in words, for the plan."""
        return (
            f"{_percent(self.completeness)} of the rows in time, learned, at most {spell(self.at_most)} "
            f"out of order, idle after {spell(self.idle)}"
        )


@dataclass(frozen=True, init=False)
class Perfect:
    """Each partition is in the order of event time: nothing is ever late.

    The watermark of a partition is the greatest event time seen in it; that of the source is the least over
    all of its partitions. None is ever idle: a partition that is silent, or empty, holds the source up.

    >>> Perfect().text()
    'in order within each partition, never idle'
    """

    ahead: timedelta

    def __init__(self, *, ahead: str | timedelta = _AHEAD) -> None:
        object.__setattr__(self, "ahead", duration(ahead, what="ahead of Perfect"))

    def text(self) -> str:
        """Return the watermark in words, for the plan."""
        return "in order within each partition, never idle"


@dataclass(frozen=True, init=False)
class Punctuated:
    """Marked rows say how far event time has come in their partition; no other row moves the watermark.

    `column` is a field of the record. A boolean one marks a row where it is true: all events up to this
    row's event time have arrived in this partition. The value of a datetime one is the watermark itself,
    and null marks nothing; one further than `ahead` in front of its row's event time is not believed. The
    source's watermark is the least over its partitions; with `idle`, those that are read to their end and
    were not marked for so long hold nothing up, without it every one must be marked.

    >>> Punctuated("complete_up_to").text()
    'what marked rows say in complete_up_to, never idle'
    """

    column: str
    idle: timedelta | None
    ahead: timedelta

    def __init__(
        self, column: str, *, idle: str | timedelta | None = None, ahead: str | timedelta = _AHEAD
    ) -> None:
        given: Any = column
        if not isinstance(given, str) or not given:
            raise DeclarationError(
                f"{column!r} is no name of a column",
                where=caller(),
                cure='name the field that marks rows: Punctuated("complete")',
            )
        object.__setattr__(self, "column", column)
        silent = None if idle is None else duration(idle, what="idle of Punctuated", positive=True)
        object.__setattr__(self, "idle", silent)
        object.__setattr__(self, "ahead", duration(ahead, what="ahead of Punctuated"))

    def text(self) -> str:
        """Return the watermark in words, for the plan."""
        idle = "never idle" if self.idle is None else f"idle after {spell(self.idle)}"
        return f"what marked rows say in {self.column}, {idle}"


@dataclass(frozen=True, init=False)
class ProcessingTime:
    """Event time is taken to be where the wall clock is less `lag`, whatever comes.

    The watermark moves in steps of `every`, and starts an epoch no more often than that. Windows close when
    their time is over, also when nothing comes; rows that have waited longer than `lag`, unread for instance
    while the pipeline was down, are late.

    >>> ProcessingTime(lag="5 seconds").text()
    'the wall clock less 5 seconds, every 1 second'
    """

    lag: timedelta
    every: timedelta

    def __init__(self, *, lag: str | timedelta = "0 seconds", every: str | timedelta = "1 second") -> None:
        object.__setattr__(self, "lag", duration(lag, what="the lag of ProcessingTime"))
        object.__setattr__(self, "every", duration(every, what="every of ProcessingTime", positive=True))

    @property
    def ahead(self) -> None:
        """There is no bound: event times do not move this watermark."""
        return

    def text(self) -> str:
        """Return the watermark in words, for the plan."""
        less = f" less {spell(self.lag)}" if self.lag else ""
        return f"the wall clock{less}, every {spell(self.every)}"


Watermark = Bounded | Adaptive | Perfect | Punctuated | ProcessingTime
"""How far event time has come, by one of these."""


def _percent(share: float) -> str:
    return f"{100 * share:.10g}%"
