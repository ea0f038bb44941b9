"""What is given up once a match is found: up to which event no other match may begin.

=================  ==============================================================================
strategy           matches that are given up
=================  ==============================================================================
NoSkip             none: every match is found
SkipToNext         those that begin with the same event
SkipPastLast       those that begin with one of its events, or between them
SkipToFirst        those that begin before the first event that a step took
SkipToLast         those that begin before the last event that a step took
=================  ==============================================================================

A match is then given when none can be found any more that begins before it.
"""

from dataclasses import dataclass
from typing import Any

from headrace.errors import DeclarationError


@dataclass(frozen=True)
class AfterMatch:
    """What is given up once a match is found."""

    def text(self) -> str:
        """Return the strategy as it is written."""
        return f"{type(self).__name__}()"

    @property
    def of(self) -> str | None:
        """The step that it goes by."""
        return None


@dataclass(frozen=True)
class NoSkip(AfterMatch):
    """Nothing is given up: every match is found."""


@dataclass(frozen=True)
class SkipToNext(AfterMatch):
    """Of the matches that begin with one event, only the first is given."""


@dataclass(frozen=True)
class SkipPastLast(AfterMatch):
    """The next match begins after the last event of this one."""


@dataclass(frozen=True)
class SkipToFirst(AfterMatch):
    """The next match does not begin before the first event that a step took in this one."""

    step: str

    @property
    def of(self) -> str:
        """The step."""
        return self.step

    def text(self) -> str:
        """Return the strategy as it is written."""
        return f'{type(self).__name__}("{self.step}")'


@dataclass(frozen=True)
class SkipToLast(SkipToFirst):
    """The next match does not begin before the last event that a step took in this one."""


def check_after_match(value: Any, steps: tuple[str, ...], where: str) -> AfterMatch:
    """Return the strategy, if it is one and its step is there."""
    if not isinstance(value, AfterMatch) or type(value) is AfterMatch:
        raise DeclarationError(
            f"after_match={value!r} is no such strategy",
            where=where,
            cure='write after_match=SkipPastLast(), or one of NoSkip(), SkipToNext(), SkipToFirst("step"), '
            'SkipToLast("step")',
        )
    if value.of is not None and value.of not in steps:
        raise DeclarationError(
            f"{value.text()}: the pattern has no step {value.of!r} that takes events",
            where=where,
            cure=f"its steps are {', '.join(steps)}",
        )
    return value
