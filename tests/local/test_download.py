import hashlib
import random
import socket
import threading

import pytest

from headrace.errors import SetupError
from headrace.local.download import Remote, download
from headrace.local.mirror import Mirror
from tests.local.repository import Repository

CONTENT = random.Random(7).randbytes(300_000)
REMOTE = Remote("org/a/1/a-1.jar", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def repository():
    with Repository() as repository:
        repository.files[REMOTE.path] = CONTENT
        yield repository


def fetch(repository, target):
    reported: list[int] = []
    download(
        REMOTE,
        Mirror(repository.root + "/", "a test"),
        target,
        report=reported.append,
        stop=threading.Event(),
    )
    return reported


def part_of(target):
    return target.with_name(target.name + ".part")


def test_a_file_arrives_whole_and_leaves_no_part(repository, tmp_path):
    reported = fetch(repository, tmp_path / "a.jar")
    assert (tmp_path / "a.jar").read_bytes() == CONTENT
    assert [p.name for p in tmp_path.iterdir()] == ["a.jar"]
    assert reported == sorted(reported)
    assert reported[-1] == len(CONTENT)


def test_what_has_arrived_is_not_fetched_again(repository, tmp_path):
    part_of(tmp_path / "a.jar").write_bytes(CONTENT[:200_000])
    fetch(repository, tmp_path / "a.jar")
    assert (tmp_path / "a.jar").read_bytes() == CONTENT
    assert repository.requests == [(REMOTE.path, "bytes=200000-")]


def test_a_transfer_that_breaks_off_goes_on_where_it_stopped(repository, tmp_path):
    repository.breaks_off_after = [100_000]
    fetch(repository, tmp_path / "a.jar")
    assert (tmp_path / "a.jar").read_bytes() == CONTENT
    assert repository.requests == [(REMOTE.path, None), (REMOTE.path, "bytes=100000-")]


def test_a_server_that_knows_no_ranges_serves_as_well(repository, tmp_path):
    repository.honours_ranges = False
    part_of(tmp_path / "a.jar").write_bytes(CONTENT[:200_000])
    fetch(repository, tmp_path / "a.jar")
    assert (tmp_path / "a.jar").read_bytes() == CONTENT


@pytest.mark.parametrize("part", [b"x" * 200_000, b"x" * len(CONTENT), b"x" * (len(CONTENT) + 1)])
def test_a_damaged_part_is_fetched_anew(repository, tmp_path, part):
    part_of(tmp_path / "a.jar").write_bytes(part)
    fetch(repository, tmp_path / "a.jar")
    assert (tmp_path / "a.jar").read_bytes() == CONTENT


def test_a_wrong_file_is_thrown_away_and_named(repository, tmp_path):
    repository.files[REMOTE.path] = CONTENT[:-1] + b"?"
    with pytest.raises(SetupError, match=r"a-1\.jar .* does not have the pinned SHA-256 checksum") as raised:
        fetch(repository, tmp_path / "a.jar")
    assert raised.value.cure is not None
    assert raised.value.exit_code == 4
    assert not (tmp_path / "a.jar").exists()
    assert part_of(tmp_path / "a.jar").read_bytes() == b""
    assert len(repository.requests) == 1


def test_a_longer_file_is_a_wrong_file(repository, tmp_path):
    repository.files[REMOTE.path] = CONTENT + b"more"
    with pytest.raises(SetupError, match="checksum"):
        fetch(repository, tmp_path / "a.jar")


def test_a_mirror_without_the_file_is_not_asked_again(repository, tmp_path):
    repository.files.clear()
    with pytest.raises(SetupError, match=r"does not have org/a/1/a-1\.jar") as raised:
        fetch(repository, tmp_path / "a.jar")
    assert "HEADRACE_MAVEN_MIRROR" in raised.value.cure
    assert len(repository.requests) == 1


def test_no_network_is_one_sentence_and_keeps_what_has_arrived(tmp_path):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        root = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        target = tmp_path / "a.jar"
        part_of(target).write_bytes(CONTENT[:10])
        with pytest.raises(SetupError, match=r"could not be fetched from .*refused") as raised:
            download(REMOTE, Mirror(root, "a test"), target, report=lambda _: None, stop=threading.Event())
    assert "HTTPS_PROXY" in raised.value.cure
    assert part_of(target).read_bytes() == CONTENT[:10]


def test_two_that_want_the_same_file_fetch_it_once(repository, tmp_path):
    threads = [threading.Thread(target=fetch, args=(repository, tmp_path / "a.jar")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "a.jar").read_bytes() == CONTENT
    assert len(repository.requests) == 1
