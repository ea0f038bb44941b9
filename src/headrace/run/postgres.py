"""The address of a PostgreSQL database, as a setting has it; its password is never shown."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.errors import RunError

if TYPE_CHECKING:
    import psycopg

SCHEMES = ("postgresql", "postgres")
SHAPE = "postgresql://user@host:port/database"
_PORT = 5432
_OPTIONS = ("sslmode", "sslrootcert")
"""What may stand after the `?`: both drivers, Python's and the JVM's, know these by the same names."""


@dataclass(frozen=True)
class Address:
    """A database of a PostgreSQL server, and who asks.

    The password is that of the address, or the environment's: PGPASSWORD, the file that PGPASSFILE names, or
    ~/.pgpass.
    """

    host: str
    port: int
    database: str
    user: str | None
    options: tuple[tuple[str, str], ...] = ()
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Return it as people are told, without the password."""
        user = f"{urllib.parse.quote(self.user, safe='')}@" if self.user else ""
        return f"postgresql://{user}{_bracketed(self.host)}:{self.port}/{urllib.parse.quote(self.database)}"

    def connect(self, purpose: str, **options: Any) -> psycopg.Connection[tuple[Any, ...]]:
        """Connect; `purpose` begins the sentence that says why not, such as ``the views``."""
        import psycopg

        given = {"user": self.user, "password": self.password, **dict(self.options)}
        options |= {name: value for name, value in given.items() if value is not None}
        try:
            return psycopg.connect(
                host=self.host,
                port=self.port,
                dbname=self.database,
                application_name="headrace",
                connect_timeout=10,
                **options,
            )
        except psycopg.OperationalError as failure:
            reason = " ".join(str(failure).split())
            cure = "start that server, or correct the address"
            if "password" in reason:
                cure = "put the password into PGPASSWORD, or into a file that PGPASSFILE names"
            # The cause is not chained: it may hold what it was called with.
            raise RunError(f"{purpose} in {self} cannot be reached: {reason}", cure=cure) from None

    def for_jvm(self, purpose: str) -> Mapping[str, str]:
        """Return how the JVM's driver connects, with the user and password that the environment has."""
        with self.connect(purpose) as connection:
            found = connection.info
            known = found.get_parameters()
            chosen = {name: known[name] for name in _OPTIONS if name in known}
            secret = {"password": found.password} if found.password else {}
            place = f"{_bracketed(self.host)}:{self.port}/{urllib.parse.quote(self.database)}"
            return {"url": f"jdbc:postgresql://{place}", "user": found.user, **secret, **chosen}


def is_address(place: str) -> bool:
    """Tell whether a place is meant as the address of a PostgreSQL."""
    return place.partition("://")[0] in SCHEMES and "://" in place


def parse(place: str) -> Address:
    """Read an address; a ValueError says what one looks like and does not quote it, for its password."""
    try:
        parts = urllib.parse.urlsplit(place)
        port = parts.port or _PORT
        options = urllib.parse.parse_qsl(parts.query, strict_parsing=True) if parts.query else []
    except ValueError:
        raise ValueError(SHAPE) from None
    database = urllib.parse.unquote(parts.path.removeprefix("/"))
    if not parts.hostname or not database or "/" in database or parts.fragment:
        raise ValueError(SHAPE)
    for name, _ in options:
        if name not in _OPTIONS:
            raise ValueError(f"{SHAPE}, with no other options than {' and '.join(_OPTIONS)}")
    return Address(
        parts.hostname,
        port,
        database,
        None if parts.username is None else urllib.parse.unquote(parts.username),
        tuple(options),
        None if parts.password is None else urllib.parse.unquote(parts.password),
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
