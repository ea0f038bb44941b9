"""Remote tables: what is not streamed, and asked for row by row where it is."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from headrace.declare import postgres
from headrace.declare.datatype import DataType, DecimalNumber, Field, Scalar
from headrace.declare.naming import matches
from headrace.declare.postgres import Address
from headrace.declare.record import RecordSchema, schema_of
from headrace.errors import DeclarationError, SettingsError, caller

_SHOWN = (
    'write for example "postgresql://reader@db.example.com:5432/crm"; the password comes from $PGPASSWORD'
)
_PORT = re.compile(r":\$\{(\w+)\}(?=/)")
_TABLE = re.compile(r"[^.]+(\.[^.]+)?")


@dataclass(frozen=True, init=False)
class PostgresTable:
    """A table in a PostgreSQL whose rows are looked up; its columns are the fields of a record.

    ::

        customers = PostgresTable("postgresql://reader@db/crm", "sales.customers", Customer)

    `${NAME}` in the address is the environment's value at the start, so that no secret stands in a file.
    A user that is not in the address is $PGUSER, else who runs this; a password that is not in it comes
    from $PGPASSWORD, else from the file that $PGPASSFILE names. What follows `?` are options of the JDBC
    driver, such as `sslmode=verify-full`; an @ in there is written %40. A field is read from a
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
        _address(url, where, lambda _: "1")
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
        return self._found(starting=False).place()

    def connection(self, *, starting: bool) -> dict[str, Any]:
        """Return where to connect, and how; secrets are in there, `starting` says that they are needed."""
        address = self._found(starting=starting)
        options = {**_USUAL, **address.properties(), **_FORCED}
        # Of several -c of one name the last counts.
        options["options"] = f"{_LIMIT} {dict(address.options).get('options', '')}".rstrip()
        return {"url": address.jdbc(), "place": address.place(), "options": options}

    def _found(self, *, starting: bool) -> Address:
        def unknown(port: re.Match[str]) -> str:
            return port[0] if starting or port[1] in os.environ else ""

        # Plans are made without the environment's values; only of a port the name is none.
        url = _PORT.sub(unknown, self.url)
        return _address(url, self.where, lambda name: self._variable(name, starting=starting))

    def _variable(self, name: str, *, starting: bool) -> str:
        value = os.environ.get(name)
        if value is None and starting:
            raise SettingsError(
                f"the environment has no variable {name}, which the address of {self.table!r} names",
                where=self.where,
                cure=f"export {name}=…",
            )
        return name if value is None else value


_USUAL = {
    "ApplicationName": "headrace",
    "readOnly": "true",
    "connectTimeout": "10",
    "socketTimeout": "30",
    "tcpKeepAlive": "true",
}
"""Options of the connection, unless the address has its own: nothing may hang for ever."""

_LIMIT = "-c statement_timeout=25000"
"""Below socketTimeout: a query that is slow must not look like a server that is gone, and be asked again."""

_FORCED = {
    # Details of a failure have rows in them.
    "logServerErrorDetail": "false",
}


def _address(url: Any, where: str, variable: Callable[[str], str]) -> Address:
    # It is not shown: a password may be in there, most of all where it is not as it should be.
    try:
        return postgres.parse(url, variable)
    except ValueError as problem:
        raise DeclarationError(
            f"the address of a PostgresTable is not of the form {problem}", where=where, cure=_SHOWN
        ) from None


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
