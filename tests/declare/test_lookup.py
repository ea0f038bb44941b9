# What is refused is wrong on purpose, for type checkers too.
# mypy: disable-error-code="arg-type, attr-defined"

import os
import re
from pathlib import Path
from typing import Any

import pytest

from headrace import DeclarationError, F, PostgresTable, SettingsError, record
from headrace.declare.pgpass import password
from headrace.declare.postgres import parse
from tests.declare.shop import paid

ADDRESS = "postgresql://reader:s3cret@db.example.com/crm?sslmode=require"


@record
class Card:
    number: str
    place: str
    limit: int | None
    since: int


@record
class Odd:
    number: float
    place: str


cards = PostgresTable(ADDRESS, "cards", Card)


def look_up(**changed: Any) -> Any:
    return paid.lookup(
        **{"name": "cards", "table": cards, "on": {"card": "number"}, "suffix": "_2", **changed}
    )


def test_the_columns_are_the_streams_then_the_tables() -> None:
    found = look_up()
    assert found.columns == (*paid.columns, "place_2", "limit", "since")


@pytest.mark.parametrize(("how", "null"), [("inner", False), ("left", True)])
def test_what_may_be_missing_may_be_null(how: str, *, null: bool) -> None:
    port = look_up(how=how).port
    assert port.column_type("place_2").nullable is null
    assert port.column_type("limit").nullable is True
    assert port.column_type("card").nullable is False


def test_the_rows_keep_their_time() -> None:
    found = look_up(how="inner")
    assert found.port.has_event_time
    found.key_by("place_2").top("largest", 3, by=F.desc("amount"))


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"name": 3}, "3 is no name for a look-up", "name"),
    ({"table": "cards"}, "lookup takes a remote table, not 'cards'", "PostgresTable("),
    ({"how": "right"}, "how='right' is no kind of look-up", "inner"),
    ({"on": "card"}, '"card" is no field of Card', "number"),
    ({"on": {"crad": "number"}}, 'no column "crad"', 'did you mean "card"'),
    ({"on": ["card", "id"]}, "a look-up is by one column", "customer"),
    (
        {"on": {"card": "since"}},
        "payments_eu is STRING, and Card.since is BIGINT",
        '.cast("bigint")',
    ),
    ({"on": {"count": "number"}}, '"count" of payments_eu is BIGINT', '.cast("string")'),
    ({"suffix": None}, 'would have two columns "place"', "suffix="),
    ({"suffix": ""}, "suffix='' is no text", "suffix="),
    ({"queries": 0}, "queries=0 is no number from 1 on", "1 or more"),
    ({"batch": 100_000}, "batch=100000 keys in one query are too many", "10000"),
    ({"keep": True}, "keep=True is no number", "1 or more"),
    ({"cache": "soon"}, "cache of the look-up is no duration", "5 minutes"),
    ({"retry": "-1 second"}, "retry of the look-up is negative", "5 minutes"),
    ({"repeatable": "yes"}, "repeatable='yes' is no bool", "True or False"),
    ({"table": PostgresTable(ADDRESS, "cards", Odd), "on": {"card": "number"}}, "by str or int", "view"),
]


@pytest.mark.parametrize(("changed", "what", "cure"), REFUSED)
def test_what_is_refused(changed: dict[str, Any], what: str, cure: str) -> None:
    with pytest.raises(DeclarationError, match=re.escape(what)) as caught:
        look_up(**changed)
    assert "test_lookup.py:" in str(caught.value.where)
    assert cure in str(caught.value.cure)


def test_rejected_rows_are_not_looked_up() -> None:
    with pytest.raises(DeclarationError, match=r"rows of .*rejected are not looked up"):
        paid.rejected.lookup("cards", cards, on={"topic": "number"})


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((ADDRESS, "a.b.c", Card), "'a.b.c' is no name of a table"),
        ((ADDRESS, "cards", int), "int is no record"),
        (("mysql://u:s3cret@db/crm", "cards", Card), "is not of the form"),
        (("postgresql://u:s3cret@db", "cards", Card), "is not of the form"),
        (("postgresql://u:s3cret@db:port/crm", "cards", Card), "is not of the form"),
        (("s3cret", "cards", Card), "is not of the form"),
        (("postgresql://u:12/s3cret@db", "cards", Card), "is not of the form"),
        (("postgresql://u:12/db?s3=cret@db/crm", "cards", Card), "is not of the form"),
        (("postgresql://u@db/crm?password=s3cret", "cards", Card), "no user or password among the options"),
        ((None, "cards", Card), "is not of the form"),
    ],
)
def test_tables_that_cannot_be(arguments: tuple[Any, ...], what: str) -> None:
    with pytest.raises(DeclarationError, match=re.escape(what)) as caught:
        PostgresTable(*arguments)
    assert "s3cret" not in str(caught.value)
    assert "test_lookup.py:" in str(caught.value.where)


def test_values_with_parts_are_not_looked_up() -> None:
    @record
    class Listed:
        number: str
        places: list[str]

    with pytest.raises(DeclarationError, match=r"Listed.places is ARRAY<STRING>, and only plain values"):
        PostgresTable(ADDRESS, "cards", Listed)


def test_no_secret_is_shown() -> None:
    shown = f"{cards!r} {look_up()!r} {cards.place()} {look_up().port.node.text()}"
    assert "s3cret" not in shown
    assert cards.place() == "postgresql://db.example.com:5432/crm"
    assert "k3y" not in repr(parse("postgresql://db/crm?sslpassword=k3y"))


def test_how_it_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    told = cards.connection(starting=True)
    assert told["url"] == "jdbc:postgresql://db.example.com:5432/crm"
    assert {name: told["options"][name] for name in ("user", "password", "sslmode", "readOnly")} == {
        "user": "reader",
        "password": "s3cret",
        "sslmode": "require",
        "readOnly": "true",
    }
    monkeypatch.setenv("PGPASSWORD", "other")
    monkeypatch.setenv("SECRET", "a@b/c")
    named = PostgresTable("postgresql://reader:${SECRET}@[::1]:6000/my%20db", "cards", Card)
    told = named.connection(starting=True)
    assert (told["url"], told["options"]["password"]) == ("jdbc:postgresql://[::1]:6000/my%20db", "a@b/c")
    without = PostgresTable("postgresql://reader@db/crm", "cards", Card).connection(starting=True)
    assert without["options"]["password"] == os.environ["PGPASSWORD"]
    elsewhere = PostgresTable(
        "postgresql://${CRM_USER}:${CRM_PASS}@${CRM_HOST}:${CRM_PORT}/crm", "cards", Card
    )
    assert elsewhere.place() == "postgresql://crm_host:5432/crm"
    monkeypatch.setenv("CRM_PORT", "6000")
    assert elsewhere.place() == "postgresql://crm_host:6000/crm"
    own = PostgresTable(
        "postgresql://db/crm?options=-c%20statement_timeout=9&socketTimeout=9&logServerErrorDetail=true",
        "cards",
        Card,
    ).connection(starting=True)["options"]
    assert own["options"] == "-c statement_timeout=25000 -c statement_timeout=9"
    assert (own["socketTimeout"], own["logServerErrorDetail"]) == ("9", "false")


def test_who_names_no_user_is_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pgpass"
    file.write_text("*:*:*:named:1\n*:*:*:me:2\n", encoding="utf-8")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGUSER", "named")
    address = parse("postgresql://db/crm?sslmode=require")
    assert address.properties() == {"sslmode": "require", "user": "named", "password": "1"}
    monkeypatch.delenv("PGUSER")
    monkeypatch.setenv("LOGNAME", "me")
    assert address.properties() == {"sslmode": "require", "user": "me", "password": "2"}


def test_passwords_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pgpass"
    lines = [
        "# db:5432:crm:reader:no",
        "other:*:*:*:1",
        "db:5432:crm:writer:2",
        r"db:*:crm:reader:a\:b\\c",
        "*:*:*:*:last",
    ]
    file.write_bytes(b"# \xe4\n*:*:*:\xe4:no\n" + "\n".join(lines).encode())
    file.chmod(0o600)
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert password("db", 5432, "crm", "reader") == r"a:b\c"
    assert [password("db", 5432, "crm", "writer")] == ["2"]
    assert password("elsewhere", 5432, "crm", "writer") == "last"
    file.chmod(0o640)
    with pytest.raises(SettingsError, match="others than its owner") as caught:
        password("db", 5432, "crm", "reader")
    assert str(caught.value.cure).startswith("chmod 600 ")
    assert "a:b" not in str(caught.value)
    file.write_text("other:*:*:*:1", encoding="utf-8")
    assert password("db", 5432, "crm", "reader") is None
    for none in (tmp_path / "none", tmp_path):
        monkeypatch.setenv("PGPASSFILE", str(none))
        assert password("db", 5432, "crm", "reader") is None
