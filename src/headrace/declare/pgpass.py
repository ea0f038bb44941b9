"""Passwords of PostgreSQL servers, found as its own clients do: in $PGPASSWORD, or in the user's file."""

import os
import re
import shlex
import stat
from pathlib import Path

from headrace.errors import SettingsError

_FIELD = re.compile(r"((?:\\.|[^:\\])*)(?::|$)")


def password(host: str, port: int, database: str, user: str) -> str | None:
    """Return the password that the environment has for a server; None if it has none.

    A file that others may read is refused if the password is in it.
    """
    given = os.environ.get("PGPASSWORD")
    if given:
        return given
    try:
        file = Path(os.environ.get("PGPASSFILE") or "~/.pgpass").expanduser()
        mode = file.stat().st_mode
        # As to PostgreSQL's own clients, what is no plain file is none: a pipe would be waited for.
        lines = file.read_bytes().splitlines() if stat.S_ISREG(mode) else []
    except (OSError, RuntimeError):
        # Having none is how it mostly is, also for want of a home; a server that wants a password says so.
        return None
    found = _find(lines, host, port, database, user)
    if found is not None and os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(
            f"{file} has the password of {user} on {host}, and others than its owner may read or change it",
            cure=f"chmod 600 {shlex.quote(str(file))}",
        )
    return found


def _find(lines: list[bytes], host: str, port: int, database: str, user: str) -> str | None:
    wanted = (host, str(port), database, user)
    for each_line in lines:
        try:
            line = each_line.decode("utf-8")
        except UnicodeDecodeError:
            # Comments and other servers' lines may be anything; a password is sent as UTF-8 by both drivers.
            continue
        fields = [re.sub(r"\\(.)", r"\1", each) for each in _FIELD.findall(line)]
        if line.startswith("#") or len(fields) <= len(wanted):
            continue
        if all(told in {"*", each} for told, each in zip(fields, wanted, strict=False)):
            return fields[len(wanted)]
    return None
