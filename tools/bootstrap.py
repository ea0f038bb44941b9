"""Makes .venv from the hashed lock files; needs nothing but Python, its pip and, once, the network.

    python3 tools/bootstrap.py [dev]

Each step leaves a stamp with the sum of what it was made from, so that a second run does nothing and a
changed lock file redoes its own step only. The steps are:

1. the environment itself, by ``python -m venv``
2. requirements-build.lock: what builds pyspark's source distribution and this project
3. requirements.lock, without build isolation, which would fetch build tools that no lock names
4. requirements-dev.lock, when ``dev`` is given
5. this project, editable
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOG = VENV / "bootstrap.log"
EXIT_CODE = 4  # headrace.errors.SetupError's

FROM_LOCK = [
    "--require-hashes",
    "--no-deps",
    "--no-build-isolation",
    # pyspark comes as source, which pip makes into a wheel: its jars need not be compressed once more.
    "--use-pep517",
    "--config-settings=--build-option=--compression=stored",
]

_UNREACHABLE = (
    r"NewConnectionError|Max retries exceeded|Temporary failure in name resolution|ProxyError|ConnectTimeout|"
    r"ReadTimeout|ConnectionError|Network is unreachable|SSLError|Connection refused|ConnectionResetError|"
    r"IncompleteRead"
)


def main() -> None:
    """Make the environment."""
    with_dev = sys.argv[1:] == ["dev"]
    python = make_venv()
    locks = ["requirements-build.lock", "requirements.lock"] + ["requirements-dev.lock"] * with_dev
    for name in locks:
        step(
            name,
            (ROOT / name).read_bytes(),
            f"Installing {name} (the first time takes a minute or two) ...",
            [*pip(python), *FROM_LOCK, "-r", str(ROOT / name)],
        )
    step(
        "project",
        (ROOT / "pyproject.toml").read_bytes() + str(ROOT).encode(),
        "Installing headrace itself, editable ...",
        [*pip(python), "--no-build-isolation", "--no-deps", "--no-index", "-e", str(ROOT)],
    )


def make_venv() -> Path:
    """Return the Python of .venv, made when it is missing or was made for another place or version."""
    python = VENV / "bin" / "python"
    stamp = VENV / ".stamp-venv"
    made_of = f"{sys.version_info[:2]} {VENV}"
    if stamp.is_file() and stamp.read_text() == made_of and runs(python):
        return python
    say("Making .venv ...")
    shutil.rmtree(VENV, ignore_errors=True)
    made = run([sys.executable, "-m", "venv", str(VENV)])
    if made.returncode != 0:
        # Some distributions take pip's installer out of Python. A pip of the system can stand in.
        made = run([sys.executable, "-m", "venv", "--without-pip", str(VENV)])
        if made.returncode != 0 or run([sys.executable, "-m", "pip", "--version"]).returncode != 0:
            shutil.rmtree(VENV, ignore_errors=True)
            fail(
                f"{sys.executable} cannot make a virtual environment: its venv or pip is missing.",
                "install them (on Debian and Ubuntu the package python3-venv), or set PYTHON to another",
            )
    stamp.write_text(made_of)
    return python


def pip(python: Path) -> list[str]:
    """Return the command that installs into .venv."""
    own = runs(python, "-m", "pip", "--version")
    start = [str(python), "-m", "pip"] if own else [sys.executable, "-m", "pip", "--python", str(python)]
    return [*start, "install", "--disable-pip-version-check", "--no-input"]


def step(name: str, made_of: bytes, announcement: str, command: list[str]) -> None:
    """Run one step unless its stamp says that it was done with the same input."""
    stamp = VENV / f".stamp-{name}"
    wanted = hashlib.sha256(made_of).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    say(announcement)
    done = run(command)
    if done.returncode != 0:
        LOG.write_text(done.stdout)
        explain(name, done.stdout)
    stamp.write_text(wanted)


def explain(name: str, output: str) -> None:
    """Turn pip's failure into one sentence and a cure."""
    causes = [
        (
            r"DO NOT MATCH THE HASHES",
            f"What the package index serves does not have the checksums in {name}.",
            "run it again; if it stays so, the index or a proxy serves a changed file: point pip to another",
        ),
        (
            r"No space left on device",
            "The disk is full.",
            "free about 1.5 GB and run it again",
        ),
        (
            _UNREACHABLE,
            "The package index cannot be reached, and the first run needs it.",
            "check the network, or tell pip of a mirror or proxy (PIP_INDEX_URL, HTTPS_PROXY)",
        ),
        (
            r"No matching distribution found for (\S+)",
            f"The package index has no file of {{}} for this Python and platform, as {name} pins it.",
            "use Python 3.11 to 3.14 on Linux or macOS (x86-64 or arm64)",
        ),
    ]
    for pattern, message, cure in causes:
        if found := re.search(pattern, output):
            fail(message.format(found[1] if found.groups() else ""), f"{cure}; pip's words are in {LOG}")
    fail(f"pip could not install {name}.", f"see {LOG}; then run it again")


def runs(program: Path, *arguments: str) -> bool:
    """Tell whether the program starts: a moved or copied environment leaves one that does not."""
    return program.exists() and run([str(program), *(arguments or ("--version",))]).returncode == 0


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and keep what it says."""
    # A PYTHONPATH of the user's must not decide what gets installed.
    variables = {
        name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}
    }
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=variables
    )


def say(message: str) -> None:
    """Tell what is being done."""
    print(message, flush=True)


def fail(message: str, cure: str) -> None:
    """Leave with one sentence and its cure."""
    print(f"{message}\n  cure: {cure}", file=sys.stderr)
    raise SystemExit(EXIT_CODE)


if __name__ == "__main__":
    main()
