"""`headrace lateness` on a real broker: what it measures, what it draws, and its errors."""

import json
import os
import struct
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from headrace.cli import exit_code_of
from tests.run.broker import SECONDS, Broker

pytestmark = pytest.mark.stack
START = datetime(2025, 1, 31, 12, tzinfo=UTC)
# Row n comes n milliseconds after the start; every tenth is late by this, one by far more.
LATE = timedelta(seconds=2)
VERY_LATE = timedelta(seconds=50)
ROWS = 4_000


def at(place, late=timedelta(0)):
    return (START + timedelta(milliseconds=place) - late).isoformat()


def message(place):
    late = VERY_LATE if place == ROWS - 5 else LATE if place % 10 == 5 and place > 2_000 else timedelta(0)
    return json.dumps({"id": place, "meta": {"at": at(place, late), "by": "x"}}).encode()


@pytest.fixture(scope="module")
def broker(kafka):
    return Broker(kafka)


@pytest.fixture(scope="module")
def topic(broker):
    """Two partitions, the second with rows that cannot be measured; retention must not delete 2025."""
    name = f"lateness-{uuid.uuid4().hex[:8]}"
    broker.create(name, 2, **{"retention.ms": "-1"})
    broker.send(name, (message(place) for place in range(ROWS)), partition=0)
    future = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    bad = [None, b"{", b"", b"[]", {"id": 1}]
    bad += [{"meta": {"at": None}}, {"meta": {"at": 1}}, {"meta": {"at": future}}]
    broker.send(name, bad, partition=1)
    broker.send(name, (message(place) for place in range(1_000)), partition=1)
    return name


def measured(capsys, *arguments):
    assert exit_code_of(["lateness", *arguments, "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return json.loads(shown.out)


def refused(capsys, *arguments):
    code = exit_code_of(["lateness", *arguments])
    shown = capsys.readouterr()
    assert code != 0
    assert shown.out == ""
    assert "cure: " in shown.err
    assert "Traceback" not in shown.err
    return shown.err


def test_all_numbers_through_the_command_line(broker, topic, tmp_path):
    png = tmp_path / "curve.png"
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "headrace", "lateness", topic, "--time", "meta.at"),
            *(f"--kafka={broker.address}", "--json", f"--png={png}"),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    told = json.loads(ran.stdout)
    assert told["rows"] == {"read": ROWS + 1_008, "measured": ROWS + 1_000, "not_read": 0}
    assert {why: each["rows"] for why, each in told["refused"].items()} == {
        "tombstone": 1,
        "unreadable": 3,
        "missing": 2,
        "no_time": 1,
        "future": 1,
    }
    assert told["refused"]["missing"]["first"] == {"partition": 1, "offset": 4}
    first, second = told["partitions"]
    # The row before the very late one is a millisecond older.
    assert (first["longest_lag_seconds"], second["longest_lag_seconds"]) == (49.999, 0)
    assert (first["rows"], first["in_order"], second["in_order"]) == (ROWS, ROWS - 200, 1_000)
    assert told["resolution"] == {"exact": True, "relative_error": 0}
    assert told["overall"]["lag_seconds"]["0.9"] == 0
    assert 1.99 < told["overall"]["lag_seconds"]["0.999"] < 2
    assert told["overall"]["curve"][-1] == {"lag_seconds": 49.999, "completeness": 1, "late": 0}
    assert told["recommendation"]["bounded"]["code"] == 'Bounded("2 seconds")'
    assert told["recommendation"]["bounded"]["late"] == 1
    assert [choice["asked"] for choice in told["choices"]] == [0.99, 0.999, 1]
    head = png.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", head[16:]) == (1296, 777)


def test_the_text(capsys, broker, topic):
    assert exit_code_of(["lateness", topic, "--time", "meta.at", "--kafka", broker.address]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{topic} by meta.at: 5,000 rows measured in 2 partitions, from the start" in shown
    assert "no JSON object: 3 (first: partition 1, offset 1)" in shown
    assert 'With Bounded("2 seconds") 99.98 % of the rows come in time, 1 would be late' in shown


def test_no_more_rows_than_asked_for_and_of_each_partition(capsys, broker, topic):
    told = measured(capsys, topic, "--time=meta.at", f"--kafka={broker.address}", "--max-rows=1000")
    assert told["rows"]["read"] == 1_000
    assert told["rows"]["not_read"] == ROWS + 8
    assert [each["read"] for each in told["partitions"]] == [798, 202]


def test_from_a_time_of_the_brokers(capsys, broker):
    name = f"lateness-{uuid.uuid4().hex[:8]}"
    broker.create(name, 2, **{"retention.ms": "-1"})
    producer = Producer({"bootstrap.servers": broker.address, "enable.idempotence": True})
    for place in range(10):
        stamp = int((START + timedelta(minutes=place)).timestamp() * 1_000)
        producer.produce(name, json.dumps({"at": at(place)}), partition=0, timestamp=stamp)
    assert producer.flush(SECONDS) == 0
    since = at(7 * 60_000).replace("+00:00", "Z")
    told = measured(capsys, name, "--time=at", f"--kafka={broker.address}", f"--from={since}")
    assert (told["rows"]["read"], told["from"]) == (3, at(7 * 60_000))
    words = refused(capsys, name, "--time=at", f"--kafka={broker.address}", "--from=2025-02-01")
    assert "holds no rows since 2025-02-01T00:00:00+00:00" in words


def test_only_what_is_committed_and_nothing_is_committed_by_it(capsys, broker):
    name = f"lateness-{uuid.uuid4().hex[:8]}"
    broker.create(name, 1, **{"retention.ms": "-1"})
    producer = Producer({"bootstrap.servers": broker.address, "transactional.id": name})
    producer.init_transactions(SECONDS)
    for kept in (True, False, True, False):
        producer.begin_transaction()
        for place in range(100):
            producer.produce(name, json.dumps({"at": at(place)}))
        # The topic ends with rows that do not count, and with their marker.
        (producer.commit_transaction if kept else producer.abort_transaction)(SECONDS)
    told = measured(capsys, name, "--time=at", f"--kafka={broker.address}")
    assert told["rows"]["read"] == 200
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "headrace-lateness"})
    [committed] = consumer.committed([TopicPartition(name, 0)], timeout=SECONDS)
    consumer.close()
    assert committed.offset < 0


def test_options_of_the_settings_hold_and_those_without_meaning_are_named(capsys, broker, topic, monkeypatch):
    monkeypatch.setenv("HEADRACE_KAFKA_OPTIONS", json.dumps({"key.deserializer": "s3cret"}))
    monkeypatch.setenv("HEADRACE_KAFKA_BOOTSTRAP", broker.address)
    assert exit_code_of(["lateness", topic, "--time=meta.at", "--max-rows=100"]) == 0
    noted = capsys.readouterr().err
    assert noted == "note: the Kafka option 'key.deserializer' means nothing here and is left out\n"
    monkeypatch.setenv("HEADRACE_KAFKA_OPTIONS", json.dumps({"sasl.jaas.config": "s3cret required;"}))
    words = refused(capsys, topic, "--time=meta.at")
    assert "sasl.jaas.config" in words
    assert "s3cret" not in words


def test_a_column_that_no_row_has(capsys, broker, topic):
    words = refused(capsys, topic, "--time=meta.att", f"--kafka={broker.address}")
    assert f"no row of '{topic}' has a column meta.att" in words
    assert 'did you mean "meta.at"? columns that hold times: meta.at' in words
    words = refused(capsys, topic, "--time=id", f"--kafka={broker.address}")
    assert f"id holds a time in no row of '{topic}': the first is " in words
    assert " (a number)" in words


def test_an_unknown_topic(capsys, broker, topic):
    words = refused(capsys, topic.replace("late", "lat"), "--time=at", f"--kafka={broker.address}")
    assert f'did you mean "{topic}"?' in words
    assert topic.replace("late", "lat") not in broker._admin.list_topics(timeout=SECONDS).topics


def test_an_empty_topic(capsys, broker):
    name = f"lateness-{uuid.uuid4().hex[:8]}"
    broker.create(name)
    assert f"the topic '{name}' holds no rows" in refused(
        capsys, name, "--time=at", f"--kafka={broker.address}"
    )


def test_rows_that_are_no_json(capsys, broker):
    name = f"lateness-{uuid.uuid4().hex[:8]}"
    broker.create(name)
    broker.send(name, [b"\x00\x00\x00\x00\x01avro"] * 3)
    words = refused(capsys, name, "--time=at", f"--kafka={broker.address}")
    assert f"all 3 rows of '{name}' are no JSON objects" in words
