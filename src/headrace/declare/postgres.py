"""Addresses of PostgreSQL databases; a password that is in one, or in the environment, is never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from headrace.declare.pgpass import password

SHAPE = "postgresql://user@host:port/database"
_SCHEMES = ("postgresql", "postgres")
_PORT = 5432
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Address:
    """A database of a PostgreSQL server, who asks, and the options that followed a `?`.

    Without a password of its own that of the environment counts: PGPASSWORD, the file that PGPASSFILE names,
    or ~/.pgpass.
    """

    host: str
    port: int
    database: str
    user: str | None
    options: tuple[tuple[str, str], ...] = ()
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Return it as people are told, without the password."""
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        return f"postgresql://{user}{_bracketed(self.host)}:{self.port}/{quote(self.database, safe='')}"

    def jdbc(self) -> str:
        """Return what the JVM's driver calls it."""
        return f"jdbc:postgresql://{_bracketed(self.host)}:{self.port}/{quote(self.database, safe='')}"

    def properties(self) -> dict[str, str]:
        """Return user, password and options for the JVM's driver, which does not look for any itself."""
        user = self.user or os.environ.get("PGUSER", "")
        secret = self.password or password(self.host, self.port, self.database, user)
        named = {"user": user, "password": secret}
        return {**dict(self.options), **{name: value for name, value in named.items() if value}}


def is_address(text: str) -> bool:
    """Tell whether a text is meant as the address of a PostgreSQL."""
    return text.partition("://")[0] in _SCHEMES and "://" in text


def parse(text: Any, variable: Callable[[str], str] | None = None) -> Address:
    """Read an address; a ValueError says what one looks like and does not quote it, for its password.

    `${NAME}` in it is what `variable` says of the name, else it stays.
    """
    try:
        if variable is not None:
            # In a password, a @ or a / would end it.
            text = _VARIABLE.sub(lambda each: quote(variable(each[1]), safe=""), text)
        parts = urlsplit(text)
        port = parts.port or _PORT
        options = parse_qsl(parts.query, strict_parsing=True) if parts.query else []
    except (TypeError, ValueError, AttributeError):
        raise ValueError(SHAPE) from None
    database = unquote(parts.path.removeprefix("/"))
    whole = parts.scheme in _SCHEMES and parts.hostname and database and "/" not in parts.path[1:]
    if not whole or parts.fragment:
        raise ValueError(SHAPE)
    return Address(
        str(parts.hostname),
        port,
        database,
        unquote(parts.username) if parts.username else None,
        tuple(options),
        unquote(parts.password) if parts.password else None,
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
