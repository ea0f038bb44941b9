import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from headrace import errors
from headrace.cli import COMMANDS, exit_code_of


def python(*arguments, **variables):
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", *sys.path]), **variables}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env=known
    )


def test_help_loads_neither_spark_nor_rich():
    program = """
import sys
from headrace.cli import exit_code_of
code = exit_code_of(["--help"])
heavy = {"pyspark", "rich", "confluent_kafka", "pandas", "pyarrow"} & set(sys.modules)
sys.exit(f"loaded {heavy}" if heavy or code else 0)
"""
    ran = python("-c", program)
    assert ran.returncode == 0, ran.stderr
    for command in COMMANDS:
        assert f"  {command} " in ran.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_there_and_explains_itself(command, capsys):
    assert exit_code_of([command, "--help"]) == 0
    assert f"headrace {command}" in capsys.readouterr().out


def test_an_error_is_told_in_plain_text_with_its_exit_code(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    assert exit_code_of(["logs"]) == errors.SetupError.exit_code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "kafka has no log yet" in shown.err
    assert "cure: start it: headrace up kafka" in shown.err
    assert "Traceback" not in shown.err


def test_a_command_that_does_not_exist_is_a_usage_error(capsys):
    assert exit_code_of(["fly"]) == 2
    assert "No such command 'fly'" in capsys.readouterr().err


def test_a_java_home_without_java_stops_set_up_at_once(tmp_path):
    ran = python("-m", "headrace", "setup", JAVA_HOME=str(tmp_path))
    assert ran.returncode == 4
    assert "there is no bin/java" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_status_as_json(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    assert exit_code_of(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kafka"]["state"] == "never started"


def test_down_with_nothing_running(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    assert exit_code_of(["down"]) == 0
    assert capsys.readouterr().out == "nothing was running\n"


def test_a_port_that_is_none_is_refused(capsys):
    assert exit_code_of(["up", "kafka", "--port", "0"]) == 2
    assert "--port" in capsys.readouterr().err


@pytest.mark.stack
def test_up_status_logs_down(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    try:
        assert exit_code_of(["up", "--json"]) == 0
        address = json.loads(capsys.readouterr().out)["kafka"]
        assert exit_code_of(["status"]) == 0
        assert address in capsys.readouterr().out
        assert exit_code_of(["logs", "-n", "5"]) == 0
        assert "started" in capsys.readouterr().out
    finally:
        assert exit_code_of(["down"]) == 0
    assert capsys.readouterr().out == "stopped kafka\n"


def test_every_command_option_and_exit_code_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "reference" / "commands.md").read_text()
    for name in COMMANDS:
        assert f"`headrace {name}" in text or f"`{name}`" in text, name
        command = getattr(import_module(f"headrace.cli.{name}"), name)
        for option in command.params:
            if isinstance(option, click.Option):
                [*_, longest] = sorted(option.opts, key=len)
                assert f"`{longest}`" in text, f"{name} {longest}"
    for kind in errors.HeadraceError.__subclasses__():
        assert f"| {kind.exit_code} |" in text, kind


@pytest.mark.parametrize("variable", ["LOG_LEVEL", "HOME", "CACHE", "MAVEN_MIRROR"])
def test_every_variable_of_the_machine_is_documented(variable):
    text = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text()
    assert f"| `HEADRACE_{variable}` |" in text


def test_a_bug_is_one_sentence_with_its_traceback_in_a_file(capsys, monkeypatch):
    monkeypatch.delenv("HEADRACE_LOG_LEVEL", raising=False)
    broken: dict[str, int] = {}
    monkeypatch.setattr("headrace.cli.headrace.main", lambda **_: broken["nothing"])
    assert exit_code_of(["status"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("error: this is a bug in headrace: KeyError: 'nothing'\n  cure: report it, with")
    file = Path(shown.split()[-1])
    assert "Traceback" in file.read_text()
    file.unlink()
    monkeypatch.setenv("HEADRACE_LOG_LEVEL", "DEBUG")
    assert exit_code_of(["status"]) == 1
    assert "Traceback" in capsys.readouterr().err
