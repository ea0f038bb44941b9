import os
import subprocess
import sys
import zipfile

import pytest

from headrace.errors import SetupError
from headrace.local import artefacts
from tests.local.repository import Repository


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """The set ``spark`` as this machine has it, in a repository of its own, and an empty cache."""
    artefacts.fetch("spark")
    with Repository() as repository:
        for artefact in artefacts.lock()["spark"]:
            repository.files[artefact.remote.path] = artefact.path.read_bytes()
        monkeypatch.setenv("HEADRACE_MAVEN_MIRROR", repository.root)
        monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "cache"))
        yield repository


def test_every_jar_is_pinned_once_with_size_and_sum():
    lock = artefacts.lock()
    assert set(lock) == set(artefacts.SETS)
    for jars in lock.values():
        assert jars
        assert len({(jar.group, jar.name) for jar in jars}) == len(jars)
        assert all(jar.size > 0 and len(jar.sha256) == 64 for jar in jars)


def test_no_two_different_jars_share_a_file_name():
    by_name: dict[str, str] = {}
    for jar in (jar for jars in artefacts.lock().values() for jar in jars):
        assert by_name.setdefault(jar.file_name, jar.sha256) == jar.sha256


def test_a_set_is_fetched_once_and_then_needs_no_network(repository):
    reported: list[artefacts.Arrived] = []
    assert artefacts.fetch("spark", report=reported.append) == 6
    assert (reported[-1].files, reported[-1].bytes) == (6, reported[-1].of_bytes)
    repository.stop()
    assert artefacts.fetch("spark") == 0
    for jar in artefacts.jars("spark"):
        assert zipfile.is_zipfile(jar)


def test_one_wrong_jar_fails_the_fetch_and_the_right_ones_stay(repository):
    wrong = artefacts.lock()["spark"][0]
    repository.files[wrong.remote.path] = bytes(wrong.size)
    with pytest.raises(SetupError, match=rf"{wrong.file_name} .* checksum"):
        artefacts.fetch("spark")
    assert not wrong.path.exists()
    repository.files[wrong.remote.path] = b""
    with pytest.raises(SetupError):
        artefacts.fetch("spark")


def test_processes_that_fetch_at_once_share_the_work(repository):
    command = [sys.executable, "-c", "from headrace.local import artefacts; artefacts.fetch('spark')"]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", *sys.path])}
    running = [subprocess.Popen(command, env=variables) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert len(repository.requests) == 6
    assert artefacts.missing("spark") == []


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("HEADRACE_MAVEN_MIRROR", "http://127.0.0.1:1/")
    with pytest.raises(SetupError, match="cannot be made") as raised:
        artefacts.fetch("spark")
    assert "HEADRACE_CACHE" in raised.value.cure
