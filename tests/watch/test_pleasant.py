"""Lags as people read them: rounded up, never down."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.declare.duration import duration, microseconds, spell
from headrace.watch.lateness.pleasant import rounded_up, short


@pytest.mark.parametrize(
    ("lag", "pleasant"),
    [
        (0, "0 seconds"),
        (1, "1 millisecond"),
        (999_999, "1 second"),
        (3_700_000, "4 seconds"),
        (4_000_000, "4 seconds"),
        (4_000_001, "5 seconds"),
        (59_000_000, "1 minute"),
        (100_000_000, "2 minutes"),
        (25 * 3_600_000_000, "2 days"),
        (8 * 86_400_000_000, "2 weeks"),
    ],
)
def test_a_lag_becomes_pleasant(lag, pleasant):
    assert spell(rounded_up(lag)) == pleasant


@given(st.integers(0, 50 * 365 * 86_400_000_000))
def test_what_is_pleasant_is_no_shorter_and_can_be_declared(lag):
    length = rounded_up(lag)
    assert microseconds(length) >= lag
    assert duration(spell(length), what="lag") == length


@pytest.mark.parametrize(
    ("lag", "told"),
    [
        (0, "0"),
        (7, "7 µs"),
        (1_500, "1.5 ms"),
        (2_340_500, "2.35 s"),
        (90_000_000, "1.5 min"),
        (12_340_000, "12.4 s"),
        (123_400_000_000, "1.43 d"),
        (999_999, "1 s"),
        (59_999_000, "1 min"),
    ],
)
def test_a_lag_is_written_short(lag, told):
    assert short(lag) == told
