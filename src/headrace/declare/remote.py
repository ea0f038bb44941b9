"""Remote tables: what is not streamed, and asked for row by row where it is."""

import os
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from headrace.declare.datatype import DataType, DecimalNumber, Field, Scalar
from headrace.declare.naming import matches
from headrace.declare.pgpass import password
from headrace.declare.record import RecordSchema, schema_of
from headrace.errors import DeclarationError, SettingsError, caller

_SHOWN = (
    'write for example "postgresql://reader@db.example.com:5432/crm"; the password comes from $PGPASSWORD'
)
_PORT = 5432
_TABLE = re.compile(r"[^.]+(\.[^.]+)?")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, init=False)
class PostgresTable:
    """A table in a PostgreSQL whose rows are looked up; its columns are the fields of a record.

    ::

        customers = PostgresTable("postgresql://reader@db/crm", "sales.customers", Customer)

    `${NAME}` in the address is the environment's value at the start, so that no secret stands in a file;
    a password that is not in the address comes from $PGPASSWORD, else from the file that $PGPASSFILE names.
    What follows `?` are options of the JDBC driver, such as `sslmode=verify-full`. A field is read from a
    column of its own name: text, varchar, uuid and enums as `str`, whole numbers as `int`, real and double
    as `float`, numeric as `Decimal`, timestamptz as `datetime`, date, bytea and boolean as what they are.
    """

    # A password may be in there.
    url: str = field(repr=False)
    table: str
    record: type
    where: str = field(compare=False, repr=False)

    def __init__(self, url: str, table: str, record: type) -> None:
        where = caller()
        for attribute, value in {"url": url, "table": table, "record": record, "where": where}.items():
            object.__setattr__(self, attribute, value)
        if not matches(_TABLE, table):
            raise DeclarationError(
                f"{table!r} is no name of a table", where=where, cure='write "customers" or "sales.customers"'
            )
        if schema_of(record) is None:
            raise DeclarationError(
                f'PostgresTable(..., "{table}"): {getattr(record, "__name__", repr(record))} is no record',
                where=where,
                cure="give a class with @record, which has the table's columns that are needed",
            )
        _check_address(url, where)
        for each in self.schema.fields:
            _check_field(each, self, where)

    @property
    def schema(self) -> RecordSchema:
        """The columns that are read."""
        schema = schema_of(self.record)
        assert schema is not None  # noqa: S101 - it was looked at when this was made
        return schema

    def place(self) -> str:
        """Return the server and the database, without user and password."""
        parts = urlsplit(self.url)
        return f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def connection(self, *, starting: bool) -> dict[str, Any]:
        """Return where to connect, and how; secrets are in there, `starting` says that they are needed."""
        parts = urlsplit(_VARIABLE.sub(lambda found: self._variable(found[1], starting=starting), self.url))
        _check_address(parts.geturl(), self.where)
        host, port, database = str(parts.hostname), parts.port or _PORT, unquote(parts.path[1:])
        user = unquote(parts.username or "") or os.environ.get("PGUSER", "")
        secret = unquote(parts.password) if parts.password else password(host, port, database, user)
        options = dict(parse_qsl(parts.query))
        options |= {name: value for name, value in (("user", user), ("password", secret)) if value}
        bracketed = f"[{host}]" if ":" in host else host
        return {
            "url": f"jdbc:postgresql://{bracketed}:{port}/{quote(database, safe='')}",
            "place": self.place(),
            "options": {**_ALWAYS, **options},
        }

    def _variable(self, name: str, *, starting: bool) -> str:
        value = os.environ.get(name)
        if value is None and starting:
            raise SettingsError(
                f"the environment has no variable {name}, which the address of {self.table!r} names",
                where=self.where,
                cure=f"export {name}=…",
            )
        # In a password, a @ or a / would end it.
        return quote(value, safe="") if value is not None else name


_ALWAYS = {
    "ApplicationName": "headrace",
    "readOnly": "true",
    "connectTimeout": "10",
    "socketTimeout": "30",
    "tcpKeepAlive": "true",
}
"""Options of the connection, unless the address has its own: nothing may hang for ever."""


def _check_address(url: Any, where: str) -> None:
    # It is not shown: a password may be in there, most of all where it is not as it should be.
    try:
        parts = urlsplit(_VARIABLE.sub("1", url))
        good = parts.scheme in {"postgresql", "postgres"} and parts.hostname and len(parts.path) > 1
        _ = parts.port
    except (TypeError, ValueError, AttributeError):
        good = False
    if not good:
        raise DeclarationError(
            "the address of a PostgresTable is not of the form postgresql://user@host:port/database",
            where=where,
            cure=_SHOWN,
        )


def _check_field(each: Field, table: PostgresTable, where: str) -> None:
    if not is_plain(each.type):
        raise DeclarationError(
            f"{table.schema.name}.{each.name} is {each.type.ddl()}, and only plain values are looked up",
            where=where,
            cure="look up a view that has its parts as columns, or has it as text: str",
        )


def is_plain(kind: DataType) -> bool:
    """Tell whether a value has no parts."""
    return isinstance(kind, Scalar | DecimalNumber)
