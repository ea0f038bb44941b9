"""The tests in two processes side by side: one alone leaves a core idle while Python plans or servers answer.

Each process has a Spark and a Kafka of its own. Arguments are pytest's, and are run in one process.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
SECOND = ("asof", "clock", "kernel", "tables", "transcripts", "watch")
"""The folders of the second process, which take about as long as all others; it counts the transcripts."""


def main() -> int:
    """Run all tests, or what the arguments say; return the exit code."""
    pytest = [sys.executable, "-m", "pytest"]
    if sys.argv[1:]:
        return subprocess.run([*pytest, *sys.argv[1:]], check=False).returncode
    second = [str(TESTS / name) for name in SECOND]
    first = [f"--ignore={folder}" for folder in second]
    with tempfile.TemporaryFile("w+") as told:
        # Caches are per process: two would overwrite each other's.
        other = subprocess.Popen(
            [*pytest, "-p", "no:cacheprovider", *second], stdout=told, stderr=subprocess.STDOUT
        )
        try:
            code = subprocess.run([*pytest, *first], check=False).returncode
            print(f"\nthe other half: {', '.join(SECOND)}", flush=True)
            while other.poll() is None:
                time.sleep(0.5)
        finally:
            other.terminate()
            other.wait()
        told.seek(0)
        shutil.copyfileobj(told, sys.stdout)
    return code or other.returncode


if __name__ == "__main__":
    sys.exit(main())
