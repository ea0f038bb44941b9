"""The types that a record's field can have, and how Spark spells them."""

from dataclasses import dataclass, replace
from typing import Any, Self

_DDL = {
    "string": "STRING",
    "integer": "INT",
    "long": "BIGINT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "binary": "BINARY",
    "timestamp": "TIMESTAMP",
    "date": "DATE",
}


@dataclass(frozen=True, kw_only=True)
class DataType:
    """One type; `nullable` says whether a value may be missing."""

    nullable: bool = False

    @property
    def numeric(self) -> bool:
        """Whether values can be added up."""
        return False

    @property
    def orderable(self) -> bool:
        """Whether one value can be smaller than another, and be a key."""
        return True

    def ddl(self) -> str:
        """Return the type in Spark's DDL, without nullability: ``ARRAY<STRING>``."""
        raise NotImplementedError

    def json_value(self) -> Any:
        """Return the type as Spark's JSON has it, which can say what DDL cannot: elements without null."""
        raise NotImplementedError

    def with_nullable(self, nullable: bool) -> Self:  # noqa: FBT001
        """Return the same type with this nullability."""
        return replace(self, nullable=nullable)

    def same_as(self, other: "DataType") -> bool:
        """Whether both are one type, nullability aside."""
        return self.ddl().replace(" NOT NULL", "") == other.ddl().replace(" NOT NULL", "")


@dataclass(frozen=True)
class Scalar(DataType):
    """A type without parts, under the name of Spark's JSON: string, long, double, timestamp..."""

    kind: str

    @property
    def numeric(self) -> bool:
        """Whether values can be added up."""
        return self.kind in {"long", "integer", "double"}

    def ddl(self) -> str:
        """Return ``BIGINT`` for long."""
        return _DDL[self.kind]

    def json_value(self) -> Any:
        """Return the kind."""
        return self.kind


@dataclass(frozen=True)
class DecimalNumber(DataType):
    """An exact number of `precision` digits, of which `scale` stand behind the point."""

    precision: int = 38
    scale: int = 18

    @property
    def numeric(self) -> bool:
        """Whether values can be added up."""
        return True

    def ddl(self) -> str:
        """Return ``DECIMAL(12,2)``."""
        return f"DECIMAL({self.precision},{self.scale})"

    def json_value(self) -> Any:
        """Return ``decimal(12,2)``."""
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True)
class ListOf(DataType):
    """A list of one type of element."""

    element: DataType

    @property
    def orderable(self) -> bool:
        """Whether the elements are."""
        return self.element.orderable

    def ddl(self) -> str:
        """Return ``ARRAY<STRING>``; DDL cannot say that elements are never null."""
        return f"ARRAY<{self.element.ddl()}>"

    def json_value(self) -> Any:
        """Return Spark's JSON of the array."""
        return {
            "type": "array",
            "elementType": self.element.json_value(),
            "containsNull": self.element.nullable,
        }


@dataclass(frozen=True)
class MapOf(DataType):
    """A dictionary from strings to one type of value."""

    value: DataType

    @property
    def orderable(self) -> bool:
        """Spark can neither compare maps nor group by them."""
        return False

    def ddl(self) -> str:
        """Return ``MAP<STRING, BIGINT>``."""
        return f"MAP<STRING, {self.value.ddl()}>"

    def json_value(self) -> Any:
        """Return Spark's JSON of the map."""
        return {
            "type": "map",
            "keyType": "string",
            "valueType": self.value.json_value(),
            "valueContainsNull": self.value.nullable,
        }


@dataclass(frozen=True)
class Field:
    """A name and its type."""

    name: str
    type: DataType

    def ddl(self) -> str:
        """Return the field as a column of a schema in DDL: its quoted name, type, and NOT NULL."""
        return f"{quoted(self.name)} {self.type.ddl()}{'' if self.type.nullable else ' NOT NULL'}"

    def json_value(self) -> Any:
        """Return the field as an entry of Spark's JSON of a struct."""
        return {
            "name": self.name,
            "type": self.type.json_value(),
            "nullable": self.type.nullable,
            "metadata": {},
        }


@dataclass(frozen=True)
class Nested(DataType):
    """A record inside a record."""

    fields: tuple[Field, ...]

    @property
    def orderable(self) -> bool:
        """Whether all of its fields are."""
        return all(field.type.orderable for field in self.fields)

    def field(self, name: str) -> Field | None:
        """Return the field of that name."""
        return next((field for field in self.fields if field.name == name), None)

    def ddl(self) -> str:
        """Return ``STRUCT<`a`: BIGINT NOT NULL>``."""
        parts = (
            f"{quoted(field.name)}: {field.type.ddl()}{'' if field.type.nullable else ' NOT NULL'}"
            for field in self.fields
        )
        return f"STRUCT<{', '.join(parts)}>"

    def json_value(self) -> Any:
        """Return Spark's JSON of the struct."""
        return {"type": "struct", "fields": [field.json_value() for field in self.fields]}


def quoted(name: str) -> str:
    """Return `name` as an identifier of Spark SQL."""
    return "`" + name.replace("`", "``") + "`"


STRING = Scalar("string")
INTEGER = Scalar("integer")
LONG = Scalar("long")
DOUBLE = Scalar("double")
BOOLEAN = Scalar("boolean")
BINARY = Scalar("binary")
TIMESTAMP = Scalar("timestamp")
DATE = Scalar("date")
