import subprocess
import sys
from pathlib import Path
from types import ModuleType

import headrace

PIPELINE = Path(__file__).parent / "future_pipeline.py"
LOADED = """
import runpy, sys
found = runpy.run_path(sys.argv[1])
assert found["pipeline"].sources[0].columns == ("card", "amount", "at", "place")
print(sorted(name for name in sys.modules if name.split(".")[0] in {"pyspark", "py4j", "pandas", "pyarrow"}))
"""


def test_importing_a_pipeline_loads_nothing_of_spark():
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(PIPELINE)],
        env={"PYTHONPATH": str(Path(headrace.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_all_is_what_is_visible():
    visible = {
        name
        for name, value in vars(headrace).items()
        if not isinstance(value, ModuleType) and (not name.startswith("__") or name == "__version__")
    }
    assert visible == set(headrace.__all__)
    assert list(headrace.__all__) == sorted(headrace.__all__)
