# What is refused is wrong on purpose, for type checkers too.
# mypy: disable-error-code="arg-type, call-arg"

import re
from pathlib import Path

import pytest

from headrace import (
    AfterAny,
    AfterCount,
    AtWatermark,
    Cumulative,
    Custom,
    DeclarationError,
    Every,
    F,
    Final,
    Global,
    Hopping,
    Session,
    Sliding,
    Tumbling,
)
from tests.declare.shop import paid

keyed = paid.key_by("card")


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: keyed.window("w", Tumbling("1 minute"), lateness="-1 second"), "the lateness is negative"),
        (lambda: Hopping("1 minute", every="2 minutes"), "a hop of 2 minutes is longer than the window"),
        (lambda: Hopping("1 month", every="1 day"), "cannot be compared"),
        (lambda: Cumulative("1 hour", step="7 minutes"), "not a multiple of the step"),
        (lambda: Session("0 seconds"), "must be longer than nothing"),
        (lambda: Sliding("0 seconds"), "must be longer than nothing"),
        (lambda: Tumbling("1 day", zone="Europe/Berln"), "no time zone 'Europe/Berln'"),
        (lambda: Tumbling("5 minutes", zone="Europe/Berlin"), "a time zone only matters to days"),
        (lambda: Tumbling("1 hour", offset="2 hours"), "is not shorter than the window"),
        (lambda: keyed.window("w", Custom("card", "at")).agg(n=F.count("*")), "start of a custom window"),
        (lambda: keyed.window("w", Custom("at")), "needs the start and the end"),
        (lambda: keyed.window("w", Global()), "a global window never ends"),
        (lambda: keyed.window("w", Global(), trigger=Final()), "a global window never ends"),
        (lambda: keyed.window("w", Sliding("1 minute"), trigger=Every("1 minute")), "a sliding window ends"),
        (lambda: keyed.window("w", Tumbling("1 minute"), trigger="late"), "is no trigger"),
        (lambda: keyed.window("w", Tumbling("1 minute"), accumulate="all"), "is no mode"),
        (lambda: AtWatermark(early=Final()), "takes Every, AfterCount, AfterAny or AfterAll"),
        (lambda: AfterAny(AfterCount(3)), "two conditions or more"),
        (lambda: AfterCount(0), "takes a number of rows"),
        (lambda: Every("10 microseconds"), "finer than a clock shows"),
        (lambda: paid.dedup("once", by="idd", within="1 hour"), 'no column "idd"'),
        (lambda: paid.dedup("once", by="card", within="0 seconds"), "must be longer than nothing"),
        (lambda: paid.duplicates, "has no duplicates"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_at_the_users_line(attempt, message):
    with pytest.raises(DeclarationError, match=re.escape(message)) as caught:
        attempt()
    assert caught.value.where is not None
    assert Path(caught.value.where.split(":")[0]).name == Path(__file__).name
    assert caught.value.cure
