"""Watermarks: how far event time has surely come, and what is taken as too late."""

from dataclasses import dataclass
from datetime import timedelta

from headrace.declare.duration import duration, spell


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
        idle: str | timedelta = "30 seconds",
        ahead: str | timedelta = "10 minutes",
    ) -> None:
        object.__setattr__(self, "lag", duration(lag, what="the lag of Bounded"))
        object.__setattr__(self, "idle", duration(idle, what="idle of Bounded", positive=True))
        object.__setattr__(self, "ahead", duration(ahead, what="ahead of Bounded"))

    def text(self) -> str:
        """Return the watermark in words, for the plan."""
        return f"at most {spell(self.lag)} out of order, idle after {spell(self.idle)}"
