# What is refused is wrong on purpose, for type checkers too.
# mypy: disable-error-code="arg-type"

from dataclasses import FrozenInstanceError

import pytest

from headrace import Bounded, DeclarationError, F, Kafka, Pipeline, Tumbling
from tests.declare.shop import paid, payments, timeless


def totals(name="velocity", stream=paid):
    return stream.key_by("card").window(name, Tumbling("1 minute")).agg(total=F.sum("amount"))


def test_a_pipeline_keeps_its_deliveries_in_order():
    velocity = totals()
    pipeline = Pipeline("fraud", b=velocity.to(Kafka("b")), a=velocity.late.to(Kafka("a")))
    assert list(pipeline.deliveries) == ["b", "a"]
    assert pipeline.deliveries["a"].port.name == "late"
    with pytest.raises(FrozenInstanceError):
        pipeline.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        pipeline.deliveries["c"] = pipeline.deliveries["a"]  # type: ignore[index]


def test_a_stream_used_twice_is_one_node():
    kept = paid.where("true")
    velocity = totals(stream=kept)
    pipeline = Pipeline(
        "fraud",
        all=kept.to(Kafka("all")),
        sums=velocity.to(Kafka("sums")),
        bad=kept.rejected.to(Kafka("bad")),
    )
    assert [node.name for node in pipeline.nodes] == ["payments_eu", "payments_eu.where", "velocity"]
    assert pipeline.sources == paid.port.node.sources


def test_steps_of_branches_get_names_of_their_own():
    one, two = paid.where("true"), paid.where("false")
    three = two.where("true")
    named = paid.where("true", name="payments_eu.where#3")
    pipeline = Pipeline("p", a=one.to(Kafka("a")), b=three.to(Kafka("b")), c=named.to(Kafka("c")))
    names = pipeline.step_names
    assert len(set(names.values())) == len(pipeline.nodes)
    assert names[one.port.node] == "payments_eu.where"
    assert names[named.port.node] == "payments_eu.where#3"
    assert names[two.port.node] == "payments_eu.where#2"
    assert names[three.port.node] == "payments_eu.where#4"


def again():
    return payments.stream(watermark=Bounded("1 second"))


@pytest.mark.parametrize(
    ("attempt", "message", "cure"),
    [
        (lambda: Pipeline("Fraud", a=paid.to(Kafka("a"))), "no name for a pipeline", "small letter"),
        (lambda: Pipeline(paid.to(Kafka("a"))), "no name for a pipeline", "small letter"),
        (lambda: Pipeline("fraud"), "delivers nothing", ".to(Kafka"),
        (lambda: Pipeline("fraud", a=paid), "a is a stream", 'a=....to(Kafka("a"))'),
        (lambda: Pipeline("fraud", a=paid.key_by("card")), "is no delivery", "stream.to"),
        (
            lambda: Pipeline("fraud", a=totals().to(Kafka("a")), b=totals().to(Kafka("b"))),
            'two steps are called "velocity"',
            "identity",
        ),
        (
            lambda: Pipeline("fraud", a=totals("payments_eu").to(Kafka("a"))),
            'two steps are called "payments_eu"',
            "rename",
        ),
        (
            lambda: Pipeline("fraud", a=paid.to(Kafka("a")), b=again().to(Kafka("b"))),
            'two sources are called "payments_eu"',
            "use it twice",
        ),
        (lambda: Pipeline("p", a=paid.to(Kafka("payments.eu"))), "which the pipeline reads", "another topic"),
        (
            lambda: Pipeline("p", a=paid.to(Kafka("t")), b=paid.to(Kafka("t"))),
            "a and b deliver the same rows",
            "remove",
        ),
        (
            lambda: Pipeline(
                "p", a=paid.to(Kafka("t")), b=timeless.to(Kafka("t", guarantee="at-least-once"))
            ),
            "gets a exactly-once and b at-least-once",
            "same guarantee",
        ),
    ],
)
def test_what_a_pipeline_refuses(attempt, message, cure):
    with pytest.raises(DeclarationError) as refused:
        attempt()
    assert message in refused.value.message
    assert cure in str(refused.value.cure)
    assert "test_pipeline.py:" in str(refused.value.where)
    assert refused.value.exit_code == 2
