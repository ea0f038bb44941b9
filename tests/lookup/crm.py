"""A PostgreSQL of its own with customers in it, which can be killed; and orders that look them up."""

import os
import signal
from datetime import UTC, date, datetime
from typing import Any

import psycopg

from headrace import Bounded, PostgresTable, Topic, decimal, record
from headrace.local.stack import Stack

START = datetime(2026, 1, 1, tzinfo=UTC)

TABLES = """
CREATE TYPE tier AS ENUM ('gold', 'silver');
CREATE SCHEMA sales;
CREATE TABLE sales.customers (
    id bigint PRIMARY KEY, name varchar(80), tier tier NOT NULL, score real, active boolean,
    credit numeric, since timestamptz, born date, photo bytea, naive timestamp DEFAULT now());
INSERT INTO sales.customers VALUES
    (1, 'Ann', 'gold', 1.5, true, 12.5, '2020-01-01T00:00:00.123456Z', '1990-05-17', '\\x0102'),
    (2, NULL, 'silver', NULL, NULL, NULL, NULL, NULL, NULL),
    (3, 'Carl', 'gold', 0, false, 1234567890.25, NULL, NULL, NULL),
    (4, 'Dora', 'gold', 0, false, 'NaN', NULL, NULL, NULL),
    (5, 'Eve', 'gold', 0, false, 1, 'infinity', NULL, NULL);
INSERT INTO sales.customers (id, name, tier)
    SELECT n, 'c' || n, 'silver' FROM generate_series(1000, 9999) AS n;
CREATE TABLE cards (number text PRIMARY KEY, owner uuid NOT NULL UNIQUE, twice int);
INSERT INTO cards VALUES ('4711', '00000000-0000-0000-0000-00000000000a', 1), ('x', gen_random_uuid(), 1);
CREATE VIEW doubled AS SELECT number, owner::text FROM cards UNION ALL SELECT number, 'again' FROM cards;
CREATE VIEW slow AS SELECT id, name FROM sales.customers, pg_sleep(0.2);
CREATE ROLE reader LOGIN PASSWORD 'p@ss/word';
GRANT SELECT ON cards TO reader;
"""


@record
class Order:
    number: int
    customer: int | None
    card: str | None
    at: datetime


@record
class Customer:
    id: int
    name: str | None
    tier: str


@record
class Whole(Customer):
    score: float | None
    active: bool | None
    credit: decimal(10, 2) | None  # type: ignore[valid-type]
    since: datetime | None
    born: date | None
    photo: bytes | None


@record
class Card:
    number: str
    owner: str


class Crm:
    """The server; `address` is as its own user connects, whose password PGPASSFILE names."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.address = stack.up(["postgres"])["postgres"]
        self.password_file = stack.folder / "postgres" / "pgpass"

    @property
    def password(self) -> str:
        return self.password_file.read_text("utf-8").strip().rpartition(":")[2]

    @property
    def place(self) -> str:
        return self.address.rpartition("@")[2]

    def ask(self, sql: str, *values: Any) -> list[Any]:
        with psycopg.connect(self.address) as connection:
            cursor = connection.execute(sql, values)
            return cursor.fetchall() if cursor.description else []

    def kill(self) -> None:
        pid = self._stack.status(["postgres"])["postgres"].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    def start(self) -> None:
        assert self._stack.up(["postgres"])["postgres"] == self.address

    def customers(self, record_: type = Customer, table: str = "sales.customers") -> PostgresTable:
        return PostgresTable(self.address, table, record_)

    def cards(self, user: str = "headrace") -> PostgresTable:
        return PostgresTable(f"postgresql://{user}@{self.place}", "cards", Card)


orders = Topic("orders", Order, time="at").stream(watermark=Bounded("1 second"))


def order(number: int, customer: int | None = None, card: str | None = None) -> dict[str, Any]:
    return {"number": number, "customer": customer, "card": card, "at": START}
