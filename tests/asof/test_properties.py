"""Random arrival orders, cuts and lateness: on the oracle, a join in time is the batch answer."""

from hypothesis import HealthCheck, given, settings

from tests.asof.corpus import Case, Run, written
from tests.asof.made_up import in_time, made_up
from tests.asof.oracle import at_the_end, result_keys
from tests.tables.oracle import Record
from tests.transcripts.declared import Row

MANY = settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def everything(of: Case) -> tuple[list[Row], list[Record]]:
    return (
        [row for epoch in of.epochs for row in epoch.events],
        [record for epoch in of.epochs for record in epoch.records],
    )


@MANY
@given(of=made_up().filter(lambda case: case.declared.as_of != "now"))
def test_in_time_the_results_are_the_batch_answer(of: Case) -> None:
    of = in_time(of)
    run = Run(of)
    outcomes = [run.epoch(epoch) for epoch in of.epochs]
    assert not any(outcome.late for outcome in outcomes)
    came = [result for outcome in outcomes for result in outcome.out]
    assert result_keys(came) == result_keys(at_the_end(*everything(of), of.declared.how))


@MANY
@given(of=made_up())
def test_every_row_is_accounted_for_and_nothing_waits_at_the_end(of: Case) -> None:
    run = Run(of)
    for epoch in of.epochs:
        outcome = run.epoch(epoch)
        assert len(epoch.events) + len(epoch.records) == outcome.used + len(outcome.late)
        assert written(outcome, windowed=False) is not None
    assert not run.step.waiting
