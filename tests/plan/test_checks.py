import pytest

from headrace import F, Kafka, Pipeline, PlanError, Tumbling
from headrace.plan.checks import check
from headrace.plan.layers import Layers
from tests.plan.pipelines import payments


def refused(pipeline: Pipeline) -> str:
    with pytest.raises(PlanError) as caught:
        check(Layers(pipeline))
    assert "test_checks.py" in str(caught.value)
    return str(caught.value)


def test_a_step_over_panes_that_are_taken_back_names_both() -> None:
    first = (
        payments.key_by("card")
        .window("first", Tumbling("1 hour"), accumulate="retracting")
        .agg(n=F.count("*"))
    )
    twice = first.key_by("card").window("again", Tumbling("1 day")).agg(n=F.count("*"))
    text = refused(Pipeline("twice", out=twice.to(Kafka("out"))))
    assert "'again'" in text
    assert "'first'" in text


def test_a_step_over_a_ranking_that_is_taken_back_names_both() -> None:
    first = (
        payments.key_by("card")
        .window("best", Tumbling("1 hour"), accumulate="retracting")
        .top(3, by=F.desc("amount"), columns=["id"])
    )
    twice = first.key_by("card").window("again", Tumbling("1 day")).agg(n=F.count("*"))
    text = refused(Pipeline("twice", out=twice.to(Kafka("out"))))
    assert "window 'again' comes after window 'best'" in text
    over = first.key_by("card").top("over", 1, by="rank", columns=["id"])
    assert "top 'over' comes after window 'best'" in refused(Pipeline("over", out=over.to(Kafka("out"))))


def test_two_clusters_in_one_pipeline() -> None:
    text = refused(
        Pipeline(
            "clusters",
            one=payments.to(Kafka("one")),
            two=payments.to(Kafka("two", options={"bootstrap.servers": "elsewhere:9092"})),
        )
    )
    assert "'one'" in text
    assert "'two'" in text
    assert "elsewhere" not in text


@pytest.mark.parametrize("expression", [F.rand(), F.expr("uuid()"), F.col("amount") * F.randn()])
def test_what_a_replay_would_change_ahead_of_exactly_once(expression: object) -> None:
    stream = payments.with_columns(x=expression)  # type: ignore[arg-type]
    assert "replayed" in refused(Pipeline("chance", out=stream.to(Kafka("out"))))
    check(Layers(Pipeline("chance", out=stream.to(Kafka("out", guarantee="at-least-once")))))


def test_the_time_of_the_epoch_is_repeatable() -> None:
    stream = payments.with_columns(seen=F.current_timestamp())
    check(Layers(Pipeline("seen", out=stream.to(Kafka("out")))))
