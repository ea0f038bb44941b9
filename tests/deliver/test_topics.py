"""Topics made, counted, emptied and refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.deliver.conftest import Delivering

pytestmark = pytest.mark.stack


@pytest.fixture
def topics(delivering: Delivering) -> Iterator[Any]:
    opened = delivering.jvm.Topics(delivering.clients())
    yield opened
    opened.close()


def test_a_topic_is_created_once(delivering: Delivering, topics: Any):
    name = f"{delivering.pipeline}.new"
    assert topics.partitions(name) == 0
    assert topics.ensure(name, 3, -1, {"retention.ms": "-1"}, True) == "created"
    assert topics.ensure(name, 5, -1, {}, True) == "existed"
    assert topics.partitions(name) == 3
    assert name in list(topics.list())


def test_a_topic_is_not_created_unasked(delivering: Delivering, topics: Any):
    name = f"{delivering.pipeline}.absent"
    with pytest.raises(Py4JJavaError, match=r"does not exist; cure: .*kafka.create-topics = true"):
        topics.ensure(name, 3, 1, {}, False)


def test_markers_need_a_partition_per_task(delivering: Delivering, topics: Any):
    assert topics.ensureMarkers(delivering.markers, 2, 1, True) == "existed"
    with pytest.raises(Py4JJavaError, match="has 2 partitions and the pipeline's checkpoint 4 tasks"):
        topics.ensureMarkers(delivering.markers, 4, 1, True)


def test_markers_must_not_expire(delivering: Delivering, topics: Any):
    name = f"{delivering.pipeline}.expiring"
    topics.ensure(name, 2, 1, {"cleanup.policy": "delete"}, True)
    with pytest.raises(Py4JJavaError, match="would lose them"):
        topics.ensureMarkers(name, 2, 1, True)


def test_a_compacted_topic_cannot_be_emptied(delivering: Delivering, topics: Any):
    delivering.deliver(0, ["a"], [])
    with pytest.raises(Py4JJavaError, match="is compacted"):
        topics.truncate(delivering.markers)
