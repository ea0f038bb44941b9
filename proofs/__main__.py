"""`python -m proofs`: five million events through Kafka and a pipeline of many steps, against a batch.

Prints what it does and a table at the end; ends with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from headrace.local.stack import Stack
from headrace.run import session
from proofs import exact
from proofs.events import Size

EVENTS = 5_000_000
PER_SECOND = 347
"""Events to a second of event time: five million are four hours."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--span", type=float, metavar="HOURS", help="event time; four hours for five million")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--master", default="local[*,4]")
    chosen = parser.parse_args()
    span = timedelta(hours=chosen.span) if chosen.span else timedelta(seconds=chosen.events // PER_SECOND)
    began = time.monotonic()

    def note(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", flush=True)

    with Stack.temporary() as stack, tempfile.TemporaryDirectory(prefix="headrace-proof-") as folder:
        bootstrap = stack.up(["kafka"])["kafka"]
        # All of the offset log is read at the end.
        spark = session.start("proofs", master=chosen.master, retain=100_000)
        try:
            size = Size(chosen.events, span)
            proof = exact.prove(spark, bootstrap, size, Path(folder), seed=chosen.seed, note=note)
        finally:
            spark.stop()
    print(proof.text())
    if proof.wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
