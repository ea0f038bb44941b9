import typing
from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, ClassVar

import pytest

from headrace import DeclarationError, Precision, decimal, record
from headrace.declare.record import schema_of


@record
class Place:
    country: str
    city: str | None


@record
class Everything:
    text: str
    whole: int
    real: float
    yes: bool
    raw: bytes
    exact: Decimal
    money: Annotated[Decimal, Precision(12, 2)]
    rate: decimal(9, 6)  # type: ignore[valid-type]
    at: datetime
    day: date
    maybe: typing.Optional[int]  # noqa: UP045
    place: Place
    perhaps: Place | None
    tags: list[str]
    holes: list[int | None]
    counts: dict[str, int]
    places: list[Place]
    VERSION: ClassVar[int] = 1
    note: str | None = None


def test_every_type_has_its_spelling_in_spark():
    schema = schema_of(Everything)
    assert schema is not None
    assert schema.schema_ddl().split(", `") == [
        "`text` STRING NOT NULL",
        "whole` BIGINT NOT NULL",
        "real` DOUBLE NOT NULL",
        "yes` BOOLEAN NOT NULL",
        "raw` BINARY NOT NULL",
        "exact` DECIMAL(38,18) NOT NULL",
        "money` DECIMAL(12,2) NOT NULL",
        "rate` DECIMAL(9,6) NOT NULL",
        "at` TIMESTAMP NOT NULL",
        "day` DATE NOT NULL",
        "maybe` BIGINT",
        "place` STRUCT<`country`: STRING NOT NULL",
        "city`: STRING> NOT NULL",
        "perhaps` STRUCT<`country`: STRING NOT NULL",
        "city`: STRING>",
        "tags` ARRAY<STRING> NOT NULL",
        "holes` ARRAY<BIGINT> NOT NULL",
        "counts` MAP<STRING, BIGINT> NOT NULL",
        "places` ARRAY<STRUCT<`country`: STRING NOT NULL",
        "city`: STRING>> NOT NULL",
        "note` STRING",
    ]


def test_the_json_says_whether_elements_may_be_null():
    schema = schema_of(Everything)
    assert schema is not None
    fields = {field["name"]: field for field in schema.schema_json()["fields"]}
    assert fields["tags"]["type"] == {"type": "array", "elementType": "string", "containsNull": False}
    assert fields["holes"]["type"]["containsNull"] is True
    assert fields["counts"]["type"]["valueContainsNull"] is False
    assert fields["money"]["type"] == "decimal(12,2)"
    assert (fields["note"]["nullable"], fields["text"]["nullable"]) == (True, False)


def test_a_record_is_a_frozen_dataclass():
    place = Place(country="CH", city=None)
    assert place == Place("CH", None)
    with pytest.raises(FrozenInstanceError):
        place.city = "Bern"  # type: ignore[misc]


def test_a_record_inherits_the_fields_of_records():
    @record
    class Street(Place):
        street: str

    schema = schema_of(Street)
    assert schema is not None
    assert schema.names == ("country", "city", "street")
    assert Street("CH", "Bern", "Gasse").street == "Gasse"


def test_records_inside_functions_see_its_names():
    @record
    class Inner:
        id: int

    @record
    class Outer:
        inner: "Inner | None"

    schema = schema_of(Outer)
    assert schema is not None
    assert schema.schema_ddl() == "`inner` STRUCT<`id`: BIGINT NOT NULL>"


class Plain:
    id: int


@pytest.mark.parametrize(
    ("hint", "cure"),
    [
        (timedelta, "unit"),
        (set[str], "list"),
        (dict[int, str], "keys of a dict are strings"),
        (list, "say what it holds"),
        (int | str, "one type"),
        (int | str | None, "one type"),
        (Plain, "put @record above the class Plain"),
        (object, "use str"),
        (tuple[int, int], "use str"),
        (list[set[int]], "use str"),
    ],
)
def test_an_unsupported_type_is_refused_with_the_users_line(hint, cure):
    with pytest.raises(DeclarationError, match=r"Broken\.field.* has an unsupported type") as refused:
        record(type("Broken", (), {"__annotations__": {"field": hint}}))
    assert cure in str(refused.value)
    assert refused.value.where
    assert "test_record.py:" in refused.value.where


def test_an_unknown_name_is_refused():
    with pytest.raises(DeclarationError, match='uses "Nowhere"'):

        @record
        class Broken:
            field: "Nowhere"  # type: ignore[name-defined]  # noqa: F821


def test_names_that_spark_would_mix_up_are_refused():
    with pytest.raises(DeclarationError, match="fields id and ID"):

        @record
        class Broken:
            id: int
            ID: int


def test_a_default_that_reading_would_not_apply_is_refused():
    with pytest.raises(DeclarationError, match="has a default") as refused:

        @record
        class Broken:
            currency: str = "EUR"

    assert "F.coalesce" in str(refused.value)


def test_a_class_without_fields_is_refused():
    with pytest.raises(DeclarationError, match="no fields"):

        @record
        class Empty:
            pass


def test_a_precision_that_spark_has_not_is_refused():
    with pytest.raises(DeclarationError, match="39 digits"):
        Precision(39, 2)
    with pytest.raises(DeclarationError, match="behind the point"):
        decimal(4, 5)


def test_values_are_kept():
    row = Everything(
        "a", 1, 1.0, True, b"", Decimal(1), Decimal(2), Decimal(3), datetime(2026, 1, 1, tzinfo=UTC),
        date(2026, 1, 1), None, Place("CH", None), None, [], [None], {}, [],
    )  # fmt: skip
    assert (row.whole, row.note) == (1, None)
