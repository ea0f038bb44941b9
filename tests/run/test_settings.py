from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headrace import SettingsError
from headrace.run import query, settings


def write(folder: Path, text: str) -> None:
    (folder / "headrace.toml").write_text(text)


def test_arguments_beat_the_environment_and_that_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, '[kafka]\nbootstrap = "file:1"\npartitions = 3\n[epoch]\ntarget = "5 seconds"\n')
    monkeypatch.setenv("HEADRACE_KAFKA_BOOTSTRAP", "environment:2")
    loaded = settings.load({"spark.master": "local[1]", "checkpoint": None}, tmp_path)
    assert loaded["kafka.bootstrap"] == "environment:2"
    assert loaded["kafka.partitions"] == 3
    assert loaded["epoch.target"] == timedelta(seconds=5)
    assert settings.load({"kafka.bootstrap": "argument:3"}, tmp_path)["kafka.bootstrap"] == "argument:3"


def test_secrets_come_from_the_environment_and_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, '[kafka.options]\n"sasl.jaas.config" = "password=${SECRET}"\n')
    with pytest.raises(SettingsError, match="no variable SECRET"):
        settings.load(folder=tmp_path)
    monkeypatch.setenv("SECRET", "hunter2")
    loaded = settings.load(folder=tmp_path)
    assert loaded["kafka.options"] == {"sasl.jaas.config": "password=hunter2"}
    assert "hunter2" not in repr(loaded)


def test_an_unknown_setting_gets_a_hint(tmp_path: Path) -> None:
    write(tmp_path, '[kafka]\nbootsrap = "x"\n')
    with pytest.raises(SettingsError, match=r"kafka\.bootstrap"):
        settings.load(folder=tmp_path)


def test_a_value_that_cannot_be_used_is_named_but_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_EPOCH_MAX_ROWS", "many-secrets")
    with pytest.raises(SettingsError, match=r"epoch\.max-rows") as caught:
        settings.load(folder=tmp_path)
    assert "many-secrets" not in str(caught.value)


def test_checkpoints_lie_beside_the_file_or_at_a_uri(tmp_path: Path) -> None:
    write(tmp_path, 'checkpoint = "state"\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    assert settings.load(folder=inner).checkpoint_of("fraud") == f"file://{tmp_path}/state/fraud"
    remote = settings.load({"checkpoint": "hdfs://host/state/"}, tmp_path)
    assert remote.checkpoint_of("fraud") == "hdfs://host/state/fraud"


def test_a_cluster_needs_its_number_of_state_partitions_said(tmp_path: Path) -> None:
    session: Any = SimpleNamespace(
        sparkContext=SimpleNamespace(master="spark://host:7077", defaultParallelism=2)
    )
    with pytest.raises(SettingsError, match=r"HEADRACE_STATE_PARTITIONS"):
        query.first_partitions(settings.load(folder=tmp_path), session)
    assert query.first_partitions(settings.load({"state.partitions": 16}, tmp_path), session) == 16
    session.sparkContext.master = "local[*,4]"
    assert query.first_partitions(settings.load(folder=tmp_path), session) == 2


def test_dots_in_the_names_of_options_need_no_quotes(tmp_path: Path) -> None:
    write(tmp_path, '[kafka.options]\nsecurity.protocol = "SSL"\n"sasl.mechanism" = "PLAIN"\nretries = 3\n')
    assert settings.load(folder=tmp_path)["kafka.options"] == {
        "security.protocol": "SSL",
        "sasl.mechanism": "PLAIN",
        "retries": "3",
    }


def test_an_option_that_is_a_list_is_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path, '[kafka.options]\nssl.protocols = ["secret"]\n')
    with pytest.raises(SettingsError, match=r"kafka\.options must be .*ssl\.protocols is not") as caught:
        settings.load(folder=tmp_path)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("value", ["5 parsecs", "hunter2", "-1 second", "200 years"])
def test_a_wrong_duration_names_its_setting_and_place_and_not_the_value(tmp_path: Path, value: str) -> None:
    write(tmp_path, f'[epoch]\ninterval = "{value}"\n')
    with pytest.raises(SettingsError, match=r"epoch\.interval must be a duration") as caught:
        settings.load(folder=tmp_path)
    assert str(tmp_path / "headrace.toml") in str(caught.value)
    assert value not in str(caught.value)


@pytest.mark.parametrize("name", ["epoch.target", "delivery.transaction-timeout"])
def test_a_duration_that_cannot_be_nothing_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} must be a duration longer than nothing"):
        settings.load({name: "0 seconds"}, tmp_path)


def test_a_file_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    (tmp_path / "headrace.toml").write_bytes('checkpoint = "käse"'.encode("latin-1"))
    with pytest.raises(SettingsError, match=r"headrace\.toml is not UTF-8"):
        settings.load(folder=tmp_path)


def test_only_the_file_is_filled_in_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_KAFKA_BOOTSTRAP", "${NOWHERE}:1")
    assert settings.load(folder=tmp_path)["kafka.bootstrap"] == "${NOWHERE}:1"
    assert settings.load({"kafka.bootstrap": "${A}"}, tmp_path)["kafka.bootstrap"] == "${A}"


def test_a_checkpoint_of_an_argument_goes_by_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 'checkpoint = "~/state"\n')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    inner = tmp_path / "inner"
    inner.mkdir()
    assert settings.load(folder=inner).checkpoint_of("p") == f"file://{tmp_path / 'home' / 'state' / 'p'}"
    assert settings.load({"checkpoint": "mine"}, inner).checkpoint_of("p") == f"file://{inner / 'mine' / 'p'}"
    assert settings.load({"checkpoint": "~/x"}, inner).checkpoint_of("p") == f"file://{tmp_path / 'home/x/p'}"
    monkeypatch.setenv("HEADRACE_CHECKPOINT", "theirs")
    assert settings.load(folder=inner).checkpoint_of("p") == f"file://{inner / 'theirs' / 'p'}"


def test_settings_are_assigned_by_name(tmp_path: Path) -> None:
    write(tmp_path, '[kafka.options]\nsecurity.protocol = "SSL"\n')
    loaded = settings.load(
        folder=tmp_path, assigned=["epoch.target=5 seconds", "kafka.options.sasl.jaas.config=a=b"]
    )
    assert loaded["epoch.target"] == timedelta(seconds=5)
    assert loaded["kafka.options"] == {"security.protocol": "SSL", "sasl.jaas.config": "a=b"}
    with pytest.raises(SettingsError, match=r"did you mean 'epoch\.target'"):
        settings.load(folder=tmp_path, assigned=["epoch.targt=5 seconds"])
    with pytest.raises(SettingsError, match="--set takes NAME=VALUE"):
        settings.load(folder=tmp_path, assigned=["epoch.target"])


def test_every_setting_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text()
    for setting in settings.KNOWN:
        assert f"| `{setting.name}` | `{setting.variable}` |" in text, setting.name
