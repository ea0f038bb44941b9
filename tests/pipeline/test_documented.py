"""The README's pipeline is planned, and the pages that have tests are run, all as they stand."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.plan.checks import check
from headrace.plan.layers import Layers
from headrace.run import pipeline_file, types

ROOT = Path(__file__).parents[2]
PAGES = {
    ROOT / "docs" / "how-to" / "test-a-pipeline.md": 2,
    ROOT / "docs" / "concepts" / "joins.md": 4,
    ROOT / "docs" / "concepts" / "patterns.md": 1,
    ROOT / "docs" / "concepts" / "tables.md": 2,
    ROOT / "docs" / "reference" / "top.md": 2,
}
"""The pages whose examples are run, with how many tests each has."""


def code(page: Path) -> str:
    found = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return "\n".join(map(str, found))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_pass(page: Path, spark: SparkSession, request: pytest.FixtureRequest) -> None:
    names: dict[str, Any] = {"__name__": "documented"}
    exec(compile(code(page), str(page), "exec"), names)  # noqa: S102 - our own page
    tests = [name for name in names if name.startswith("test_")]
    assert len(tests) == PAGES[page]
    for name in tests:
        # What a test asks for by name is given as it would be by pytest: the session, a server.
        wanted = inspect.signature(names[name]).parameters
        names[name](**{each: spark if each == "spark" else request.getfixturevalue(each) for each in wanted})


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
