"""Connections to PostgreSQL databases, and the one sentence that says why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace.declare import postgres
from headrace.declare.postgres import SHAPE, Address
from headrace.errors import RunError

if TYPE_CHECKING:
    import psycopg

_OPTIONS = ("sslmode", "sslrootcert")
"""What may stand after the `?`: both drivers, Python's and the JVM's, know these by the same names."""


def parse(text: str) -> Address:
    """Read an address that both drivers are to understand; a ValueError says what one looks like."""
    address = postgres.parse(text)
    if any(name not in _OPTIONS for name, _ in address.options):
        raise ValueError(f"{SHAPE}, with no other options than {' and '.join(_OPTIONS)}")
    return address


def connect(address: Address, purpose: str, **options: Any) -> psycopg.Connection[tuple[Any, ...]]:
    """Connect; `purpose` begins the sentence that says why not, such as ``the views``."""
    import psycopg

    options |= address.properties()
    try:
        return psycopg.connect(
            host=address.host,
            port=address.port,
            dbname=address.database,
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
        raise RunError(f"{purpose} in {address} cannot be reached: {reason}", cure=cure) from None


def for_jvm(address: Address, purpose: str) -> Mapping[str, str]:
    """Return how the JVM's driver connects, once it is seen that one can."""
    connect(address, purpose).close()
    return {"url": address.jdbc(), **address.properties()}
