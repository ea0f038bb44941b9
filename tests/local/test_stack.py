import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from headrace.errors import SetupError
from headrace.local import ports
from headrace.local.process import Process, until
from headrace.local.stack import Stack

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def stack():
    """One stack for the module; each test leaves it running or not as it likes."""
    with Stack.temporary() as stack:
        yield stack


def port_of(address):
    return int(address.rpartition(":")[2])


def produce(address, topic, values):
    admin = AdminClient({"bootstrap.servers": address})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    producer = Producer({"bootstrap.servers": address, "transactional.id": topic})
    producer.init_transactions(60)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, timestamp=1_000)
    producer.commit_transaction(60)


def consume(address, topic, count):
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": uuid.uuid4().hex,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topic])
    read = []

    def arrived():
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            read.append(message.value())
        return len(read) >= count

    until(arrived, within=60, every=0)
    consumer.close()
    return read


def sockets_of(pid):
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        # It may be closed while we look.
        with contextlib.suppress(FileNotFoundError):
            if found := re.match(r"socket:\[(\d+)\]", str(descriptor.readlink())):
                yield found[1]


def test_what_was_written_is_there_after_a_restart(stack):
    address = stack.up(["kafka"])["kafka"]
    values = [b"a", b"b", b"c"]
    produce(address, "kept", values)
    assert consume(address, "kept", 3) == values
    assert stack.down() == ["kafka"]
    assert not ports.answers(port_of(address))
    assert stack.up()["kafka"] == address
    assert consume(address, "kept", 3) == values


def test_up_again_changes_nothing(stack):
    first = stack.up()
    assert set(first) == {"kafka"}, "others are started when they are named"
    pid = stack.status()["kafka"].pid
    assert stack.up() == first
    assert stack.status()["kafka"].pid == pid


def test_a_port_taken_meanwhile_is_replaced_and_remembered(stack):
    address = stack.up()["kafka"]
    if "kept" not in AdminClient({"bootstrap.servers": address}).list_topics(timeout=30).topics:
        produce(address, "kept", [b"a", b"b", b"c"])
    stack.down()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port_of(address)))
        other.listen()
        moved = stack.up()["kafka"]
    assert moved != address
    assert len(consume(moved, "kept", 3)) == 3
    stack.down()
    assert stack.up()["kafka"] == moved


def test_a_port_asked_for_that_is_busy_is_one_sentence(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        busy = other.getsockname()[1]
        with pytest.raises(SetupError, match=f"Port {busy}, asked for kafka, is in use") as raised:
            Stack(tmp_path).up(["kafka"], port=busy)
    assert raised.value.cure is not None
    assert Stack(tmp_path).status()["kafka"].state == "never started"


def test_it_listens_on_this_machine_alone(stack):
    address = stack.up()["kafka"]
    pid = stack.status()["kafka"].pid
    settings = (stack.folder / "kafka" / "server.properties").read_text()
    assert set(re.findall(r"//([^:]+):", settings)) == {"127.0.0.1"}
    if not Path(f"/proc/{pid}/net/tcp").exists():
        return
    inodes = set(sockets_of(pid))
    listening = [
        fields[1]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        if (fields := line.split())[3] == "0A" and fields[9] in inodes
    ]
    # 127.0.0.1, its bytes reversed.
    assert {where.split(":")[0] for where in listening} == {"0100007F"}
    assert port_of(address) in {int(where.split(":")[1], 16) for where in listening}


def test_a_killed_broker_comes_back_with_its_data(stack):
    """What was committed a moment before is not lost either, though its markers may not be written yet."""
    for number in range(3):
        address = stack.up()["kafka"]
        produce(address, f"survives{number}", [b"1", b"2"])
        pid = stack.status()["kafka"].pid
        os.kill(pid, 9)
        assert until(lambda: stack.status()["kafka"].state == "stopped", within=30)
        address = stack.up()["kafka"]
        assert sorted(consume(address, f"survives{number}", 2)) == [b"1", b"2"]


def test_only_a_killed_broker_is_declared_dead(stack):
    stack.up()
    told = stack.folder / "kafka" / "controller.log"
    stack.down()
    told.unlink(missing_ok=True)
    stack.up()
    assert not told.exists()
    os.kill(stack.status()["kafka"].pid, 9)
    assert until(lambda: stack.status()["kafka"].state == "stopped", within=30)
    stack.up()
    assert "Fencing broker 1" in told.read_text()


def test_a_process_that_got_the_pid_later_is_left_alone(stack):
    stack.up()
    stack.down()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as innocent:
        pid_file = stack.folder / "kafka" / "process.json"
        pid_file.write_text(json.dumps({"pid": innocent.pid, "started": "another boot 1"}))
        assert stack.status()["kafka"].state == "stopped"
        assert stack.down() == []
        assert innocent.poll() is None
        innocent.communicate(b"\n")


def test_a_server_that_cannot_start_says_its_last_words(tmp_path):
    data = tmp_path / "kafka" / "data"
    data.mkdir(parents=True)
    (data / "meta.properties").write_text("version=1\ncluster.id=x\nnode.id=99\n")
    with pytest.raises(SetupError, match="kafka ended while starting") as raised:
        Stack(tmp_path, anywhere=True).up()
    assert "node" in str(raised.value)
    assert Stack(tmp_path).status()["kafka"].pid is None


def test_a_server_that_we_do_not_have_is_named(tmp_path):
    with pytest.raises(SetupError, match="no local server 'kafak'"):
        Stack(tmp_path).up(["kafak"])


def test_a_process_is_known_again_by_its_pid_file(tmp_path):
    started = Process.start(
        [sys.executable, "-c", "input()"], log=tmp_path / "log", folder=tmp_path, variables=os.environ
    )
    started.write(tmp_path / "pid")
    assert until(lambda: not started.is_running(), within=30)
    assert Process.read(tmp_path / "pid") is None
