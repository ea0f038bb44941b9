"""The "did you mean" of an unknown name."""

import difflib
from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` was most likely meant to be."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str], *, what: str) -> str:
    """Return a cure: the likeliest of the known names, and all of them when they are few.

    >>> did_you_mean("amuont", ["id", "amount"], what="columns")
    'did you mean "amount"? The columns are id, amount'
    """
    names = list(known)
    likely = closest(name, names)
    question = f'did you mean "{likely}"?' if likely else ""
    listing = ""
    if 0 < len(names) <= _LISTED:
        listing = f"The {what} are {', '.join(names)}"
    elif not names:
        listing = f"There are no {what}"
    return " ".join(part for part in (question, listing) if part) or f"choose one of the {what}"


_LISTED = 30
