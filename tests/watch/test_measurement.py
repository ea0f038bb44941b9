"""Lateness is what a row is behind the greatest event time before it, as a brute force finds it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.watch.lateness.curve import NINES
from headrace.watch.lateness.event_time import Refused
from headrace.watch.lateness.measurement import AHEAD, Measurement, Partition

NOW = 1_800_000_000_000_000
TIME = st.integers(NOW - 3_600_000_000, NOW + AHEAD)
ROW = st.one_of(TIME, TIME, TIME, st.integers(NOW + AHEAD + 1, 2 * NOW), st.sampled_from(Refused))


def measured(topic):
    partitions = [Partition(number) for number in range(len(topic))]
    for partition, rows in zip(partitions, topic, strict=True):
        for offset, row in enumerate(rows):
            partition.take(row, offset=offset, half=int(2 * offset >= len(rows)), now=NOW)
    return Measurement.of(reversed(partitions))


def is_true(row):
    return not isinstance(row, Refused) and row <= NOW + AHEAD


def lags_by_hand(rows):
    true = [(place, row) for place, row in enumerate(rows) if is_true(row)]
    return [max(0, max((row for _, row in true[:at]), default=0) - row) for at, (_, row) in enumerate(true)]


@settings(max_examples=200)
@given(st.lists(st.lists(ROW, max_size=30), min_size=1, max_size=4))
def test_it_is_what_a_brute_force_finds(topic):
    measurement = measured(topic)
    by_hand = [lags_by_hand(rows) for rows in topic]
    together = [lag for lags in by_hand for lag in lags]
    for partition, lags in zip(measurement.partitions, by_hand, strict=True):
        curve = partition.lags.curve()
        assert curve.rows == len(lags)
        assert [curve.rows_within(lag) for lag in lags] == [sum(o <= lag for o in lags) for lag in lags]
    curve = measurement.lags.curve()
    assert (curve.rows, curve.longest) == (len(together), max(together, default=0))
    for share in NINES:
        lag = curve.lag_for(share)
        assert sum(o <= lag for o in together) >= share * len(together)
        assert not lag or sum(o < lag for o in together) < share * len(together)


@given(st.lists(st.lists(ROW, max_size=30), min_size=1, max_size=4))
def test_every_row_is_counted_once(topic):
    measurement = measured(topic)
    rows = [row for each in topic for row in each]
    assert measurement.rows == len(rows)
    assert measurement.rows == measurement.lags.rows + measurement.refused.total()
    assert sum(half.rows for half in measurement.halves) == measurement.lags.rows
    for why in set(Refused) - {Refused.FUTURE}:
        assert measurement.refused[why] == rows.count(why)


def test_the_first_row_that_was_refused_is_known():
    measurement = measured([[NOW], [NOW, Refused.MISSING, Refused.TOMBSTONE, Refused.MISSING]])
    assert measurement.first_refused(Refused.MISSING) == (1, 1)
    assert measurement.first_refused(Refused.TOMBSTONE) == (1, 2)
    assert measurement.first_refused(Refused.FUTURE) is None


def test_a_time_that_cannot_be_true_moves_nothing():
    measurement = measured([[NOW, NOW + AHEAD + 1, NOW - 5, NOW + AHEAD, NOW]])
    assert measurement.refused == {Refused.FUTURE: 1}
    assert measurement.lags.curve().lags == (0, 5, AHEAD)


def test_halves_are_kept_apart():
    first, second = measured([[NOW, NOW - 1, NOW, NOW - 7]]).halves
    assert (first.longest, second.longest) == (1, 7)
