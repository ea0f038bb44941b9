import sys
import textwrap
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace import PlanError
from headrace.run import pipeline_file
from headrace.testing import Harness
from tests.pipeline.shop import sale

DECLARED = """
from headrace import F, Kafka, Pipeline, Topic, record
import datetime

@record
class Sale:
    id: str
    shop: str
    pieces: int
    at: datetime.datetime

"""
DELIVERED = """
pipeline = Pipeline("udfs", out=Topic("sales", Sale, time="at").stream(name="sales")
    .select("id", made=made("pieces")).to(Kafka("out")))
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [*sys.path])

    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(textwrap.dedent(text))
        return str(tmp_path / name)

    return write


UDFS = {
    "a plain function": 'def twice(n):\n    return 2 * n\n\nmade = F.udf(twice, "int")\n',
    "a function that calls another": (
        'def twice(n):\n    return 2 * n\n\n@F.udf("int")\ndef made(n):\n    return twice(n)\n'
    ),
    "a neighbour's function": 'from rules_beside import twice\n\nmade = F.udf(twice, "int")\n',
    "a neighbour called by name": (
        'import rules_beside\n\n@F.udf("int")\ndef made(n):\n    return rules_beside.twice(n)\n'
    ),
}


@pytest.mark.parametrize("what", UDFS)
def test_a_udf_may_use_what_else_is_in_the_file_and_beside_it(
    written, spark: SparkSession, what: str
) -> None:
    written("rules_beside.py", "FACTOR = 2\n\ndef twice(n):\n    return FACTOR * n\n")
    sys.modules.pop("rules_beside", None)
    pipeline = pipeline_file.load(written(f"udf{abs(hash(what))}.py", DECLARED + UDFS[what] + DELIVERED))
    with Harness(pipeline, spark) as harness:
        harness.feed("sales", sale(1, 1, pieces=21))
        assert [row["made"] for row in harness.run()["out"]] == [42]


def test_the_line_that_fails_is_told(written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written("wrong.py", "x = 1\n\ny = undefined\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PlanError, match=r"NameError: name 'undefined' is not defined\n  at wrong\.py:3$"):
        pipeline_file.load("wrong.py")
    with pytest.raises(PlanError, match=r"at \.\./.*/wrong\.py:3$"):
        pipeline_file.load(f"../{tmp_path.name}/wrong.py")


def test_a_syntax_error_is_told_once_with_its_line(written, tmp_path: Path) -> None:
    path = written("typo.py", "x = 1\ny = (\n")
    with pytest.raises(PlanError) as caught:
        pipeline_file.load(path)
    assert (
        str(caught.value) == f"typo.py cannot be imported: SyntaxError: '(' was never closed\n  at {path}:2"
    )


def test_a_file_that_leaves_is_an_error(written) -> None:
    path = written("leaves.py", "import sys\nsys.exit(0)\n")
    with pytest.raises(PlanError, match=r"ends the process while it is imported: sys\.exit\(0\)") as caught:
        pipeline_file.load(path)
    assert f"{path}:2" in str(caught.value)
