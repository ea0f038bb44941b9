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
    aggregates={"payments": {"function": "count", "of": None, "options": {}, "text": "count(*)"}},
    sources=("payments",),
    upstream="payments",
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
        VELOCITY,
        aggregates={"payments": {"function": "max", "of": "bigint", "options": {}, "text": "max(amount)"}},
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
    other = {"total": {"function": "sum", "of": "bigint", "options": {}, "text": "sum(amount)"}}
    with pytest.raises(CheckpointError, match="aggregate 'payments'"):
        settle(begun, replace(VELOCITY, aggregates=other), BOARD)


def test_a_new_aggregate_of_an_old_step_is_refused(begun: Manifest) -> None:
    both = {
        **VELOCITY.aggregates,
        "total": {"function": "sum", "of": "bigint", "options": {}, "text": "sum(amount)"},
    }
    with pytest.raises(CheckpointError, match="its aggregate 'total' was not there"):
        settle(begun, replace(VELOCITY, aggregates=both), BOARD)


def test_another_input_of_an_aggregate_is_refused_by_both_texts() -> None:
    def total(of: str) -> Wanted:
        slot = {"function": "sum", "of": "bigint", "options": {}, "text": f"sum({of})"}
        return replace(VELOCITY, aggregates={"total": slot})

    with pytest.raises(CheckpointError, match=r"aggregate 'total' was sum\(amount\) and is now sum\(fee\)"):
        settle(settle(None, total("amount")), total("fee"))


def test_steps_of_one_shape_that_swapped_their_names_are_refused() -> None:
    small, large = replace(VELOCITY, upstream="small"), replace(VELOCITY, name="large", upstream="large")
    before = settle(None, small, large)
    with pytest.raises(CheckpointError, match="'velocity' now computes on what step 'large' did"):
        settle(before, replace(small, upstream="large"), replace(large, upstream="small"))
    with pytest.raises(CheckpointError, match="'velocity' now computes on what step 'large' did"):
        manifests.precheck(
            before, "fraud", SOURCES, [replace(small, upstream="large"), replace(large, upstream="small")]
        )


def test_another_filter_before_a_step_goes_on() -> None:
    small, large = replace(VELOCITY, upstream="small"), replace(VELOCITY, name="large", upstream="large")
    after = settle(settle(None, small, large), replace(small, upstream="large"), large)
    assert after.steps["velocity"].upstream == "large"


def undeclared(step: Wanted) -> Wanted:
    aggregates = {name: {"text": each["text"]} for name, each in step.aggregates.items()}
    return replace(step, key=dict.fromkeys(step.key), aggregates=aggregates)


def test_what_needs_no_types_is_refused_without_them(begun: Manifest) -> None:
    manifests.precheck(begun, "fraud", SOURCES, [undeclared(VELOCITY), undeclared(BOARD)])
    for what in ("window", "aggregate 'payments'", "kind"):
        with pytest.raises(CheckpointError, match=f"step 'velocity': its {what}"):
            manifests.precheck(begun, "fraud", SOURCES, [undeclared(CHANGES[what]), undeclared(BOARD)])
    with pytest.raises(CheckpointError, match="its key was card and is now country"):
        manifests.precheck(
            begun, "fraud", SOURCES, [replace(undeclared(VELOCITY), key={"country": None}), BOARD]
        )
    with pytest.raises(CheckpointError, match="'board' has state"):
        manifests.precheck(begun, "fraud", SOURCES, [undeclared(VELOCITY)])
    with pytest.raises(CheckpointError, match="now reads 'elsewhere'"):
        manifests.precheck(
            begun, "fraud", {"payments": "elsewhere"}, [undeclared(VELOCITY), undeclared(BOARD)]
        )


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 1}', '{"format": "x"}'])
def test_a_damaged_manifest_is_told(tmp_path: Path, text: str) -> None:
    folder = LocalFolder(str(tmp_path))
    folder.write(manifests.FILE, text)
    with pytest.raises(CheckpointError, match="is damaged"):
        manifests.read(folder)


def test_a_checkpoint_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = LocalFolder(str(tmp_path / "file" / "checkpoint"))
    with pytest.raises(CheckpointError, match="cannot be read: Not a directory"):
        manifests.read(folder)
    with pytest.raises(CheckpointError, match="cannot be written: Not a directory"):
        folder.write("a", "b")


def test_before_the_first_epoch_only_the_history_and_its_size_are_kept(
    tmp_path: Path, begun: Manifest
) -> None:
    folder = LocalFolder(str(tmp_path))
    kept = manifests.begun(begun, folder)
    assert (kept.checkpoint, kept.partitions, kept.steps, kept.sources) == (begun.checkpoint, 2, {}, {})
    settle(kept, replace(VELOCITY, name="speed"))
    folder.write("offsets/0", "v1")
    assert manifests.begun(begun, folder) == begun


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


TABLE = replace(VELOCITY, name="cards.table", kind="table", window={"kind": "table"}, aggregates={})
GROUPS = replace(
    VELOCITY,
    name="homes",
    layer=1,
    kind="group_by",
    window={"kind": "group_by"},
    upstream="cards.table",
    takes_back=("cards.table",),
)


def test_a_new_step_over_an_old_table_is_refused_as_it_would_start_empty() -> None:
    old = replace(settle(None, TABLE), layers=2)
    with pytest.raises(
        CheckpointError, match=r"'homes' is new .* the table 'cards\.table' .* has rows already"
    ):
        settle(old, TABLE, GROUPS)
    with pytest.raises(CheckpointError, match="is new and would start empty"):
        manifests.precheck(old, "fraud", SOURCES, [TABLE, GROUPS])
    assert settle(None, TABLE, GROUPS).steps["homes"].program == 2


def test_what_stands_before_a_step_that_takes_rows_back_cannot_change() -> None:
    old = settle(None, TABLE, GROUPS)
    assert settle(old, TABLE, GROUPS).steps == old.steps
    with pytest.raises(CheckpointError, match="'homes': what stands before it was changed"):
        settle(old, TABLE, replace(GROUPS, upstream="where active of cards.table"))


def test_a_new_join_with_a_table_that_was_read_before_is_refused(begun: Manifest) -> None:
    joined = replace(VELOCITY, name="limits", kind="join", reads_whole=("payments",))
    with pytest.raises(
        CheckpointError, match="'limits' is new, and the table 'payments' that it joins was read"
    ):
        settle(begun, VELOCITY, BOARD, joined)
    with pytest.raises(CheckpointError, match="never see the rows that are there already"):
        manifests.precheck(begun, "fraud", SOURCES, [VELOCITY, BOARD, undeclared(joined)])
    both = settle(None, VELOCITY, BOARD, joined)
    assert settle(both, VELOCITY, BOARD, joined) == both
