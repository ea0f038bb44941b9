from datetime import datetime
from pathlib import Path

import pytest

from headrace import Kafka, Pipeline, SettingsError, Topic, record
from headrace.plan.layers import Layers
from headrace.run import kafka, settings


@record
class Row:
    id: str
    at: datetime


def layers(**options: str) -> Layers:
    rows = Topic("rows", Row, options=options).stream()
    return Layers(Pipeline("options", out=rows.to(Kafka("out", options=options))))


def test_bootstrap_servers_among_the_options_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    nowhere = settings.load(folder=tmp_path)
    with pytest.raises(SettingsError, match="no Kafka is set and none is running"):
        kafka.find(layers(), nowhere)
    kafka.find(layers(**{"bootstrap.servers": "own:1"}), nowhere)
    given = settings.load({"kafka.options": {"bootstrap.servers": "options:1"}}, tmp_path)
    kafka.find(layers(), given)
    assert kafka.clients(given)["bootstrap.servers"] == "options:1"
    both = settings.load({"kafka.bootstrap": "setting:1"}, tmp_path)
    assert kafka.clients(both, {"retries": "1"}) == {"bootstrap.servers": "setting:1", "retries": "1"}
