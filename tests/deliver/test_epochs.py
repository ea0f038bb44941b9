"""Epochs delivered, replayed and interrupted, against a real broker."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.deliver.packing import packed
from tests.deliver.waiting import until

if TYPE_CHECKING:
    from tests.deliver.conftest import Delivering

pytestmark = pytest.mark.stack


def line(failure: Py4JJavaError) -> str:
    """The one line that says why, as the driver finds it."""
    text = str(failure.java_exception.toString())
    return text.split("DeliveryException: ", 1)[1].split("\n", 1)[0]


def hanging(delivering: Delivering, epoch: int, seconds: float) -> tuple[threading.Thread, list[Any]]:
    """Delivers three rows in a thread; the task sleeps ahead of the third, its transaction open."""
    rows = [packed((text.encode(), text.encode()), None) for text in ("h1", "h2", "h3")]
    frame = delivering.rows([rows, []]).selectExpr(
        f"if(at = 2 and length(java_method('java.lang.Thread', 'sleep', {int(seconds * 1000)}L)) < 0,"
        " null, packed) as packed"
    )
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(delivering.send(epoch, frame))
        except Py4JJavaError as failure:
            outcome.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome


def test_an_epoch_arrives_once_and_is_counted(delivering: Delivering):
    told = delivering.deliver(0, ["a", "b"], ["c"], late=3)
    assert told["delivered"] == {"alerts": 3, "late": 3}
    assert (told["tasks"], told["skipped"]) == (2, 0)
    assert told["bytes"] == 6
    assert sorted(delivering.texts()) == ["a", "b", "c"]


def test_a_replayed_epoch_is_counted_and_not_sent(delivering: Delivering):
    delivering.deliver(0, ["a"], ["b"])
    for restarted in (False, True):
        if restarted:
            delivering.fence()
        told = delivering.deliver(0, ["a"], ["b"], late=1)
        assert told["delivered"] == {"alerts": 2, "late": 1}
        assert told["skipped"] == 2
    delivering.deliver(1, ["c"], [])
    assert sorted(delivering.texts()) == ["a", "b", "c"]


def test_the_order_within_a_task_is_kept(delivering: Delivering):
    texts = [f"{at:05}" for at in range(3000)]
    delivering.but(options={"batch.size": "2000"}).deliver(0, texts)
    assert delivering.texts() == texts


def test_nulls_are_tombstones_and_rows_without_a_key(delivering: Delivering):
    rows = [packed((b"k", None), None), packed((None, b"v"), None), packed((b"", b""), None)]
    delivering.send(0, delivering.rows([rows, []]))
    assert delivering.read() == [(b"k", None), (None, b"v"), (b"", b"")]


def test_an_empty_epoch_writes_nothing_and_hides_nothing(delivering: Delivering):
    delivering.deliver(0, ["a"], [])
    for epoch in (1, 2):
        assert delivering.deliver(epoch, [], [], late=1)["skipped"] == 0
    assert delivering.fence()["lastEpoch"] == 0
    delivering.deliver(2, [], [], late=1)  # replayed
    delivering.deliver(3, ["b"], [])
    assert delivering.texts() == ["a", "b"]


def test_a_new_checkpoint_is_a_new_history(delivering: Delivering):
    delivering.deliver(0, ["a"], ["b"])
    other = delivering.but(checkpoint="second")
    before = other.fence()
    assert before == {"checkpoints": {"first": 0}, "lastEpoch": None, "others": ["first"], "unmarked": []}
    other.adopt()
    assert other.fence() == {"checkpoints": {"second": -1}, "lastEpoch": -1, "others": [], "unmarked": []}
    assert other.deliver(0, ["a"], ["b"])["skipped"] == 0
    assert sorted(delivering.texts()) == ["a", "a", "b", "b"]


def test_adopting_again_keeps_what_this_history_has_delivered(delivering: Delivering):
    delivering.jvm.Histories.forget(delivering.spec())
    delivering.but(partitions=1).adopt()  # as if killed while adopting
    delivering.deliver(0, ["a"], [])
    assert delivering.fence()["unmarked"] == [1]
    delivering.adopt()
    assert delivering.fence() == {"checkpoints": {"first": 0}, "lastEpoch": 0, "others": [], "unmarked": []}
    assert delivering.deliver(0, ["a"], [])["skipped"] == 1


def test_a_replaced_history_empties_the_topic(delivering: Delivering):
    delivering.deliver(0, ["a", "b"], [])
    other = delivering.but(checkpoint="second")
    other.fence()
    topics = other.jvm.Topics(other.clients())
    assert topics.truncate(other.topic) == 3  # two rows and the end of their transaction
    topics.close()
    other.adopt()
    other.deliver(0, ["c"], [])
    assert delivering.texts() == ["c"]


def test_a_forgotten_pipeline_has_no_history(delivering: Delivering):
    delivering.deliver(0, ["a"], ["b"])
    delivering.jvm.Histories.forget(delivering.spec())
    assert delivering.fence()["checkpoints"] == {}


def test_a_zombie_is_fenced_and_its_rows_stay_unread(delivering: Delivering):
    thread, outcome = hanging(delivering, 0, 3)
    until(lambda: delivering.texts(committed=False))
    assert delivering.texts() == []  # its open transaction is not committed
    told = delivering.fence()
    assert told["lastEpoch"] == -1
    delivering.deliver(0, ["a"], [])
    assert delivering.texts() == ["a"]  # ... and no longer hides what is written after it
    thread.join(timeout=30)
    assert "has taken over" in line(outcome[0])
    assert delivering.texts() == ["a"]
    assert delivering.deliver(0, ["a"], [])["skipped"] == 1


def test_a_zombie_of_another_history_is_shut_out(delivering: Delivering):
    delivering.deliver(0, ["a"], ["b"])
    other = delivering.but(checkpoint="second")
    other.adopt()
    with pytest.raises(Py4JJavaError) as caught:
        delivering.deliver(1, ["c"], [])  # reads the markers when it opens a producer
    assert "another history (second) has taken over" in line(caught.value)
    assert "headrace reset FILE" in line(caught.value)
    other.deliver(0, ["d"], [])
    assert sorted(delivering.texts()) == ["a", "b", "d"]
    assert other.fence()["others"] == []


def test_rows_are_not_written_where_the_markers_are_gone(delivering: Delivering):
    delivering.jvm.Histories.forget(delivering.spec())
    with pytest.raises(Py4JJavaError) as caught:
        delivering.deliver(0, ["a"], [])
    assert "its marker is gone from topic" in line(caught.value)
    assert delivering.texts() == []


def test_looking_at_the_markers_disturbs_nobody(delivering: Delivering):
    thread, outcome = hanging(delivering, 0, 2)
    until(lambda: delivering.texts(committed=False))
    assert delivering.look()["checkpoints"] == {"first": -1}
    thread.join(timeout=30)
    assert outcome[0]["delivered"]["alerts"] == 3
    assert delivering.look()["checkpoints"] == {"first": 0}


def test_a_second_attempt_beside_the_first_fences_it(delivering: Delivering):
    thread, outcome = hanging(delivering, 0, 2)
    until(lambda: delivering.texts(committed=False))
    delivering.deliver(0, ["h1", "h2", "h3"], [])
    thread.join(timeout=30)
    assert "has taken over" in line(outcome[0])
    assert delivering.texts() == ["h1", "h2", "h3"]


def test_a_failing_task_leaves_nothing_and_can_be_tried_again(delivering: Delivering):
    frame = delivering.rows([[packed((b"a", b"a"), None), packed((b"b", b"b"), None)], []])
    broken = frame.selectExpr("if(at = 1, cast(raise_error('boom') as binary), packed) as packed")
    with pytest.raises(PySparkException, match="boom"):
        delivering.send(0, broken)
    assert delivering.send(0, frame)["skipped"] == 0
    assert delivering.texts() == ["a", "b"]


def test_a_transaction_that_takes_too_long_says_which_setting_to_raise(delivering: Delivering):
    thread, outcome = hanging(delivering.but(timeout_ms=1000), 0, 1.5)
    thread.join(timeout=30)
    assert "delivery.transaction-timeout" in line(outcome[0])
    delivering.fence()  # as a start with a longer time does
    delivering.deliver(0, ["a"], [])
    assert delivering.texts() == ["a"]


def test_at_least_once_arrives_and_is_sent_again_on_replay(delivering: Delivering):
    plain = delivering.but(guarantee="at-least-once")
    assert plain.deliver(0, ["a"], ["b"], late=1)["delivered"] == {"alerts": 2, "late": 1}
    assert plain.deliver(0, ["a"], ["b"])["skipped"] == 0
    assert sorted(delivering.texts()) == ["a", "a", "b", "b"]
    assert plain.fence() == {"checkpoints": {}, "lastEpoch": None, "others": [], "unmarked": [0, 1]}


def test_another_number_of_tasks_is_refused(delivering: Delivering):
    frame = delivering.but(partitions=3).rows([[packed(None, (None, b"late"))], [], []])
    with pytest.raises(Py4JJavaError, match="3 partitions; its checkpoint was begun with 2"):
        delivering.send(0, frame)
