"""Where things are kept: the user's cache, and the state of the local stack."""

import os
from pathlib import Path


def cache() -> Path:
    """Return the folder of what can be fetched or built anew at any time, one per user.

    ``HEADRACE_CACHE``, else ``$XDG_CACHE_HOME/headrace``, else ``~/.cache/headrace``.
    """
    if chosen := os.environ.get("HEADRACE_CACHE"):
        return Path(chosen).expanduser().absolute()
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".cache").absolute() / "headrace"


def state() -> Path:
    """Return the folder of what must survive between runs: the data of the local servers.

    ``HEADRACE_HOME``, else ``.headrace`` in the working directory: two projects (or two clones of one) have
    two stacks that know nothing of each other.
    """
    if chosen := os.environ.get("HEADRACE_HOME"):
        return Path(chosen).expanduser().absolute()
    return Path.cwd() / ".headrace"
