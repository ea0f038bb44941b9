"""Whether a name given by the user has the form that it must have."""

import re


def matches(pattern: re.Pattern[str], name: object) -> bool:
    """Whether a name is a string that the pattern allows."""
    return isinstance(name, str) and pattern.fullmatch(name) is not None
