"""Windows: which stretches of event time belong together."""

from dataclasses import dataclass
from datetime import timedelta

from headrace.declare.duration import duration, spell
from headrace.errors import DeclarationError, caller


@dataclass(frozen=True, init=False)
class Tumbling:
    """Windows of one size, one after the other: ``[start, end)``, aligned to 1970 UTC plus `offset`.

    >>> Tumbling("1 hour", offset="15 minutes").text()
    'tumbling 1 hour, offset 15 minutes'
    """

    size: timedelta
    offset: timedelta

    def __init__(self, size: str | timedelta, *, offset: str | timedelta = "0 seconds") -> None:
        object.__setattr__(self, "size", duration(size, what="the size of Tumbling", positive=True))
        object.__setattr__(self, "offset", duration(offset, what="the offset of Tumbling"))
        if self.offset >= self.size:
            raise DeclarationError(
                f"the offset {spell(self.offset)} is not shorter than the window, {spell(self.size)}",
                where=caller(),
                cure=f"the same windows have the offset {spell(self.offset % self.size)}",
            )

    def text(self) -> str:
        """Return the window in words, for the plan."""
        shifted = f", offset {spell(self.offset)}" if self.offset else ""
        return f"tumbling {spell(self.size)}{shifted}"
