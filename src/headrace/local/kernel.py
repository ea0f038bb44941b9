"""The JVM kernel compiled: its jar, built anew when a source has changed."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from headrace.errors import SetupError
from headrace.local import artefacts, java

RELEASE = 17
_PACKAGE = Path(__file__).resolve().parent.parent
_STAMP = "Headrace-Sources"
_MANIFEST = "META-INF/MANIFEST.MF"


@dataclass(frozen=True)
class Checkout:
    """Where the kernel's sources are, its jar goes, and test classes are put."""

    sources: Path
    resources: Path
    tests: Path
    jar: Path
    test_classes: Path

    @classmethod
    def at(cls, root: Path, jar: Path | None = None) -> "Checkout":
        """Return the checkout whose folder ``kernel`` is below ``root``."""
        return cls(
            sources=root / "kernel" / "src",
            resources=root / "kernel" / "resources",
            tests=root / "kernel" / "test",
            jar=jar or root / "src" / "headrace" / "kernel.jar",
            test_classes=root / "build" / "kernel-tests",
        )


def jars() -> list[Path]:
    """Return what Spark needs of ours on its class path: the kernel, and the set ``spark`` of jars."""
    return [jar(), *artefacts.jars("spark")]


def checkout() -> Checkout | None:
    """Return the checkout that this package is run from, None when it was installed from a wheel."""
    here = Checkout.at(_PACKAGE.parent.parent, _PACKAGE / "kernel.jar")
    return here if here.sources.is_dir() else None


@cache
def jar() -> Path:
    """Return the kernel's jar; in a checkout it is compiled first when a source has changed."""
    here = checkout()
    if here is not None:
        build(here)
        return here.jar
    packaged = _PACKAGE / "kernel.jar"
    if not packaged.is_file():
        raise SetupError(
            f"This installation of headrace has no kernel: {packaged} is missing.",
            cure="install headrace again from a wheel made by `make wheel`",
        )
    return packaged


def is_current(here: Checkout) -> bool:
    """Tell whether the jar was made from the sources as they are now."""
    return _stamp_of(here.jar) == _hash(here)


def build(here: Checkout) -> bool:
    """Compile the kernel when a source has changed; return whether it had to."""
    if is_current(here):
        return False
    with _alone(here.jar.parent):
        wanted = _hash(here)
        if _stamp_of(here.jar) == wanted:
            return False
        with tempfile.TemporaryDirectory(prefix="headrace-kernel-") as classes:
            _compile(here.sources, Path(classes), _class_path())
            _pack([Path(classes), here.resources], here.jar, wanted)
    return True


def build_tests(here: Checkout) -> list[Path]:
    """Compile the kernel's Java tests; return the class path that they run on, their own folder first."""
    build(here)
    class_path = [here.jar, *_class_path(), *artefacts.jars("test")]
    stamp = here.test_classes / ".stamp"
    wanted = _hash(here) + _hash_of_files([here.tests])
    here.test_classes.parent.mkdir(parents=True, exist_ok=True)
    with _alone(here.test_classes.parent):
        if not stamp.is_file() or stamp.read_text("utf-8") != wanted:
            shutil.rmtree(here.test_classes, ignore_errors=True)
            here.test_classes.mkdir()
            _compile(here.tests, here.test_classes, class_path)
            stamp.write_text(wanted, "utf-8")
    return [here.test_classes, *class_path]


def _class_path() -> list[Path]:
    # One by one: javac and the JVM know folder/*, Eclipse's compiler does not.
    return [*sorted(spark_jars().glob("*.jar")), *artefacts.jars("spark")]


def spark_jars() -> Path:
    """Return the folder of the jars that pyspark ships."""
    spec = find_spec("pyspark")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if Path(folder, "jars").is_dir():
            return Path(folder, "jars")
    raise SetupError(
        "pyspark is not installed, or has no jars.",
        cure="install headrace's dependencies: `make setup` in a checkout, else `pip install headrace`",
    )


def compile_with_ecj(here: Checkout, classes: Path) -> None:
    """Compile the kernel and its tests as a machine without a JDK does, whatever this one has."""
    without_jdk = replace(java.find(), javac=None)
    _compile(here.sources, classes, _class_path(), without_jdk)
    if here.tests.is_dir():
        _compile(here.tests, classes, [classes, *_class_path(), *artefacts.jars("test")], without_jdk)


def _compile(
    sources: Path, classes: Path, class_path: Sequence[Path], compiled_by: java.Java | None = None
) -> None:
    files = sorted(str(file) for file in sources.rglob("*.java"))
    if not files:
        raise SetupError(f"There is no Java source below {sources}.", cure="restore the folder from git")
    found = compiled_by or java.find()
    with tempfile.NamedTemporaryFile("w", prefix="headrace-", suffix=".args", encoding="utf-8") as arguments:
        # Quoted, with / in paths: one syntax that javac and ECJ both read.
        arguments.write("\n".join(f'"{file}"' for file in files))
        arguments.flush()
        compiled = subprocess.run(
            [
                *_compiler(found),
                *("-proc:none", "-nowarn", "-g", "-encoding", "UTF-8"),
                *("-d", str(classes), "-cp", os.pathsep.join(map(str, class_path))),
                f"@{arguments.name}",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    if compiled.returncode != 0:
        sys.stderr.write(compiled.stdout + compiled.stderr)
        raise SetupError(
            f"The kernel's Java below {sources} does not compile; the compiler's messages are above.",
            cure="mend what they name; an unchanged checkout compiles with Java 17 and newer",
        )


def _compiler(found: java.Java) -> list[str]:
    # Short-lived: the second compiler of the JVM would cost more than it brings.
    if found.javac is not None:
        return [str(found.javac), "-J-XX:TieredStopAtLevel=1", "--release", str(RELEASE)]
    # A runtime alone: Eclipse's compiler is a jar. It has no signatures of older releases to check against
    # (they are part of a JDK), so the level of language and bytecode must do.
    (compiler,) = artefacts.jars("compiler")
    start = ["-XX:TieredStopAtLevel=1", "-jar", str(compiler)]
    return [str(found.java), *start, "-source", str(RELEASE), "-target", str(RELEASE)]


def _pack(folders: Sequence[Path], jar: Path, stamp: str) -> None:
    """Write the jar beside its place and rename it: a JVM that runs keeps the file that it opened."""
    with tempfile.NamedTemporaryFile(dir=jar.parent, prefix=".kernel-", suffix=".jar", delete=False) as file:
        try:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
                _add(packed, _MANIFEST, f"Manifest-Version: 1.0\r\n{_STAMP}: {stamp}\r\n\r\n".encode())
                for folder in folders:
                    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
                        _add(packed, path.relative_to(folder).as_posix(), path.read_bytes())
            file.flush()
            os.chmod(file.name, 0o644)
            os.replace(file.name, jar)
        except BaseException:
            os.unlink(file.name)
            raise


def _add(packed: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed time: the same sources make the same jar.
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    packed.writestr(entry, content)


def _stamp_of(jar: Path) -> str | None:
    try:
        with zipfile.ZipFile(jar) as packed:
            manifest = packed.read(_MANIFEST).decode()
    except (OSError, KeyError, zipfile.BadZipFile):
        return None
    return next((line.split(": ", 1)[1] for line in manifest.splitlines() if line.startswith(_STAMP)), None)


def _hash(here: Checkout) -> str:
    """Return one sum over all that the jar depends on, short enough for a line of a manifest."""
    against = [f"release {RELEASE}", f"pyspark {version('pyspark')}"]
    against += [artefact.sha256 for artefact in artefacts.lock()["spark"]]
    text = _hash_of_files([here.sources, here.resources]) + " ".join(against)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def _hash_of_files(folders: Sequence[Path]) -> str:
    sum_ = hashlib.sha256()
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            content = path.read_bytes()
            sum_.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
            sum_.update(content)
    return sum_.hexdigest()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep two processes from compiling at once; the folder itself is what they lock."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
