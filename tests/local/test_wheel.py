import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from headrace.local import kernel

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_SECONDS = 300


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


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment with the wheel in it; what it depends on is there too, and needs no network."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    options = ["--no-index", "--no-deps", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", *options, wheel],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    # The folder alone: the checkout in it is a .pth file, which counts only where Python itself looks.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def clean():
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HEADRACE"))}


def test_the_package_that_is_installed_is_what_runs(installed):
    program = (
        "import headrace\n"
        "from headrace.local import kernel\n"
        "print(headrace.__file__, kernel.checkout(), kernel.jar())\n"
    )
    ran = subprocess.run(
        [installed / "venv" / "bin" / "python", "-c", program],
        cwd=installed,
        env=clean(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    package, checkout, jar = ran.stdout.split()
    assert Path(package).is_relative_to(installed)
    assert checkout == "None"
    assert Path(jar) == Path(package).parent / "kernel.jar"


@pytest.mark.slow
@pytest.mark.stack
def test_the_demo_runs_from_an_installed_wheel(installed):
    kept = installed / "kept"
    options = ["--seconds=5", "--rate=500", "--json", f"--keep={kept}"]
    ran = subprocess.run(
        [installed / "venv" / "bin" / "headrace", "demo", "fraud", *options],
        cwd=installed,
        env=clean(),
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_SECONDS,
    )
    assert ran.returncode == 0, ran.stderr
    verdict = json.loads(ran.stdout.splitlines()[-1])
    assert verdict["event"] == "verdict"
    assert verdict["right"]
    assert verdict["rows"] == verdict["used"] + verdict["late"]["delivered"] + verdict["damaged"] > 2_000


def test_without_the_kernel_no_wheel_is_built(tmp_path):
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src/headrace/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    built = build(tmp_path, tmp_path / "dist")
    assert built.returncode != 0
    assert "kernel.jar is missing" in built.stdout + built.stderr
    assert not list(tmp_path.glob("dist/*.whl"))
