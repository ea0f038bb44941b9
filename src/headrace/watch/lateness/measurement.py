"""The measurement: how late each row of a partition comes after the newest one before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from headrace.watch.lateness.event_time import Refused
from headrace.watch.lateness.lags import Lags, together

# As `ahead` of a watermark: what is further in front of the wall clock cannot be true.
AHEAD = 10 * 60 * 1_000_000


@dataclass
class Partition:
    """What the rows of one partition have shown, taken in the order of their offsets.

    The lateness of a row is what its event time is behind the greatest one before it, 0 when it is not. The
    two halves of what is read are kept apart, to be compared.
    """

    number: int
    halves: tuple[Lags, Lags] = field(default_factory=lambda: (Lags(), Lags()))
    refused: Counter[Refused] = field(default_factory=Counter)
    first_refused: dict[Refused, int] = field(default_factory=dict)
    highest: int | None = None

    def take(self, found: int | Refused, *, offset: int, half: int, now: int) -> None:
        """Take the next row: its event time in microseconds since 1970, or why it has none."""
        if isinstance(found, Refused):
            self._refuse(found, offset)
        elif found - now > AHEAD:
            self._refuse(Refused.FUTURE, offset)
        elif self.highest is None or found >= self.highest:
            self.highest = found
            self.halves[half].add(0)
        else:
            self.halves[half].add(self.highest - found)

    def _refuse(self, why: Refused, offset: int) -> None:
        self.refused[why] += 1
        self.first_refused.setdefault(why, offset)

    @property
    def lags(self) -> Lags:
        """The lags of all its rows."""
        return together(self.halves)

    @property
    def rows(self) -> int:
        """All rows that were read, with and without an event time."""
        return sum(half.rows for half in self.halves) + self.refused.total()


@dataclass(frozen=True)
class Measurement:
    """What all partitions of a topic have shown."""

    partitions: tuple[Partition, ...]

    @classmethod
    def of(cls, partitions: Iterable[Partition]) -> Measurement:
        return cls(tuple(sorted(partitions, key=lambda each: each.number)))

    @property
    def lags(self) -> Lags:
        """The lags of all rows."""
        return together(half for each in self.partitions for half in each.halves)

    @property
    def halves(self) -> tuple[Lags, Lags]:
        """The lags of the first and of the second half."""
        first, second = (together(each.halves[half] for each in self.partitions) for half in (0, 1))
        return first, second

    @property
    def rows(self) -> int:
        """All rows that were read."""
        return sum(each.rows for each in self.partitions)

    @property
    def refused(self) -> Counter[Refused]:
        """How many rows have no event time, by kind."""
        return sum((each.refused for each in self.partitions), Counter[Refused]())

    def first_refused(self, why: Refused) -> tuple[int, int] | None:
        """Return partition and offset of the first such row."""
        found = [(each.number, each.first_refused[why]) for each in self.partitions if why in each.refused]
        return found[0] if found else None
