from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import DeclarationError
from headrace.declare.duration import duration, microseconds, spell

LENGTHS = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=36_500))


@given(LENGTHS)
def test_what_is_spelled_is_read_back(length):
    assert duration(spell(length), what="lag") == length


@given(LENGTHS)
def test_a_timedelta_is_taken_as_it_is(length):
    assert duration(length, what="lag") == length


@given(st.integers(0, 10_000), st.sampled_from(["microsecond", "millisecond", "second", "minute", "hour"]))
def test_singular_plural_case_and_spaces_do_not_matter(count, unit):
    expected = timedelta(**{f"{unit}s": count})
    for text in (f"{count} {unit}", f"{count} {unit}s", f" {count}{unit.upper()}S "):
        assert duration(text, what="lag") == expected


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused_with_a_cure(text):
    try:
        assert duration(text, what="lag") >= timedelta(0)
    except DeclarationError as refused:
        assert refused.cure  # noqa: PT017
        assert "lag" in refused.message  # noqa: PT017


def test_parts_add_up():
    assert duration("1 hour 30 minutes", what="lag") == timedelta(minutes=90)
    assert duration("1 week 2 days 500 milliseconds", what="lag") == timedelta(days=9, milliseconds=500)
    assert duration("0.5 seconds", what="lag") == timedelta(milliseconds=500)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-5 minutes", "negative"),
        (timedelta(seconds=-1), "negative"),
        ("5 fortnights", "unknown unit"),
        ("five minutes", "no duration"),
        ("5", "no duration"),
        ("", "no duration"),
        ("0.0000001 seconds", "finer than a microsecond"),
        ("99999999 weeks", "hundred years"),
        ("9999999999999999999 weeks", "hundred years"),
        (5, "no duration"),
    ],
)
def test_what_is_no_duration_is_refused(text, message):
    with pytest.raises(DeclarationError, match=message) as refused:
        duration(text, what="the lag")
    assert refused.value.where
    assert "test_duration.py" in refused.value.where


def test_zero_is_refused_where_a_length_is_needed():
    assert duration("0 seconds", what="lag") == timedelta(0)
    with pytest.raises(DeclarationError, match="longer than nothing"):
        duration("0 seconds", what="size", positive=True)


def test_microseconds_are_exact():
    assert microseconds(timedelta(days=36_500, microseconds=1)) == 36_500 * 86_400_000_000 + 1
