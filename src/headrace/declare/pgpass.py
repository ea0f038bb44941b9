"""Passwords of PostgreSQL servers, found as its own clients do: in $PGPASSWORD, or in the user's file."""

import os
import re
from pathlib import Path

_FIELD = re.compile(r"((?:\\.|[^:\\])*)(?::|$)")


def password(host: str, port: int, database: str, user: str) -> str | None:
    """Return the password that the environment has for a server; None if it has none."""
    given = os.environ.get("PGPASSWORD")
    if given:
        return given
    file = Path(os.environ.get("PGPASSFILE") or "~/.pgpass").expanduser()
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        # Having none is how it mostly is; a server that wants a password says so.
        return None
    wanted = (host, str(port), database, user)
    for line in lines:
        fields = [re.sub(r"\\(.)", r"\1", each) for each in _FIELD.findall(line)]
        if line.startswith("#") or len(fields) <= len(wanted):
            continue
        if all(told in {"*", each} for told, each in zip(fields, wanted, strict=False)):
            return fields[len(wanted)]
    return None
