"""What a delivery that cannot be done says: what failed, where, and the cure, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import IllegalArgumentException

from tests.deliver.packing import packed

if TYPE_CHECKING:
    from tests.deliver.conftest import Delivering

pytestmark = pytest.mark.stack
SHOWN_NOWHERE = "do-not-show-me"


def failure(delivering: Delivering, value: bytes = b"v") -> str:
    with pytest.raises(Py4JJavaError) as caught:
        delivering.send(0, delivering.rows([[packed((b"k", value), None)], []]))
    thrown = caught.value.java_exception
    line: str = delivering.jvm.DeliveryException.line(thrown)
    assert "\n" not in line
    return line


def test_an_unreachable_broker(delivering: Delivering):
    text = failure(delivering.but(kafka="127.0.0.1:1", options={"max.block.ms": "500"}))
    assert "no answer from Kafka at 127.0.0.1:1" in text
    assert "; cure: check that the brokers run" in text


def test_credentials_stay_secret(delivering: Delivering):
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    login = f'{module} required username="u" password="{SHOWN_NOWHERE}";'
    options = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": login,
        "max.block.ms": "1000",
    }
    with pytest.raises(Py4JJavaError) as caught:
        delivering.but(options=options).deliver(0, ["a"], [])
    assert SHOWN_NOWHERE not in str(caught.value)
    broken = delivering.but(options={**options, "sasl.jaas.config": login.rstrip(";")})
    with pytest.raises(Py4JJavaError) as caught:
        broken.deliver(0, ["a"], [])
    assert SHOWN_NOWHERE not in str(caught.value)
    assert "refused its options" in str(caught.value)


def test_a_row_too_large_names_outlet_and_topic(delivering: Delivering):
    text = failure(delivering, bytes(2_000_000))
    assert text.startswith(f"outlet alerts (topic {delivering.topic}): a row is too large")
    assert "max.request.size" in text
    assert delivering.texts() == []


def test_a_missing_topic(delivering: Delivering):
    short = {"max.block.ms": "2000"}
    gone = delivering.but(pipeline="p-gone", guarantee="at-least-once", options=short)
    assert "kafka.create-topics" in failure(gone)


def test_missing_markers(delivering: Delivering):
    topics = delivering.jvm.Topics(delivering.clients())
    topics.ensure("p-unmarked.alerts", 1, 1, {}, True)
    topics.close()
    unmarked = delivering.but(pipeline="p-unmarked", options={"max.block.ms": "2000"})
    assert "headrace.p-unmarked.epochs" in failure(unmarked)


@pytest.mark.parametrize(
    "option", ["acks=1", "enable.idempotence=false", "transactional.id=mine", "retries=0"]
)
def test_options_that_break_the_guarantee_are_refused(delivering: Delivering, option: str):
    name, value = option.split("=")
    with pytest.raises(IllegalArgumentException, match=f"'{name}' would break the delivery guarantee"):
        delivering.but(options={name: value}).deliver(0, ["a"], [])


def test_speculation_is_refused(delivering: Delivering):
    jvm: Any = delivering.spark._jvm
    conf = jvm.org.apache.spark.SparkConf(False).set("spark.speculation", "true")
    with pytest.raises(Py4JJavaError, match=r"set spark\.speculation = false"):
        delivering.jvm.Delivery.check(conf)
