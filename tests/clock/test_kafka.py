"""Spark's Kafka source, steered: capped epochs, a clock that knows the partitions, Spark's own offsets."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    NewPartitions,
    NewTopic,
)

from tests.clock.running import END, SECOND, Clocked

pytestmark = pytest.mark.stack

Make = Callable[..., Clocked]


class Topic:
    """A topic of one test."""

    def __init__(self, servers: str, partitions: int) -> None:
        self.servers = servers
        self.name = f"payments-{uuid.uuid4().hex[:8]}"
        self.admin = AdminClient({"bootstrap.servers": servers})
        config = {"retention.ms": "-1"}
        new = NewTopic(self.name, partitions, 1, config=config)
        self.admin.create_topics([new])[self.name].result(30)
        self.producer = self._producer()

    def send(self, partition: int, seconds: Iterable[float]) -> None:
        for at in seconds:
            self.producer.produce(self.name, str(int(at * SECOND)), partition=partition)
            self.producer.poll(0)
        assert self.producer.flush(30) == 0

    def grow(self, partitions: int) -> None:
        self.admin.create_partitions([NewPartitions(self.name, partitions)])[self.name].result(30)
        deadline = time.monotonic() + 30
        while len(self.admin.list_topics(self.name).topics[self.name].partitions) < partitions:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        # A producer learns of new partitions late; a new one knows them.
        self.producer = self._producer()

    def _producer(self) -> Producer:
        # Without idempotence what is sent again, as on a new topic, comes after what was sent later.
        return Producer({"bootstrap.servers": self.servers, "linger.ms": 5, "enable.idempotence": True})

    def cut(self, partition: int, offset: int) -> None:
        """What retention does, at once."""
        deleted = self.admin.delete_records([TopicPartition(self.name, partition, offset)])
        for done in deleted.values():
            done.result(30)

    def options(self, **more: Any) -> dict[str, str]:
        return {
            "kafka.bootstrap.servers": self.servers,
            "subscribe": self.name,
            "startingOffsets": "earliest",
            **{name: str(value) for name, value in more.items()},
        }


@pytest.fixture
def topic(kafka: Any) -> Callable[[int], Topic]:
    return lambda partitions: Topic(str(getattr(kafka, "servers", kafka)), partitions)


def test_offsets_in_the_checkpoint_are_sparks_own(clocked: Make, topic: Callable[[int], Topic]) -> None:
    payments = topic(2)
    payments.send(0, [100, 90])
    payments.send(1, [80])
    one = clocked(kafka={"payments": payments.options()})
    epochs = one.run()
    assert sorted(at for e in epochs for _, _, at in e.rows) == [80 * SECOND, 90 * SECOND, 100 * SECOND]
    assert epochs[-1].watermarks == {1: 75 * SECOND}
    text = (one.checkpoint / "offsets" / "0").read_text()
    assert f'payments:{{"{payments.name}":{{"0":2,"1":1}}}}' in text
    # Where Spark's source keeps what "earliest" stood for.
    assert (one.checkpoint / "sources" / "payments" / "0").exists()


def test_an_epoch_takes_no_more_rows_than_allowed(clocked: Make, topic: Callable[[int], Topic]) -> None:
    payments = topic(2)
    payments.send(0, range(100, 120))
    payments.send(1, range(100, 120))
    one = clocked(kafka={"payments": payments.options(fixedRowsPerEpoch=10)})
    sizes = [len(e.rows) for e in one.run()]
    assert sum(sizes) == 40
    assert max(sizes) <= 10


def test_partitions_added_while_running_are_read_from_their_start(
    clocked: Make, topic: Callable[[int], Topic]
) -> None:
    payments = topic(1)
    payments.send(0, [100])
    options = payments.options(**{"kafka.metadata.max.age.ms": 200})
    one = clocked(kafka={"payments": options})
    one.start(processingTime="0 seconds")
    one.until(lambda: one.watermark() == 95 * SECOND)
    payments.grow(2)
    payments.send(1, [70, 150])
    payments.send(0, [200])
    one.until(lambda: one.watermark() == 145 * SECOND)
    assert (0, 1, 70 * SECOND) in [row for e in one.epochs for row in e.rows]
    assert set(one.status()["sources"]["payments"]["partitions"]) == {"0", "1"}


def test_unread_backlog_in_the_broker_holds_a_bounded_run(
    clocked: Make, topic: Callable[[int], Topic]
) -> None:
    payments = topic(2)
    payments.send(0, [100, 200])
    one = clocked(kafka={"payments": payments.options(fixedRowsPerEpoch=1)}, idle=0)
    # Rows that come after the run began are not read in it, and are not silence either.
    sent: list[int] = []
    take = one._epoch

    def then_send(batch: Any, number: int) -> None:
        take(batch, number)
        if not sent:
            sent.append(number)
            payments.send(1, [50])

    one._epoch = then_send  # type: ignore[method-assign]
    epochs = one.run()
    assert all(e.watermarks[1] < 0 for e in epochs)
    assert [row for e in one.run() for row in e.rows] == [(0, 1, 50 * SECOND)]


def test_the_ends_of_transactions_are_no_backlog(clocked: Make, topic: Callable[[int], Topic]) -> None:
    payments = topic(1)
    writer = Producer({"bootstrap.servers": payments.servers, "transactional.id": payments.name})
    writer.init_transactions(30)
    for at, end in ((100, writer.commit_transaction), (900, writer.abort_transaction)):
        writer.begin_transaction()
        writer.produce(payments.name, str(at * SECOND), partition=0)
        writer.flush(30)
        end(30)
    one = clocked(kafka={"payments": payments.options(**{"kafka.isolation.level": "read_committed"})})
    assert [row for e in one.run() for row in e.rows] == [(0, 0, 100 * SECOND)]
    partition = one.status()["sources"]["payments"]["partitions"]["0"]
    assert (partition["processed"], partition["end"], partition["standing"]) == (4, 4, "caught_up")
    assert one.watermark() == 95 * SECOND
    one.drain = True
    assert one.run()[-1].watermarks == {1: END}


def test_the_wait_for_a_trigger_is_not_work(clocked: Make, topic: Callable[[int], Topic]) -> None:
    payments = topic(1)
    payments.send(0, range(4_000))
    one = clocked(kafka={"payments": payments.options(maxRowsPerEpoch=1_000, targetEpochMillis=5_500)})
    # An epoch's work must take less than the target on a busy machine too, and with the wait it takes more.
    one.start(processingTime="6 seconds")
    one.until(lambda: sum(len(e.rows) for e in one.epochs) == 4_000)
    assert max(len(e.rows) for e in one.epochs) > 1_000


def test_draining_a_topic_moves_w_to_the_end(clocked: Make, topic: Callable[[int], Topic]) -> None:
    payments = topic(3)
    payments.send(0, range(100, 120))
    one = clocked(kafka={"payments": payments.options(fixedRowsPerEpoch=7)}, drain=True)
    epochs = one.run()
    assert sum(len(e.rows) for e in epochs) == 20
    assert [e.watermarks[1] == END for e in epochs] == [False] * (len(epochs) - 1) + [True]
    assert one.run() == []


def test_a_poll_asks_the_broker_now_and_then_only(clocked: Make, topic: Callable[[int], Topic]) -> None:
    payments = topic(1)
    payments.send(0, [100])
    one = clocked(kafka={"payments": payments.options(freshMillis=250)})
    # What is told was told by the last epoch: the calls are those since some time after the start.
    since = time.monotonic()
    one.start(processingTime="0 seconds")
    one.until(lambda: one.watermark() == 95 * SECOND)

    def calls() -> int:
        return int(one.source_metrics()["remoteCalls"])

    payments.send(0, [110])
    one.until(lambda: one.watermark() == 105 * SECOND)
    before = calls()
    time.sleep(2)
    payments.send(0, [120])
    one.until(lambda: one.watermark() == 115 * SECOND)
    seconds = time.monotonic() - since
    # The trigger interval is empty: Spark asks hundreds of times a second.
    assert 2 <= calls() - before <= 4 * seconds + 10


def test_rows_deleted_by_retention_are_an_error_in_one_sentence(
    clocked: Make, topic: Callable[[int], Topic]
) -> None:
    payments = topic(1)
    payments.send(0, [100, 110])
    one = clocked(kafka={"payments": payments.options()})
    one.run()
    payments.send(0, [120, 130, 140])
    payments.cut(0, 4)
    with pytest.raises(Exception, match="partition 0 goes on at offset 2 and now begins at 4") as lost:
        one.run()
    assert 'on_data_loss="continue"' in str(lost.value)
    one.stop()
    one.kafka["payments"]["failOnDataLoss"] = "false"
    assert [at for e in one.run() for _, _, at in e.rows] == [140 * SECOND]


def test_a_source_reads_one_topic(clocked: Make, topic: Callable[[int], Topic]) -> None:
    payments = topic(1)
    options = payments.options() | {"subscribe": f"{payments.name},other"}
    one = clocked(kafka={"payments": options})
    with pytest.raises(Exception, match="A source reads one topic"):
        one.run()


def test_metrics_tell_backlog_and_pace(clocked: Make, topic: Callable[[int], Topic]) -> None:
    payments = topic(1)
    payments.send(0, range(100, 130))
    one = clocked(kafka={"payments": payments.options(fixedRowsPerEpoch=10)})
    one.run()
    metrics = one.source_metrics()
    assert metrics["rowsPerEpoch"] == "10"
    assert one.clock.backlog("payments") == 0
    assert json.loads(one.clock.status())["sources"]["payments"]["partitions"]["0"]["end"] == 30


def test_a_fast_topic_waits_for_a_slow_one_and_a_bounded_run_reads_both(
    clocked: Make, topic: Callable[[int], Topic]
) -> None:
    fast, slow = topic(1), topic(2)
    fast.send(0, range(0, 36_000, 360))
    slow.send(0, range(0, 3_600, 6))
    slow.send(1, range(0, 3_600, 6))
    one = clocked(
        ("fast", "slow"),
        kafka={"fast": fast.options(fixedRowsPerEpoch=10), "slow": slow.options(fixedRowsPerEpoch=100)},
        align=600,
    )
    sent: list[int] = []
    take = one._epoch

    def then_send(batch: Any, number: int) -> None:
        take(batch, number)
        if not sent:
            # Not of this run: unread for good, and nobody may wait for it.
            sent.append(number)
            slow.send(0, [10] * 500)

    one._epoch = then_send  # type: ignore[method-assign]
    epochs = one.run()
    assert sum(len(e.rows) for e in epochs) == 100 + 1_200
    reached = {0: 0, 1: 0}
    read = 0
    for epoch in epochs:
        for source, _, at in epoch.rows:
            reached[source] = max(reached[source], at // SECOND)
            read += source
        # An epoch of the fast one is an hour.
        assert read >= 1_100 or reached[0] <= reached[1] + 600 + 3_600
