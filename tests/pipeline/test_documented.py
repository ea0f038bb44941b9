"""The page on testing is run as it stands."""

import re
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "test-a-pipeline.md"


def test_the_example_of_the_page_on_testing_passes(spark: SparkSession) -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": "documented"}
    exec(compile(code, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    names["test_a_late_visit_is_not_lost"](spark)
