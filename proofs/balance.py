"""`python -m proofs.balance`: ten million transfers, and a reader who looks whether money was made or lost.

It looks into the store of views as fast as it can while the pipeline runs, as any program would, and in each
look adds up the accounts and reads the total beside them. Each account is a row of two aggregates joined,
the total an aggregate of those: whoever saw a credit without its debit, or the accounts of one epoch and the
total of another, would see a sum that is not 0.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headrace.local.stack import Stack
from headrace.run import query, session
from headrace.run import settings as all_settings
from headrace.watch import view as views
from proofs import transfers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.run.settings import Settings

TRANSFERS = 10_000_000
PER_EPOCH = 50_000
_PAUSE_SECONDS = 0.001
"""Between two looks, so that the reader does not take a whole core from the pipeline."""
_ACCOUNTS = "SELECT count(*), coalesce(sum(balance), 0), coalesce(sum(paid), 0) FROM balances"
_TOTAL = "SELECT total, moved FROM total"


@dataclass
class Proof:
    """What the reader saw, and what was there in the end."""

    transfers: int
    seconds: float = 0
    epochs: int = 0
    reads: int = 0
    seen: dict[int, int] = field(default_factory=dict)
    """How much was moved, by the epoch in which it was seen."""
    wrong: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return it for people."""
        rate = self.transfers / self.seconds
        return "\n".join(
            [
                f"{self.transfers:,} transfers in {self.epochs} epochs: {self.seconds:.0f} s, {rate:,.0f}/s",
                f"{self.reads:,} reads of the views saw {len(self.seen)} of the epochs",
                *(f"WRONG: {each}" for each in self.wrong),
                *([] if self.wrong else ["the total was 0 in every one of them, and no dollar is missing"]),
            ]
        )


class Reader(threading.Thread):
    """Reads the views over and over until it is told to stop, and once more after that."""

    def __init__(self, settings: Settings, pipeline: str, proof: Proof) -> None:
        super().__init__(name="reader of the views")
        self._settings = settings
        self._pipeline = pipeline
        self._proof = proof
        self._end = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self._read()
        except BaseException as failure:  # noqa: BLE001 - raised again by whoever waits
            self.failure = failure

    def finish(self) -> None:
        """Let it read what is there now and end."""
        self._end.set()
        self.join()
        if self.failure is not None:
            raise self.failure

    def _read(self) -> None:
        while not (found := views.all_views(self._settings.views, self._pipeline)):
            if self._end.wait(_PAUSE_SECONDS):
                return
        with found[0].store.session() as reading:
            last = False
            while not last:
                last = self._end.wait(_PAUSE_SECONDS)
                with reading.snapshot():
                    epochs = reading.ask("SELECT epoch FROM headrace_history")
                    [(accounts, balance, paid)] = reading.ask(_ACCOUNTS)
                    total = [tuple(map(int, row)) for row in reading.ask(_TOTAL)]
                self._proof.reads += 1
                if epochs and epochs[0][0] >= 0:
                    self._look(int(epochs[0][0]), int(accounts), int(balance), int(paid), total)

    def _look(self, epoch: int, accounts: int, balance: int, paid: int, total: list[tuple[int, ...]]) -> None:
        told = f"epoch {epoch}: {accounts} accounts, which have {balance} and were paid {paid}; total {total}"
        if balance != 0 or total != ([(0, paid)] if accounts else []):
            self._proof.wrong.append(told)
        elif self._proof.seen.setdefault(epoch, paid) != paid:
            self._proof.wrong.append(f"{told}, which was paid {self._proof.seen[epoch]} before")


def prove(
    spark: SparkSession,
    bootstrap: str,
    folder: Path,
    *,
    count: int,
    store: str,
    per_epoch: int = PER_EPOCH,
    seconds: float = 3600,
    note: Callable[[str], None] = lambda _: None,
) -> Proof:
    """Run the transfers through the pipeline while a reader looks, and compare what is there in the end."""
    name = f"transfers-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
    for created in admin.create_topics([NewTopic(name, 2)]).values():
        created.result(60)
    note("the transfers are sent")
    sent = transfers.fill(bootstrap, name, count)
    proof = Proof(count)
    settings = all_settings.load(
        {
            "kafka.bootstrap": bootstrap,
            "checkpoint": str(folder / "checkpoints"),
            "views.store": store,
            "state.groups": 4,
            "epoch.fixed-rows": per_epoch,
        },
        folder,
    )
    note("the pipeline runs")
    reader = Reader(settings, name, proof)
    reader.start()
    began = time.monotonic()
    try:
        running = query.start(transfers.pipeline(name), settings, until="caught up", spark=spark)
        if not running.wait(seconds):
            running.stop()
            raise TimeoutError(f"the pipeline took more than {seconds:.0f} s")
        running.finish()
        proof.seconds = time.monotonic() - began
    finally:
        reader.finish()
    answer = views.rows(views.find(settings.views, "balances", name))
    proof.epochs = answer.epoch + 1
    _compare(proof, {account: balance for account, balance, _ in answer.rows}, sent)
    return proof


def _compare(proof: Proof, has: dict[str, int], sent: transfers.Transfers) -> None:
    """Compare the end with what was sent, added up; and that what was moved only grew."""
    if has != dict(sent.has):
        proof.wrong.append(f"the accounts have {has}, and must have {dict(sent.has)}")
    moved = [proof.seen[epoch] for epoch in sorted(proof.seen)]
    if moved != sorted(set(moved)) or not moved or moved[-1] != proof.transfers:
        proof.wrong.append(f"what was moved by then: {moved}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m proofs.balance", description=__doc__)
    parser.add_argument("--transfers", type=int, default=TRANSFERS)
    parser.add_argument("--per-epoch", type=int, default=PER_EPOCH)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    options = parser.parse_args()
    wanted = ["kafka"] if options.store == "sqlite" else ["kafka", "postgres"]
    with Stack.temporary() as stack, tempfile.TemporaryDirectory(prefix="headrace-proof-") as folder:
        addresses = stack.up(wanted)
        store = str(Path(folder) / "views")
        if options.store == "postgres":
            store = addresses["postgres"]
            os.environ["PGPASSFILE"] = str(stack.folder / "postgres" / "pgpass")
        spark = session.start("proof", master="local[2]")
        try:
            proof = prove(
                spark,
                addresses["kafka"],
                Path(folder),
                count=options.transfers,
                store=store,
                per_epoch=options.per_epoch,
                note=lambda text: print(text, flush=True),
            )
        finally:
            spark.stop()
    print(proof.text())
    if proof.wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
