"""`headrace lateness` tells what is wrong before it reads anything."""

import sys

import pytest

from headrace.cli import exit_code_of
from headrace.watch.lateness import reading


def refused(capsys, *arguments):
    code = exit_code_of(["lateness", "payments", *arguments])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "cure: " in shown.err
    assert "Traceback" not in shown.err
    return code, shown.err


def test_a_broker_that_does_not_answer(capsys, monkeypatch):
    monkeypatch.setattr(reading, "ANSWER_SECONDS", 1)
    code, words = refused(capsys, "--time=at", "--kafka=127.0.0.1:1")
    assert code == 4
    assert "Kafka at 127.0.0.1:1 does not answer: " in words


def test_no_broker_at_all(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    monkeypatch.delenv("HEADRACE_KAFKA_BOOTSTRAP", raising=False)
    code, words = refused(capsys, "--time=at")
    assert code == 2
    assert "headrace up" in words


@pytest.mark.parametrize("column", ["", ".", "meta.", ".at"])
def test_a_column_that_is_none(capsys, column):
    assert refused(capsys, f"--time={column}", "--kafka=127.0.0.1:1")[0] == 2


@pytest.mark.parametrize("time", ["latest", "yesterday", "2026-02-30", "1769862615"])
def test_a_beginning_that_is_no_time(capsys, time):
    code, words = refused(capsys, "--time=at", "--kafka=127.0.0.1:1", f"--from={time}")
    assert code == 2
    assert f"--from {time!r} is no time" in words


def test_a_picture_without_matplotlib(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, words = refused(capsys, "--time=at", f"--png={tmp_path}/curve.png")
    assert code == 4
    assert "cure: pip install 'headrace[plot]'" in words


@pytest.mark.parametrize("file", ["curve.pdf", "missing/curve.png"])
def test_a_picture_that_cannot_be_written(capsys, tmp_path, file):
    assert refused(capsys, "--time=at", f"--png={tmp_path / file}")[0] == 2
