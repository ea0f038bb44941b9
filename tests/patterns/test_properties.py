"""Any order of arrival and any cuts into epochs: on the oracle, the matches are those of a batch."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.patterns.corpus import Case, Epoch, Run, written
from tests.patterns.made_up import made_up
from tests.transcripts.declared import END

MANY = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def in_time(case: Case) -> list[Epoch]:
    """Return the epochs with watermarks held back so far that nothing is late."""
    least, held = END, []
    for epoch in reversed(case.epochs):
        least = min([least, *(row.time for row in epoch.events)])
        watermark = epoch.watermark
        if watermark is not None and least < END:
            watermark = min(watermark, least)
        held.append(Epoch(epoch.events, watermark))
    return held[::-1]


def lines(case: Case, epochs: list[Epoch]) -> tuple[list[str], list[str]]:
    run = Run(case)
    told = [written(case, run.epoch(epoch)) for epoch in epochs]
    assert not any("late" in each for each in told)
    matches, timed_out = (
        sorted(line for each in told for line in each.get(port, ())) for port in ("matches", "timed_out")
    )
    return matches, timed_out


@MANY
@given(case=made_up(), order=st.randoms(use_true_random=False))
def test_in_time_the_matches_are_those_of_a_batch(case: Case, order: object) -> None:
    events = [row for epoch in case.epochs for row in epoch.events]
    order.shuffle(events)  # type: ignore[attr-defined]
    batch = [Epoch(tuple(events)), Epoch((), END)]
    assert lines(case, in_time(case)) == lines(case, batch)
