"""Epochs delivered, replayed and interrupted, against a real broker."""

from __future__ import annotations

import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.deliver.packing import packed
from tests.deliver.waiting import SECONDS, until

if TYPE_CHECKING:
    from tests.deliver.conftest import Delivering

pytestmark = pytest.mark.stack


def line(failure: Py4JJavaError) -> str:
    """The one line that says why, as the driver finds it."""
    text = str(failure.java_exception.toString())
    return text.split("DeliveryException: ", 1)[1].split("\n", 1)[0]


class Hanging:
    """Delivers three rows in a thread; the task waits ahead of the third, its transaction open, until it is
    told to go on: what happens meanwhile may take as long as it does."""

    def __init__(self, delivering: Delivering, epoch: int) -> None:
        self._java: Any = delivering.spark._jvm
        self._told = f"headrace.tests.{uuid.uuid4()}"
        rows = [packed((text.encode(), text.encode()), None) for text in ("h1", "h2", "h3")]
        # Looks a hundred times a second, for a minute at least. What is null, Spark gives as the text of it.
        told = f"java_method('java.lang.System', 'getProperty', '{self._told}') = 'yes'"
        sleep = "java_method('java.lang.Thread', 'sleep', 10L) = 'yes'"
        waited = (
            f"aggregate(sequence(1, 6000), false, (over, _) -> if(over, true, if({told}, true, {sleep})))"
        )
        frame = delivering.rows([rows, []]).selectExpr(f"if(at = 2 and not {waited}, null, packed) as packed")
        self._outcome: list[Any] = []

        def run() -> None:
            try:
                self._outcome.append(delivering.send(epoch, frame))
            except Py4JJavaError as failure:
                self._outcome.append(failure)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        until(lambda: delivering.texts(committed=False))

    def outcome(self) -> Any:
        """Let it go on, and return what it answered or how it failed."""
        self._java.java.lang.System.setProperty(self._told, "yes")
        self._thread.join(timeout=SECONDS)
        self._java.java.lang.System.clearProperty(self._told)
        [came] = self._outcome
        return came


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
    hanging = Hanging(delivering, 0)
    assert delivering.texts() == []  # its open transaction is not committed
    told = delivering.fence()
    assert told["lastEpoch"] == -1
    delivering.deliver(0, ["a"], [])
    assert delivering.texts() == ["a"]  # ... and no longer hides what is written after it
    assert "has taken over" in line(hanging.outcome())
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
    hanging = Hanging(delivering, 0)
    assert delivering.look()["checkpoints"] == {"first": -1}
    assert hanging.outcome()["delivered"]["alerts"] == 3
    assert delivering.look()["checkpoints"] == {"first": 0}


def test_a_second_attempt_beside_the_first_fences_it(delivering: Delivering):
    hanging = Hanging(delivering, 0)
    delivering.deliver(0, ["h1", "h2", "h3"], [])
    assert "has taken over" in line(hanging.outcome())
    assert delivering.texts() == ["h1", "h2", "h3"]


def test_a_failing_task_leaves_nothing_and_can_be_tried_again(delivering: Delivering):
    frame = delivering.rows([[packed((b"a", b"a"), None), packed((b"b", b"b"), None)], []])
    broken = frame.selectExpr("if(at = 1, cast(raise_error('boom') as binary), packed) as packed")
    with pytest.raises(PySparkException, match="boom"):
        delivering.send(0, broken)
    assert delivering.send(0, frame)["skipped"] == 0
    assert delivering.texts() == ["a", "b"]


def test_a_transaction_that_takes_too_long_says_which_setting_to_raise(delivering: Delivering):
    hanging = Hanging(delivering.but(timeout_ms=1000), 0)
    time.sleep(1.5)
    assert "delivery.transaction-timeout" in line(hanging.outcome())
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
