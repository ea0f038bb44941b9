"""A JVM killed between the sending of its rows and their commit."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from py4j.java_gateway import CallbackServerParameters, GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JError

from headrace.local import java, kernel
from tests.deliver.packing import packed
from tests.deliver.waiting import SECONDS, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import Popen

    from tests.deliver.conftest import Delivering

pytestmark = [pytest.mark.stack, pytest.mark.chaos]


class ThirdRowNeverComes:
    """An iterator of Java's, served from here: its task stays in the middle of its transaction."""

    def __init__(self) -> None:
        self.rows = [packed((text, text), None) for text in (b"b", b"c")]
        self.killed = threading.Event()

    def hasNext(self) -> bool:  # noqa: N802
        if not self.rows:
            self.killed.wait(SECONDS)
        return bool(self.rows)

    def next(self) -> bytes:
        row: bytes = self.rows.pop(0)
        return row

    class Java:
        implements = ("java.util.Iterator",)


@contextmanager
def another_jvm() -> Iterator[tuple[Any, Popen[bytes]]]:
    spark = Path(pyspark.__file__).parent / "jars"
    port, process = launch_gateway(
        jarpath=str(next(spark.glob("py4j*.jar"))),
        classpath=":".join([*map(str, kernel.jars()), str(spark / "*")]),
        java_path=str(java.find().java),
        javaopts=["-Xmx256m", "-XX:TieredStopAtLevel=1", "--add-opens=java.base/java.nio=ALL-UNNAMED"],
        return_proc=True,
    )
    gateway = JavaGateway(
        # Objects of a killed JVM need no release; trying to would fail in the midst of a collection.
        gateway_parameters=GatewayParameters(port=port, enable_memory_management=False),
        callback_server_parameters=CallbackServerParameters(
            port=0, daemonize=True, daemonize_connections=True
        ),
    )
    try:
        back = gateway.get_callback_server().get_listening_port()
        home = gateway.jvm.java.net.InetAddress.getByName("127.0.0.1")
        gateway.java_gateway_server.resetCallbackClient(home, back)
        yield gateway.jvm, process
    finally:
        process.kill()
        process.wait(timeout=SECONDS)
        gateway.shutdown_callback_server()
        gateway.close()


def test_rows_of_a_killed_writer_are_read_once(delivering: Delivering):
    delivering.deliver(0, ["a"], [])
    delivering.jvm.Producers.close(delivering.pipeline)
    rows = ThirdRowNeverComes()

    def write(jvm: Any) -> None:
        deliver = jvm.headrace.deliver
        with pytest.raises(Py4JError):  # the connection breaks
            deliver.Delivery.task(deliver.DeliverySpec.parse(delivering.spec(1)), 0, 1, rows)

    with another_jvm() as (jvm, process):
        writer = threading.Thread(target=write, args=(jvm,))
        writer.start()
        until(lambda: len(delivering.texts(committed=False)) == 3)
        process.kill()  # SIGKILL
        process.wait(timeout=SECONDS)
        rows.killed.set()
        writer.join(timeout=SECONDS)
        assert not writer.is_alive()
    assert delivering.texts() == ["a"]

    told = delivering.fence()
    assert told["lastEpoch"] == 0
    assert delivering.deliver(1, ["b", "c", "d"], [])["skipped"] == 0
    assert delivering.texts() == ["a", "b", "c", "d"]
    assert len(delivering.texts(committed=False)) == 6  # the dead writer's two rows are there, aborted
