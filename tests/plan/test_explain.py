import json
import os
import re
from pathlib import Path

import pytest

from headrace.plan import explain
from headrace.plan.layers import Layers
from tests.plan.pipelines import PIPELINES

GOLDEN = Path(__file__).parent / "golden"


def compare(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("HEADRACE_WRITE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PIPELINES)
def test_the_plan_reads_as_its_golden_text(name: str) -> None:
    compare(f"{name}.txt", explain.text(Layers(PIPELINES[name])))


@pytest.mark.parametrize("name", PIPELINES)
def test_the_plan_as_json_is_its_golden_file(name: str) -> None:
    text = json.dumps(explain.describe(Layers(PIPELINES[name])), indent=2) + "\n"
    assert re.search(r'"where": "[^"]*pipelines.py:\d+"', text)
    compare(f"{name}.json", re.sub(r'"where": "[^"]*:\d+"', '"where": "FILE:LINE"', text))
