"""Records: annotated classes that say what a row of a topic looks like."""

import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, TypeVar, Union, dataclass_transform, get_args, get_origin

from headrace.declare.datatype import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    LONG,
    STRING,
    TIMESTAMP,
    DataType,
    DecimalNumber,
    Field,
    ListOf,
    MapOf,
    Nested,
)
from headrace.errors import DeclarationError, caller

_T = TypeVar("_T")

_SCALARS: dict[Any, DataType] = {
    str: STRING,
    int: LONG,
    float: DOUBLE,
    bool: BOOLEAN,
    bytes: BINARY,
    datetime: TIMESTAMP,
    date: DATE,
}
_SUPPORTED = (
    "use str, int, float, bool, bytes, Decimal, datetime, date, another record, list[T], dict[str, T], "
    "or one of these with | None"
)
_MOST_DIGITS = 38


@dataclass(frozen=True)
class Precision:
    """How many digits a decimal has, and how many of them behind the point.

    ``amount: Annotated[Decimal, Precision(12, 2)]`` reads 9,999,999,999.99 at most; a value that does
    not fit leaves through ``.rejected``.
    """

    digits: int
    scale: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.digits <= _MOST_DIGITS or not 0 <= self.scale <= self.digits:
            raise DeclarationError(
                f"a decimal cannot have {self.digits} digits with {self.scale} behind the point",
                where=caller(),
                cure="give 1 to 38 digits, and no more behind the point than there are digits",
            )


def decimal(digits: int, scale: int = 0) -> Any:
    """Return an annotation for numbers of that many digits.

    ``amount: decimal(12, 2)`` reads 9,999,999,999.99 at most. Type checkers accept no call in an
    annotation; for them write ``Annotated[Decimal, Precision(12, 2)]``, which means the same.
    """
    return Annotated[Decimal, Precision(digits, scale)]


@dataclass(frozen=True)
class RecordSchema:
    """What is known of a record class: its name, its fields in order, and where it was declared."""

    name: str
    fields: tuple[Field, ...]
    where: str = dataclasses.field(default="", compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(field.name for field in self.fields)

    def field(self, name: str) -> Field | None:
        """Return the field of that name."""
        return next((field for field in self.fields if field.name == name), None)

    def schema_ddl(self) -> str:
        """Return the record as a schema in Spark's DDL."""
        return ", ".join(field.ddl() for field in self.fields)

    def schema_json(self) -> Any:
        """Return the record as Spark's JSON of a struct type."""
        return Nested(self.fields).json_value()


@dataclass_transform(frozen_default=True)
def record(cls: type[_T]) -> type[_T]:
    """Make an annotated class a record: a frozen dataclass whose fields are known to Spark.

    ::

        @record
        class Payment:
            id: str
            amount: Annotated[Decimal, Precision(12, 2)]
            note: str | None
            at: datetime

    A field without ``| None`` is required: a row without it leaves through ``.rejected``. The class stays
    usable as a dataclass, for tests and generators: ``Payment(id="1", ...)``.
    """
    where = caller()
    if not isinstance(cls, type):
        raise DeclarationError("@record goes on a class", where=where, cure="write @record, without brackets")
    fields = _inherited(cls) | _own(cls, where)
    if not fields:
        raise DeclarationError(
            f"the record {cls.__name__} has no fields",
            where=where,
            cure="annotate them: `id: str`, one a line",
        )
    _check_names(cls.__name__, fields, where)
    _check_defaults(cls, fields, where)
    try:
        made = dataclass(frozen=True)(cls)
    except TypeError as refused:
        raise DeclarationError(
            f"the record {cls.__name__} cannot be made: {refused}",
            where=where,
            cure="put fields with `= None` last, and let records inherit from records only",
        ) from None
    made.__headrace_record__ = RecordSchema(  # type: ignore[attr-defined]
        cls.__name__, tuple(fields.values()), where
    )
    return made


def schema_of(cls: object) -> RecordSchema | None:
    """Return the schema of a record class; None if it is no record."""
    found = vars(cls).get("__headrace_record__") if isinstance(cls, type) else None
    return found if isinstance(found, RecordSchema) else None


def _inherited(cls: type) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    for ancestor in reversed(cls.__mro__[1:]):
        schema = schema_of(ancestor)
        if schema is not None:
            fields |= {field.name: field for field in schema.fields}
    return fields


def _own(cls: type, where: str) -> dict[str, Field]:
    annotations = inspect.get_annotations(cls)
    hints = _evaluated(cls, annotations, where)
    fields = {}
    for name, hint in hints.items():
        if get_origin(hint) is ClassVar or hint is ClassVar:
            continue
        fields[name] = Field(name, _data_type(hint, f"{cls.__name__}.{name}", where))
    return fields


def _evaluated(cls: type, annotations: Mapping[str, Any], where: str) -> dict[str, Any]:
    # A pipeline file may be loaded without being in sys.modules, and records may be declared inside
    # functions: names are looked up where the class stands.
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    holder = types.SimpleNamespace(__annotations__=dict(annotations))
    try:
        return typing.get_type_hints(
            holder, globalns=frame.f_globals, localns=dict(frame.f_locals), include_extras=True
        )
    except NameError as unknown:
        missing = f'"{unknown.name}"' if unknown.name else "a name"
        raise DeclarationError(
            f"the record {cls.__name__} uses {missing}, which is not defined",
            where=where,
            cure="import it, or declare it above; a record cannot contain itself",
        ) from None
    except DeclarationError:
        raise
    except Exception as broken:
        raise DeclarationError(
            f"an annotation of the record {cls.__name__} cannot be read: {broken}",
            where=where,
            cure=_SUPPORTED,
        ) from broken


def _data_type(hint: Any, what: str, where: str) -> DataType:  # noqa: PLR0911
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        precision = next((note for note in notes if isinstance(note, Precision)), None)
        if precision is not None and hint is Decimal:
            return DecimalNumber(precision.digits, precision.scale)
        return _data_type(hint, what, where)
    if hint is Decimal:
        return DecimalNumber()
    if hint in _SCALARS:
        return _SCALARS[hint]
    schema = schema_of(hint)
    if schema is not None:
        return Nested(schema.fields)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        rest = [argument for argument in arguments if argument is not type(None)]
        if len(rest) == 1 and len(arguments) > 1:
            return _data_type(rest[0], what, where).with_nullable(nullable=True)
        raise _unsupported(hint, what, where, "a field has one type, and may be None besides")
    if origin is list and len(arguments) == 1:
        return ListOf(_data_type(arguments[0], f"{what}[]", where))
    if origin is dict and len(arguments) == 2 and arguments[0] is str:  # noqa: PLR2004
        return MapOf(_data_type(arguments[1], f"{what}{{}}", where))
    raise _unsupported(hint, what, where, _cure(hint))


def _cure(hint: Any) -> str:
    if hint is list or hint is dict:
        return f"say what it holds: {hint.__name__}[{'str, int' if hint is dict else 'str'}]"
    if get_origin(hint) is dict:
        return "the keys of a dict are strings: dict[str, T]"
    if isinstance(hint, type) and inspect.get_annotations(hint):
        return f"put @record above the class {hint.__name__}"
    if getattr(hint, "__name__", "") == "timedelta":
        return "keep a length of time as int or float, in a unit that the field's name says"
    return _SUPPORTED


def _unsupported(hint: Any, what: str, where: str, cure: str) -> DeclarationError:
    spelled = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    return DeclarationError(f"the field {what} has an unsupported type: {spelled}", where=where, cure=cure)


def _check_names(record_name: str, fields: Mapping[str, Field], where: str) -> None:
    seen: dict[str, str] = {}
    for name in fields:
        twin = seen.setdefault(name.lower(), name)
        if twin != name:
            raise DeclarationError(
                f"the record {record_name} has the fields {twin} and {name}",
                where=where,
                cure="Spark does not tell upper from lower case in names: rename one of them",
            )
        if name.startswith("__"):
            raise DeclarationError(
                f"the field {record_name}.{name} starts with two underscores",
                where=where,
                cure="rename it: such names are kept for columns of headrace's own",
            )


def _check_defaults(cls: type, fields: Mapping[str, Field], where: str) -> None:
    for name, field in fields.items():
        default = vars(cls).get(name, dataclasses.MISSING)
        if default is dataclasses.MISSING or (default is None and field.type.nullable):
            continue
        raise DeclarationError(
            f"the field {cls.__name__}.{name} has a default, which would not be applied to data that is read",
            where=where,
            cure=f"write `{name}: ... | None`, and "
            f'.with_columns({name}=F.coalesce("{name}", F.lit(...))) on the stream',
        )
