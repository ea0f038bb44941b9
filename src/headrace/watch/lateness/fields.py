"""The columns that refused rows do have: for the error that says which one was meant."""

from __future__ import annotations

from typing import Any

from headrace.declare.suggestion import closest
from headrace.errors import SettingsError
from headrace.watch.lateness.event_time import Refused, at_path, micros, parsed
from headrace.watch.lateness.measurement import Measurement

_LOOKED_AT = 100
_DEEPEST = 4
_LISTED = 20
_EXCERPT = 40


class Fields:
    """What stands in the first rows whose event time was refused."""

    def __init__(self) -> None:
        self.columns: dict[str, None] = {}
        self.times: dict[str, None] = {}
        self.example: str | None = None
        self._looked = 0

    def look(self, value: bytes | None, path: tuple[str, ...]) -> None:
        """Look at a row, unless enough have been looked at."""
        if self._looked == _LOOKED_AT:
            return
        self._looked += 1
        message = parsed(value)
        if isinstance(message, Refused):
            return
        found = at_path(message, path)
        if found is not None and self.example is None:
            self.example = _excerpt(found)
        self._columns(message, "", _DEEPEST)

    def _columns(self, message: dict[str, Any], prefix: str, deeper: int) -> None:
        for name, value in message.items():
            column = f"{prefix}{name}"
            if isinstance(value, dict) and deeper:
                self._columns(value, f"{column}.", deeper - 1)
                continue
            self.columns[column] = None
            if isinstance(value, str) and micros(value) is not None:
                self.times[column] = None

    def nothing_measured(self, topic: str, column: str, measurement: Measurement) -> SettingsError:
        """Return the error of a topic in which no row has an event time that counts."""
        refused = measurement.refused
        why = max(Refused, key=lambda each: refused[each])
        rows = f"all {measurement.rows:,} rows"
        if refused[Refused.FUTURE]:
            return SettingsError(
                f"the topic {topic!r} has no row whose {column} can be true: "
                f"{refused[Refused.FUTURE]:,} lie over 10 minutes ahead of the clock",
                cure="check the clock of this machine, and of the producers",
            )
        if refused[Refused.NO_TIME]:
            return SettingsError(
                f"{column} holds a time in no row of {topic!r}: the first is {self.example}",
                cure=self._cure(column)
                or 'times are ISO-8601 text, such as "2026-01-31T12:30:15.123Z"; numbers are not read: '
                "nobody can tell seconds from milliseconds",
            )
        if refused[Refused.MISSING]:
            listed = ", ".join([*self.columns][:_LISTED])
            return SettingsError(
                f"no row of {topic!r} has a column {column}",
                cure=self._cure(column)
                or f"the columns are {listed or 'none'}; none of them holds ISO-8601 times",
            )
        what = "tombstones" if why is Refused.TOMBSTONE else "no JSON objects"
        return SettingsError(
            f"{rows} of {topic!r} are {what}", cure="name a topic whose values are JSON objects with a time"
        )

    def _cure(self, column: str) -> str:
        """Name the columns that hold times."""
        if not self.times:
            return ""
        likely = closest(column, self.times)
        question = f'did you mean "{likely}"? ' if likely else ""
        return f"{question}columns that hold times: {', '.join([*self.times][:_LISTED])}"


def _excerpt(value: Any) -> str:
    text = repr(value)
    kind = {"str": "a text", "int": "a number", "float": "a number", "bool": "true or false"}.get(
        type(value).__name__, "no text"
    )
    return f"{text if len(text) <= _EXCERPT else text[:_EXCERPT] + '…'} ({kind})"
