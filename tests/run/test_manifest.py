from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from headrace import CheckpointError
from headrace.run import manifest as manifests
from headrace.run.folder import LocalFolder
from headrace.run.manifest import Manifest, Wanted

VELOCITY = Wanted(
    name="velocity",
    where="pipeline.py:20",
    layer=0,
    kind="window",
    window={"kind": "tumbling", "size": 60_000_000, "offset": 0},
    key={"card": "string"},
    aggregates={"payments": {"function": "count", "of": None, "options": {}}},
    sources=("payments",),
)
BOARD = replace(VELOCITY, name="board", window={"kind": "tumbling", "size": 1_000_000, "offset": 0})
SOURCES = {"payments": "payments"}


def settle(
    manifest: Manifest | None,
    *steps: Wanted,
    pipeline: str = "fraud",
    sources: Mapping[str, str] = MappingProxyType(SOURCES),
) -> Manifest:
    return manifests.settle(manifest, pipeline, sources, steps, partitions=2, groups=64, codec=1)


@pytest.fixture
def begun() -> Manifest:
    return settle(None, VELOCITY, BOARD)


def test_a_manifest_survives_being_written(tmp_path: Path, begun: Manifest) -> None:
    folder = LocalFolder(str(tmp_path))
    assert manifests.read(folder) is None
    manifests.write(folder, begun)
    assert manifests.read(folder) == begun


def test_steps_are_known_by_name_not_by_order(begun: Manifest) -> None:
    again = settle(begun, BOARD, VELOCITY)
    assert again.steps["velocity"].program == begun.steps["velocity"].program
    assert again.steps["board"].program == begun.steps["board"].program


def test_the_number_of_a_program_is_never_used_again(begun: Manifest) -> None:
    more = settle(begun, VELOCITY, BOARD, replace(VELOCITY, name="third"))
    assert more.steps["third"].program == 3
    assert more.next_program == 4


def test_a_renamed_step_is_refused_by_both_names(begun: Manifest) -> None:
    with pytest.raises(CheckpointError, match="'velocity' is gone and step 'speed' looks like it"):
        settle(begun, replace(VELOCITY, name="speed"), BOARD)


def test_a_step_that_is_gone_is_refused(begun: Manifest) -> None:
    with pytest.raises(CheckpointError, match="'board' has state"):
        settle(begun, VELOCITY)


def test_steps_that_swapped_their_names_are_refused(begun: Manifest) -> None:
    with pytest.raises(CheckpointError, match="its window was kind tumbling, size 1"):
        settle(begun, replace(VELOCITY, name="board"), replace(BOARD, name="velocity"))


CHANGES = {
    "window": replace(VELOCITY, window={"kind": "tumbling", "size": 30_000_000, "offset": 0}),
    "key": replace(VELOCITY, key={"card": "bigint"}),
    "aggregate 'payments'": replace(
        VELOCITY, aggregates={"payments": {"function": "max", "of": "bigint", "options": {}}}
    ),
    "kind": replace(VELOCITY, kind="session"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of_state_is_refused_by_what_changed(begun: Manifest, what: str) -> None:
    with pytest.raises(CheckpointError, match=f"step 'velocity': its {what}") as caught:
        settle(begun, CHANGES[what], BOARD)
    assert "pipeline.py:20" in str(caught.value)
    assert "headrace reset" in str(caught.value)


def test_an_aggregate_that_is_gone_is_refused(begun: Manifest) -> None:
    other = {"total": {"function": "sum", "of": "bigint", "options": {}}}
    with pytest.raises(CheckpointError, match="aggregate 'payments'"):
        settle(begun, replace(VELOCITY, aggregates=other), BOARD)


def test_a_new_aggregate_of_an_old_step_is_refused(begun: Manifest) -> None:
    both = {**VELOCITY.aggregates, "total": {"function": "sum", "of": "bigint", "options": {}}}
    with pytest.raises(CheckpointError, match="its aggregate 'total' was not there"):
        settle(begun, replace(VELOCITY, aggregates=both), BOARD)


def test_sources_are_known_by_name(begun: Manifest) -> None:
    more = settle(begun, VELOCITY, BOARD, sources={"refunds": "refunds", "payments": "payments"})
    assert more.sources["payments"].index == 0
    assert more.sources["refunds"].index == 1
    with pytest.raises(CheckpointError, match="source 'payments'"):
        settle(begun, VELOCITY, BOARD, sources={"refunds": "refunds"})
    with pytest.raises(CheckpointError, match="now reads 'elsewhere'"):
        settle(begun, VELOCITY, BOARD, sources={"payments": "elsewhere"})


def test_a_first_stateful_step_needs_a_layer_that_is_not_there() -> None:
    stateless = settle(None)
    with pytest.raises(CheckpointError, match="needs a stateful layer"):
        settle(stateless, VELOCITY)


def test_a_finished_checkpoint_is_refused(begun: Manifest) -> None:
    with pytest.raises(CheckpointError, match="drained"):
        settle(replace(begun, finished=True), VELOCITY, BOARD)


def test_another_pipelines_checkpoint_is_refused(begun: Manifest) -> None:
    with pytest.raises(CheckpointError, match="belongs to pipeline 'fraud'"):
        settle(begun, VELOCITY, BOARD, pipeline="other")


def test_epochs_without_a_manifest_are_refused(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").write_text("v1")
    with pytest.raises(CheckpointError, match="no manifest"):
        manifests.read(LocalFolder(str(tmp_path)))
