"""Addresses of PostgreSQL databases; a password that is in one, or in the environment, is never shown."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from headrace.declare.pgpass import password
from headrace.errors import SettingsError

SHAPE = "postgresql://user@host:port/database"
_SCHEMES = ("postgresql", "postgres")
_PORT = 5432
_NO_OPTIONS = ("user", "password")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Address:
    """A database of a PostgreSQL server, who asks, and the options that followed a `?`.

    Without a user of its own it is PGUSER, else who runs this; without a password of its own that of the
    environment counts: PGPASSWORD, the file that PGPASSFILE names, or ~/.pgpass.
    """

    host: str
    port: int
    database: str
    user: str | None
    # Passwords may be among them, too: that of a key, for example.
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Return it as people are told, without the password."""
        return self.place().replace("//", f"//{quote(self.user, safe='')}@", 1) if self.user else self.place()

    def place(self) -> str:
        """Return the server and the database, without who asks."""
        return f"postgresql://{_bracketed(self.host)}:{self.port}/{quote(self.database, safe='')}"

    def jdbc(self) -> str:
        """Return what the JVM's driver calls it."""
        return f"jdbc:{self.place()}"

    def properties(self) -> dict[str, str]:
        """Return user, password and options, by names that Python's driver and the JVM's both know.

        Each driver would look for a user and a password itself where none is given: the JVM's on the machine
        of an executor, and without PGUSER. So they are found here, once.
        """
        user = self._asks()
        secret = self.password or password(self.host, self.port, self.database, user)
        return {**dict(self.options), "user": user, **({"password": secret} if secret else {})}

    def _asks(self) -> str:
        named = self.user or os.environ.get("PGUSER")
        if named:
            return named
        try:
            return getpass.getuser()
        except (ImportError, KeyError, OSError):
            raise SettingsError(
                f"the address {self} names no user, and this machine has no name for who runs this",
                cure="name the user in the address (postgresql://user@…), or in $PGUSER",
            ) from None


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
    # An @ behind the host says that what looks like a host, a port and a database is a piece of a password.
    if not whole or parts.fragment or "@" in parts.path + parts.query:
        raise ValueError(SHAPE)
    if any(name.lower() in _NO_OPTIONS for name, _ in options):
        raise ValueError(f"{SHAPE}, with no {' or '.join(_NO_OPTIONS)} among the options")
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
