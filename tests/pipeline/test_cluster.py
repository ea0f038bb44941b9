"""Two executors: the order of shuffled rows differs from run to run there, the results must not."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> dict[str, Any]:
    """Run the cluster in its own process: a process has one Spark session."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.cluster", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


@pytest.mark.slow
def test_a_replayed_epoch_gives_the_same_rows_in_the_same_tasks_and_order(tmp_path: Path) -> None:
    result = run("replay", str(tmp_path))
    assert result["passed"] == [True, True, True], result
    assert result["fired"] == [True, True, True], result
    assert result["tasks"] == [[0, 1], [0, 1]]
    # Of the 4,000; the first ones may make an epoch of their own while the others are fed.
    assert result["rows"] > 2_000
    assert result["panes"] == 23 * 6


@pytest.mark.chaos
def test_a_killed_executor_loses_and_repeats_nothing(tmp_path: Path, kafka: str) -> None:
    result = run("kill", str(tmp_path), kafka)
    assert result.pop("killed")
    assert result.pop("epochs") >= 10
    assert result == {"late": 0, "missing": 0, "extra": 0, "wrong": 0, "duplicate": 0}


@pytest.mark.chaos
def test_a_fenced_producer_does_not_end_the_run(tmp_path: Path, kafka: str) -> None:
    result = run("fence", str(tmp_path), kafka)
    assert result["found"] == result["rows"] == 180
