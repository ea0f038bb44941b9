"""The generator: the same seed gives the same rows, and all kinds of trouble are among them."""

import json
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from time import process_time

import pytest
from examples.fraud.generator import DAMAGES, Generator, Mix, Row
from examples.fraud.truth import Damaged, decode

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = int(START.timestamp() * 1_000_000) + 60_000_000


@cache
def rows(seed: int = 1, rate: int = 2_000, seconds: float = 20, mix: Mix | None = None) -> list[Row]:
    return list(Generator(seed, rate, START, mix).rows(seconds))


def good(of: list[Row]) -> list[dict[str, str]]:
    return [json.loads(row.value) for row in of if row.damage is None]


def test_the_same_seed_gives_the_same_bytes():
    assert rows(seed=7, seconds=5) == list(Generator(7, 2_000, START).rows(5))


def test_another_seed_gives_other_rows():
    assert rows(seed=7, seconds=1) != rows(seed=8, seconds=1)


def test_the_rate_is_kept():
    assert len(rows(rate=1_234, seconds=10)) == pytest.approx(12_340, rel=0.05)


def test_a_few_cards_pay_most_often():
    cards = Counter(payment["card"] for payment in good(rows()))
    top = sum(count for _, count in cards.most_common(20))
    assert top > 0.25 * cards.total()
    assert len(cards) > 3_000


def test_every_damage_occurs_and_the_truth_sees_it():
    of = rows(mix=Mix(damaged=0.05))
    assert {row.damage for row in of} == {None, *DAMAGES}
    for row in of:
        if row.damage is None:
            decode(row.value, NOW)
        else:
            with pytest.raises(Damaged):
                decode(row.value, NOW)


def test_a_good_row_is_read_exactly():
    row = next(row for row in rows(seconds=1) if row.damage is None)
    payment = decode(row.value, NOW)
    assert payment.card.encode() == row.key
    assert payment.amount == Decimal(row.value.split(b'"amount":')[1].split(b",")[0].decode())


def test_some_rows_are_out_of_order_and_some_far_too_late():
    highest, behind = START, []
    for payment in good(rows()):
        at = datetime.fromisoformat(payment["at"])
        highest = max(highest, at)
        behind.append((highest - at).total_seconds())
    assert 0.05 < sum(0.1 < seconds < 3 for seconds in behind) / len(behind) < 0.2
    assert 0.001 < sum(seconds > 14 for seconds in behind) / len(behind) < 0.01


def test_some_payments_are_sent_twice():
    twice = [
        count for count in Counter(row.value for row in rows() if row.damage is None).values() if count > 1
    ]
    assert len(twice) > 20


def test_stolen_cards_pay_much_in_many_countries_within_seconds():
    calm = Mix(cards=100_000, abroad=0, bursts_per_second=0)
    wild = Mix(cards=100_000, abroad=0, bursts_per_second=1)

    def travellers(of: list[Row]) -> int:
        seen: dict[str, set[str]] = {}
        for payment in good(of):
            seen.setdefault(payment["card"], set()).add(payment["country"])
        return sum(len(countries) > 3 for countries in seen.values())

    assert travellers(rows(mix=calm)) == 0
    assert travellers(rows(mix=wild)) > 10


def test_one_core_makes_far_more_than_twenty_thousand_rows_a_second():
    generator = Generator(1, 20_000, START)
    began = process_time()
    made = sum(1 for _ in generator.rows(2))
    assert made / (process_time() - began) > 25_000
