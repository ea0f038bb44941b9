import os
import subprocess

from headrace.local import java, kernel

# What Spark itself passes to its JVMs on Java 17 and newer.
_OPENED = [
    *("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util"),
    *("java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs"),
    *("sun.security.action", "sun.util.calendar"),
]


def test_the_kernels_own_tests_pass(tmp_path):
    here = kernel.checkout()
    assert here is not None
    class_path = kernel.build_tests(here)
    ran = subprocess.run(
        [
            str(java.find().java),
            *("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djava.awt.headless=true"),
            *("-Dlog4j2.level=error", f"-Djava.io.tmpdir={tmp_path}"),
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
            *("-cp", os.pathsep.join(map(str, class_path))),
            "org.junit.platform.console.ConsoleLauncher",
            "execute",
            f"--scan-classpath={here.test_classes}",
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
    assert ran.returncode == 0, ran.stdout
