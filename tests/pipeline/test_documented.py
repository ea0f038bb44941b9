"""The README's pipeline is planned and the page on testing is run, both as they stand."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headrace.plan.checks import check
from headrace.plan.layers import Layers
from headrace.run import pipeline_file, types

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "test-a-pipeline.md"


def code(page: Path) -> str:
    found = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return "\n".join(map(str, found))


def test_the_examples_of_the_page_on_testing_pass(spark: SparkSession) -> None:
    names: dict[str, Any] = {"__name__": "documented"}
    exec(compile(code(PAGE), str(PAGE), "exec"), names)  # noqa: S102 - our own page
    tests = [name for name in names if name.startswith("test_")]
    assert len(tests) == 2
    for name in tests:
        names[name](spark)


def test_the_readmes_pipeline_can_be_planned(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "velocity.py"
    file.write_text(code(ROOT / "README.md"), encoding="utf-8")
    layers = Layers(pipeline_file.load(str(file)))
    check(layers)
    types.check(layers, spark)
    shown = subprocess.run(
        [sys.executable, "-m", "headrace.cli", "plan", "--quick", file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("pipeline velocity: 1 source, 1 stateful layer, 1 shuffle, 1 state store")


def test_links_of_the_readme_and_the_docs_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"
