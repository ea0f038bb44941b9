"""Rows as tests write and read them: Python values to JSON, JSON back to Python values."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    DecimalType,
    MapType,
    StringType,
    StructType,
    TimestampType,
)


class Deleted(dict[str, Any]):
    """A row that a table has no more: its key."""

    def __repr__(self) -> str:
        return f"Deleted({super().__repr__()})"


def deleted(key: str | None, schema: StructType, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return the columns of a key that was delivered without a value, with Python's types for Spark's."""
    kept = StructType([schema[name] for name in columns])
    nothing = dict.fromkeys(columns)
    if key is None or key == json.dumps(nothing, separators=(",", ":")):
        return nothing
    if len(columns) != 1:
        return decode(key, kept) or {}
    [field] = kept
    plain = isinstance(field.dataType, StringType | BinaryType)
    return {field.name: key if plain else _of_text(key, field.dataType)}


def _of_text(text: str, kind: DataType) -> Any:
    """Return a value as Spark writes it in text."""
    if isinstance(kind, TimestampType | DateType | DecimalType):
        return _typed(text, kind)
    return _typed(json.loads(text, parse_float=Decimal), kind)


def encode(row: object) -> bytes | None:
    """Return the bytes of a message: of a record, a dict, text, or bytes as they are; None is a tombstone."""
    if row is None or isinstance(row, bytes):
        return row
    if isinstance(row, str):
        return row.encode()
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        row = dataclasses.asdict(row)
    return json.dumps(row, default=_plain).encode()


def decode(text: str | None, schema: StructType) -> dict[str, Any] | None:
    """Return a delivered value with Python's types for Spark's."""
    if text is None:
        return None
    return {
        field.name: _typed(value, field.dataType)
        for field, value in _pairs(schema, json.loads(text, parse_float=Decimal))
    }


def _pairs(schema: StructType, value: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    return [(field, value.get(field.name)) for field in schema]


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"a message cannot hold {value!r}")


def _typed(value: Any, kind: DataType) -> Any:  # noqa: PLR0911 - one type a line
    if value is None:
        return None
    if isinstance(kind, StructType):
        return {field.name: _typed(inner, field.dataType) for field, inner in _pairs(kind, value)}
    if isinstance(kind, ArrayType):
        return [_typed(inner, kind.elementType) for inner in value]
    if isinstance(kind, MapType):
        return {name: _typed(inner, kind.valueType) for name, inner in value.items()}
    if isinstance(kind, TimestampType):
        return datetime.fromisoformat(value)
    if isinstance(kind, DateType):
        return date.fromisoformat(value)
    if isinstance(kind, DecimalType):
        return Decimal(value)
    if isinstance(kind, BinaryType):
        return base64.b64decode(value)
    return float(value) if isinstance(value, Decimal) else value
