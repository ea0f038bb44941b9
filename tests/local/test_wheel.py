import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from headrace.local import kernel

ROOT = Path(__file__).resolve().parents[2]


def build(root, out):
    return subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, root],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    kernel.jar()
    out = tmp_path_factory.mktemp("dist")
    built = build(ROOT, out)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = out.glob("*.whl")
    return wheel


def test_the_wheel_has_the_kernel_the_example_and_the_lock_list(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    assert {
        "headrace/kernel.jar",
        "headrace/py.typed",
        "headrace/local/artefacts.toml",
        "headrace/examples/fraud/pipeline.py",
    } <= names
    assert not any(name.startswith(("tests/", "kernel/")) for name in names)


def test_an_installed_wheel_uses_the_kernel_that_it_brought(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    program = "from headrace.local import kernel; print(kernel.checkout(), kernel.jar())"
    others = [path for path in sys.path if Path(path) not in {ROOT, ROOT / "src"} and path]
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *others])},
    )
    assert ran.stdout.strip() == f"None {tmp_path / 'headrace' / 'kernel.jar'}", ran.stderr


def test_without_the_kernel_no_wheel_is_built(tmp_path):
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src/headrace/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    built = build(tmp_path, tmp_path / "dist")
    assert built.returncode != 0
    assert "kernel.jar is missing" in built.stdout + built.stderr
    assert not list(tmp_path.glob("dist/*.whl"))
