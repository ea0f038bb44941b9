import os
import subprocess

from headrace.local import java, kernel
from tests.asof import corpus as asof
from tests.asof import on_machines as asof_on_machines
from tests.patterns import corpus as patterns
from tests.patterns import on_machines as patterns_on_machines
from tests.transcripts import on_machines
from tests.transcripts.corpus import cases
from tests.transcripts.joins import corpus as joins
from tests.transcripts.joins import on_machines as joins_on_machines

# What Spark itself passes to its JVMs on Java 17 and newer.
_OPENED = [
    *("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util"),
    *("java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs"),
    *("sun.security.action", "sun.util.calendar"),
]


def test_the_kernels_own_tests_pass(tmp_path, record_property, postgres):
    here = kernel.checkout()
    assert here is not None
    transcripts = tmp_path / "transcripts.json"
    written = on_machines.write(cases(), transcripts)
    assert written >= 150
    of_joins = tmp_path / "join-transcripts.json"
    with_tables = asof_on_machines.told([*asof.cases(), *asof_on_machines.made_up()])
    assert len(with_tables) >= 400
    joins_written = joins_on_machines.write(
        [*joins.cases(), *joins_on_machines.made_up()], of_joins, with_tables
    )
    assert joins_written >= 800
    of_patterns = tmp_path / "pattern-transcripts.json"
    patterns_written = patterns_on_machines.write(
        [*patterns.cases(), *patterns_on_machines.made_up()], of_patterns
    )
    assert patterns_written >= 600
    class_path = kernel.build_tests(here)
    ran = subprocess.run(
        [
            str(java.find().java),
            *("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djava.awt.headless=true"),
            *("-Dlog4j2.level=error", f"-Djava.io.tmpdir={tmp_path}"),
            f"-D{on_machines.PROPERTY}={transcripts}",
            f"-D{joins_on_machines.PROPERTY}={of_joins}",
            f"-Dheadrace.postgres={postgres}",
            f"-D{patterns_on_machines.PROPERTY}={of_patterns}",
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
            *("-cp", os.pathsep.join(map(str, class_path))),
            "org.junit.platform.console.ConsoleLauncher",
            "execute",
            f"--scan-classpath={here.test_classes}",
            f"--reports-dir={tmp_path}",
            "--fail-if-no-tests",
            "--disable-banner",
            "--details=tree",
            "--disable-ansi-colors",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    on_the_machines = _ran(tmp_path / "TEST-junit-jupiter.xml", "TranscriptsTest")
    record_property("transcripts", on_the_machines)
    record_property("transcripts of several steps", len(cases()) - written)
    assert ran.returncode == 0, ran.stdout
    assert on_the_machines == written
    assert _ran(tmp_path / "TEST-junit-jupiter.xml", "JoinTranscriptsTest") == joins_written
    assert _ran(tmp_path / "TEST-junit-jupiter.xml", "PatternTranscriptsTest") == patterns_written


def _ran(report, suite):
    """Return how many transcripts a suite of the kernel's tests ran."""
    told = report.read_text("utf-8") if report.is_file() else ""
    return told.count(f'classname="headrace.step.{suite}"')
