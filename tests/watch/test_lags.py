"""Lags are counted exactly while they are few, then within 1/128, and the sum depends on the rows alone."""

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.watch.lateness import lags as counted
from headrace.watch.lateness.curve import ALL, Curve, percent
from headrace.watch.lateness.lags import EXACT_LAGS, RELATIVE_ERROR, Lags, bucket, together

LAG = st.integers(0, 400 * 365 * 86_400_000_000)
SHARES = [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(999, 1_000), ALL]


def lags_of(values):
    made = Lags()
    for value in values:
        made.add(value)
    return made


def lag_by_hand(values, share):
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


@given(LAG)
def test_a_bucket_is_narrow_and_its_own(lag):
    assert lag <= bucket(lag) <= lag + lag * RELATIVE_ERROR
    assert bucket(bucket(lag)) == bucket(lag)


@given(st.lists(LAG, min_size=1), st.sampled_from(SHARES))
def test_few_lags_are_exact(values, share):
    made = lags_of(values)
    curve = made.curve()
    assert made.exact
    assert (curve.rows, curve.longest) == (len(values), max(values))
    assert curve.lag_for(share) == lag_by_hand(values, share)
    for lag in values:
        assert curve.rows_within(lag) == sum(value <= lag for value in values)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(SHARES))
def test_many_lags_are_within_the_error_and_never_too_good(seed, share):
    chance = random.Random(seed)
    values = [int(10 ** (chance.random() * 10)) for _ in range(EXACT_LAGS + 2_000)]
    made = lags_of(values)
    curve = made.curve()
    assert not made.exact
    true = lag_by_hand(values, share)
    assert true <= curve.lag_for(share) <= true * (1 + RELATIVE_ERROR)
    assert curve.longest == max(values)
    for lag in (true, true // 2, 2 * true):
        within = sum(value <= lag for value in values)
        sure = sum(value * (1 + RELATIVE_ERROR) <= lag for value in values)
        assert sure <= curve.rows_within(lag) <= within


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(0, 10_000), max_size=40), max_size=5), st.integers(1, 60))
def test_the_sum_depends_on_the_rows_alone(parts, few):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counted, "EXACT_LAGS", few)
        whole = lags_of(value for part in parts for value in part)
        for order in (parts, parts[::-1], [[*reversed(part)] for part in parts]):
            added = together(lags_of(part) for part in order)
            assert added.curve() == whole.curve()
            assert (added.exact, added.rows, added.longest) == (whole.exact, whole.rows, whole.longest)


def test_memory_is_bounded():
    chance = random.Random(1)
    made = lags_of(int(10 ** (chance.random() * 16)) for _ in range(100_000))
    assert len(made.curve().lags) < 8_000


def test_nothing_is_complete():
    empty = Lags().curve()
    assert (empty.rows, empty.longest, empty.lag_for(ALL), empty.completeness(0)) == (0, 0, 0, ALL)


def test_a_curve_counts_what_comes_after():
    curve = Curve((0, 10, 20), (7, 9, 10))
    assert [curve.rows_after(lag) for lag in (0, 9, 10, 20)] == [3, 3, 1, 0]
    assert curve.completeness(10) == Fraction(9, 10)


@pytest.mark.parametrize(
    ("late", "rows", "told"),
    [
        (0, 10, "100 %"),
        (143, 204_000, "99.92 %"),
        (1, 1_000_000, "99.9999 %"),
        (1, 3, "66.6 %"),
        (1, 2, "50 %"),
    ],
)
def test_a_share_is_never_rounded_up(late, rows, told):
    assert percent(1 - Fraction(late, rows)) == told
