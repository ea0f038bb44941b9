import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.run.gateway import Stderr

FIRST = """
import os
import sys
from headrace import HeadraceError
from headrace.run import session
"""
TIMEOUT = 120


def python(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", *sys.path]), **variables}
    return subprocess.run(
        [sys.executable, "-c", FIRST + program],
        capture_output=True,
        text=True,
        check=False,
        env=known,
        timeout=TIMEOUT,
        cwd=Path(__file__).parents[2],
    )


FAILURES = {
    "a master that is none": ("master='nonsense'", "Master must either be yarn or start with"),
    "a master whose threads are none": ("master='local[x]'", "Could not parse Master URL"),
    "an option that stops the JVM": (
        "master='local[1]', options={'spark.driver.memory': '1q'}",
        "Invalid maximum heap size: -Xmx1q",
    ),
}


@pytest.mark.parametrize("what", FAILURES)
def test_what_keeps_spark_from_starting_is_one_sentence(what: str) -> None:
    arguments, said = FAILURES[what]
    ran = python(
        f"try:\n    session.start('x', {arguments})\n"
        "except HeadraceError as error:\n    print(error)\n    sys.exit(error.exit_code)"
    )
    assert ran.returncode == 4, ran.stderr
    assert said in ran.stdout
    assert "cure: check spark.master" in ran.stdout
    assert len(ran.stdout.splitlines()) == 2
    assert ran.stderr == ""


def test_a_start_is_silent_and_its_options_are_not_on_the_command_line() -> None:
    ran = python(
        """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
spark = session.start("x", master="local[1]", options={"spark.custom": os.environ["HIDDEN"]})
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "pyspark has taken Ctrl-C"
from pathlib import Path
shown = [each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline") if each.exists()]
assert any(b"SparkSubmit" in each for each in shown)
assert not any(os.environ["HIDDEN"].split()[0].encode() in each for each in shown)
value = spark._jvm.java.lang.System.getProperty("spark.custom")
assert value == spark.conf.get("spark.custom") == os.environ["HIDDEN"], value
from pyspark.errors import AnalysisException
try:
    spark.range(1).selectExpr("nothing + 1")
except AnalysisException:
    pass
""",
        HIDDEN="hunter2 = a:b#c \\ é",
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""


def test_the_jvms_words_wait_for_how_the_start_ends(capsys: pytest.CaptureFixture[str]) -> None:
    stderr = Stderr()
    stderr.take("WARNING: Using incubator modules: jdk.incubator.vector\n")
    stderr.take("one\n")
    assert capsys.readouterr().err == ""
    stderr.release(show=True)
    stderr.take("two\n")
    assert capsys.readouterr().err == "one\ntwo\n"
    assert stderr.reason() == "two"
