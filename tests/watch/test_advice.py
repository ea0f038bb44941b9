"""The advice follows its rules: a fixed lag, or Adaptive where the lateness changes or has a heavy tail."""

from fractions import Fraction

from headrace.declare.duration import spell
from headrace.watch.lateness.advice import advise, believable
from headrace.watch.lateness.report import sentence
from tests.watch.lateness import SECOND, measurement, pareto, uniform


def test_a_steady_lateness_gets_a_fixed_lag():
    advice = advise(measurement(uniform(50_000, 3.6 * SECOND), uniform(50_000, 3.6 * SECOND, seed=2)))
    assert advice.code == 'topic.stream(watermark=Bounded("4 seconds"))'
    assert (advice.reasons, advice.hints) == ((), ())
    assert [spell(choice.lag) for choice in advice.choices] == ["4 seconds"] * 3


def test_what_a_lag_costs():
    lags = [0] * 99_000 + [2 * SECOND] * 857 + [3.5 * SECOND] * 73 + [60 * SECOND] * 70
    advice = advise(measurement(lags[::2] + lags[1::2]))
    assert sentence(advice.fixed) == (
        'With Bounded("4 seconds") 99.93 % of the rows come in time, 70 would be late; '
        "results wait 4 seconds longer."
    )
    assert [choice.code for choice in advice.choices] == [
        'Bounded("0 seconds")',
        'Bounded("4 seconds")',
        'Bounded("1 minute")',
    ]
    assert "every row comes in time" in sentence(advice.choices[-1])


def test_rows_in_order_wait_for_nothing():
    advice = advise(measurement([0] * 30_000))
    assert advice.code == 'topic.stream(watermark=Bounded("0 seconds"))'
    assert sentence(advice.fixed).endswith("every row comes in time; results wait for nothing.")


def test_a_lateness_that_changes_is_followed():
    advice = advise(measurement(uniform(50_000, SECOND) + uniform(50_000, 30 * SECOND)))
    assert advice.code == 'topic.stream(watermark=Adaptive(completeness=0.999, at_most="30 seconds"))'
    [reason] = advice.reasons
    assert reason.startswith(
        "the lateness changes: 99.9 % take 1 s in the first half of what was read and 30 s"
    )
    assert advice.fixed.code == 'Bounded("30 seconds")'


def test_lags_that_nobody_feels_do_not_change():
    advice = advise(measurement(uniform(50_000, 1_000) + uniform(50_000, 90_000)))
    assert not advice.adaptive


def test_a_heavy_tail_is_followed():
    advice = advise(measurement(pareto(400_000, 0.1 * SECOND)))
    assert advice.adaptive
    [reason] = advice.reasons
    assert reason.startswith(
        "the tail is heavy: each further nine takes over 3.2 times the lag (99 % 9.97 s, 99.9 % "
    )


def test_a_few_very_late_rows_are_no_heavy_tail():
    # Two nines are cheap and the third is not: that is a second kind of rows, not a tail.
    lags = [
        lag if place % 400 else 25 * SECOND for place, lag in enumerate(uniform(300_000, 2 * SECOND, 0.1))
    ]
    assert not advise(measurement(lags)).adaptive


def test_one_partition_that_is_much_later_is_named():
    late = uniform(50_000, 30 * SECOND, seed=3)
    [hint] = advise(measurement(uniform(50_000, SECOND), late, uniform(50_000, SECOND, seed=2))).hints
    assert hint.startswith("partition 1 is much later than the others: 99.9 % take 30 s, over 4 times")
    assert hint.endswith("(without it 99.9 % of all rows would take 1 s)")


def test_few_rows_are_no_ground():
    [hint] = advise(measurement(uniform(500, SECOND))).hints
    assert hint.startswith(
        "500 rows are few: fewer than 20 of them lie beyond 99.9 %; measure 20,000 or more"
    )


def test_a_share_needs_rows_beyond_it():
    assert believable(199) == []
    assert believable(200) == [Fraction(9, 10)]
    assert believable(200_000)[-1] == Fraction(9_999, 10_000)
