from datetime import UTC, datetime

import pytest

from headrace import Bounded, DeclarationError, Stream, Topic
from headrace.declare.node import SourceNode
from tests.declare.shop import Payment, Place, payments


def test_a_stream_of_a_topic_has_the_columns_of_its_record():
    stream = payments.stream()
    assert stream.columns == ("id", "card", "amount", "count", "at", "place", "extra")
    assert isinstance(stream.port.node, SourceNode)
    assert stream.port.node.topic is payments


def test_a_source_is_named_after_its_topic_as_spark_allows():
    assert payments.stream().port.node.name == "payments_eu"
    assert payments.stream(name="mine").port.node.name == "mine"
    with pytest.raises(DeclarationError, match="no name for a source"):
        payments.stream(name="not.mine")


def test_options_are_kept_and_not_shown():
    topic = Topic("t", Place, options={"sasl.password": "hush", "fetch.max.bytes": 10})  # type: ignore[dict-item]
    assert dict(topic.options) == {"sasl.password": "hush", "fetch.max.bytes": "10"}
    assert "hush" not in repr(topic)
    assert hash(topic) == hash(Topic("t", Place))
    with pytest.raises(TypeError):
        topic.options["a"] = "b"  # type: ignore[index]


def test_a_topic_is_a_value():
    assert Topic("t", Place) == Topic("t", Place)
    assert Topic("t", Place) != Topic("t", Payment)
    assert Topic("t", Place, start=datetime(2026, 1, 1, tzinfo=UTC)).start == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "message", "cure"),
    [
        ({"key": "crad"}, 'key="crad" is no field', 'did you mean "card"'),
        ({"time": "att"}, 'time="att" is no field', 'did you mean "at"'),
        ({"time": "amount"}, "no datetime but DECIMAL", "datetime: at"),
        ({"compacted": True}, "has no key", "key="),
        ({"partitions": 0}, "cannot have 0 partitions", "1 or more"),
        ({"start": "beginning"}, "start='beginning' is unknown", '"earliest" or "latest"'),
        ({"start": datetime(2026, 1, 1)}, "no time zone", "tzinfo=UTC"),  # noqa: DTZ001
        ({"on_error": "ignore"}, "on_error='ignore' is unknown", '"reject" or "fail"'),
        ({"on_data_loss": "ignore"}, "on_data_loss", '"fail" or "continue"'),
        ({"codec": "avro"}, "codec='avro' is unknown", '"json"'),
        ({"options": {"a": object()}}, "is no string", "options are"),
        ({"options": ["a"]}, "are list, not names and values", "options={"),
        ({"options": "a=b"}, "are str, not names and values", "options={"),
    ],
)
def test_what_a_topic_cannot_be(arguments, message, cure):
    with pytest.raises(DeclarationError) as refused:
        Topic("payments", Payment, **arguments)
    assert message in refused.value.message
    assert cure in str(refused.value.cure)
    assert "test_topic.py:" in str(refused.value.where)


@pytest.mark.parametrize("name", ["", "a b", ".", "..", "x" * 250, None, "a/b"])
def test_names_that_kafka_refuses(name):
    with pytest.raises(DeclarationError, match="no name for a topic"):
        Topic(name, Payment)


def test_the_record_must_be_one():
    with pytest.raises(DeclarationError, match="int is no record"):
        Topic("t", int)
    with pytest.raises(DeclarationError, match="is no record"):
        Topic("t", "Payment")  # type: ignore[arg-type]


def test_a_watermark_needs_event_time():
    with pytest.raises(DeclarationError, match="no event time") as refused:
        Topic("t", Place).stream(watermark=Bounded("1 second"))
    assert 'Topic("t", Place, time="...")' in str(refused.value.cure)
    with pytest.raises(DeclarationError, match="no watermark"):
        payments.stream(watermark="5 seconds")  # type: ignore[arg-type]


def test_streams_are_streams():
    assert isinstance(payments.stream(), Stream)
