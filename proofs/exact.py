"""Proof: the streamed result is the batch's, late rows are exactly those that must be, the ledger closes.

Events go through a real topic and a pipeline of many steps, epoch by epoch, and all that is delivered is
compared with a batch over the same topic. From the run the batch takes only the offsets and the watermark of
each epoch, out of Spark's log.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import functions as F

from headrace.run import query
from headrace.run import settings as all_settings
from proofs import batch, compare, epochs, events, steps

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

Counts = dict[str, int]


@dataclass
class Proof:
    """What was compared. `wrong` says in words what did not hold; a proof has nothing there."""

    events: int
    epochs: int = 0
    seconds: float = 0
    out_of_order: int = 0
    too_late: int = 0
    ledger: dict[str, Counts] = field(default_factory=dict)
    compared: dict[str, compare.Difference] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def check(self, holds: object, otherwise: str) -> None:
        """Take note of what does not hold."""
        if not holds:
            self.wrong.append(otherwise)

    def text(self) -> str:
        """Return the table."""
        share = 100 / self.events
        sent = (
            f"{self.events:,} events, {self.out_of_order * share:.1f} % out of order, "
            f"{self.too_late * share:.2f} % later than the lateness"
        )
        lines = [
            sent,
            f"{self.epochs} epochs in {self.seconds:.0f} s, {self.events / self.seconds:,.0f} events/s",
            "",
            f"{'step':10} {'in':>10} {'used':>10} {'late':>8} {'duplicate':>10} {'rejected':>9}",
        ]
        for step, counts in self.ledger.items():
            told = (counts[name] for name in batch.LEDGER)
            lines.append("{:10} {:>10,} {:>10,} {:>8,} {:>10,} {:>9,}".format(step, *told))
        lines += ["", f"{'delivered':16} {'expected':>10} {'came':>10} {'missing':>8} {'extra':>8}"]
        for name, difference in self.compared.items():
            lines.append(
                f"{name:16} {difference.expected:>10,} {difference.came:>10,} "
                f"{difference.missing:>8,} {difference.extra:>8,}"
            )
        lines += ["", *(f"WRONG: {each}" for each in self.wrong)]
        lines += [] if self.wrong else ["equal to the batch, to the row; the ledger closes in every epoch"]
        return "\n".join(lines)


def prove(
    spark: SparkSession,
    bootstrap: str,
    size: events.Size,
    folder: Path,
    *,
    seed: int = 1,
    seconds: float = 3600,
    note: Callable[[str], None] = lambda _: None,
) -> Proof:
    """Run the pipeline over so many events, and compare all that comes of it; the folder is for its state."""
    topic = f"proof-{uuid.uuid4().hex[:8]}"
    proof = Proof(size.events)
    note(f"{size.events:,} events of {size.cards:,} cards go to the topic {topic}")
    made = events.make(size, seed)
    events.send(bootstrap, topic, made, note)
    proof.out_of_order, proof.too_late = int(made.out_of_order.sum()), int(made.late.sum())
    note("the pipeline runs")
    checkpoint = folder / "checkpoints"
    chosen = all_settings.load(
        {
            "kafka.bootstrap": bootstrap,
            "checkpoint": str(checkpoint),
            "epoch.fixed-rows": size.rows_per_epoch,
        },
        folder,
    )
    lines = _run(spark, topic, chosen, seconds, note, proof)
    logged = epochs.read(checkpoint / topic, topic)
    proof.epochs = len(logged)
    proof.check(
        [line["epoch"] for line in lines] == [epoch.number for epoch in logged],
        "the lines of progress are not those of the epochs in the log",
    )
    note("the batch over the same topic")
    _compare(spark, bootstrap, topic, made, logged, lines, folder, proof, note)
    return proof


def _run(
    spark: SparkSession,
    topic: str,
    chosen: all_settings.Settings,
    seconds: float,
    note: Callable[[str], None],
    proof: Proof,
) -> list[dict[str, Any]]:
    began = time.monotonic()
    running = query.start(steps.pipeline(topic), chosen, until="drained", spark=spark)
    lines: list[dict[str, Any]] = []
    ended = False
    try:
        while not ended:
            if time.monotonic() - began > seconds:
                raise TimeoutError(f"the pipeline took more than {seconds:.0f} s")
            ended = running.wait(1)
            for line in running.last_progress(30) if ended else running.progress():
                lines.append(line)
                if line["epoch"] % 10 == 0:
                    note(f"  epoch {line['epoch']}: {line['epoch_ms']} ms, {line['backlog']:,} events left")
    finally:
        if not ended:
            running.stop()
    running.finish()
    proof.seconds = time.monotonic() - began
    return lines


def _compare(
    spark: SparkSession,
    bootstrap: str,
    topic: str,
    made: events.Made,
    logged: list[epochs.Epoch],
    lines: list[dict[str, Any]],
    folder: Path,
    proof: Proof,
    note: Callable[[str], None],
) -> None:
    sent = compare.delivered(spark, bootstrap, topic)
    rows = sent.select(F.from_json("value", batch.EVENT).alias("event"), "partition", "offset")
    # Read once: all answers are computed from it.
    stored = str(folder / "events")
    rows.select("event.*", "partition", "offset").write.parquet(stored)
    answers = batch.Answers(spark, spark.read.parquet(stored), logged)

    def against(name: str, expected: DataFrame, came: DataFrame) -> None:
        difference = compare.compare(expected, came)
        proof.compared[name] = difference
        examples = "; ".join(difference.examples)
        proof.check(
            difference.none, f"{name}: {difference.missing} missing, {difference.extra} extra: {examples}"
        )
        note(f"  {name}: {'equal' if difference.none else 'DIFFERENT'}, {difference.came:,} rows")

    def out(what: str) -> DataFrame:
        return compare.delivered(spark, bootstrap, steps.topic_of(topic, what))

    for step, expected in answers.panes.items():
        against(step, expected, compare.panes(out(step)))
    for step, expected in answers.late.items():
        against(f"{step} late", expected, compare.late(out(f"{step}_late")))
    number = F.get_json_object("value", "$.number").cast("bigint").alias("number")
    against("duplicates", answers.duplicates, out("duplicates").select(number))
    rejected = F.from_json("value", "partition int, offset bigint, step string").alias("row")
    told = out("rejected").select(rejected).select("row.*").cache()
    unreadable = told.where("step = 'events'").select("partition", "offset")
    against("rejected", answers.broken, unreadable)
    _check_late(answers, made, proof)
    _check_ledger(answers, lines, told.where("step = 'hopping'").count(), proof)


def _check_late(answers: batch.Answers, made: events.Made, proof: Proof) -> None:
    """What was sent too late must be what is late, of the step that waits long enough for all others."""
    found = answers.late["tumbling"].select("number").toPandas()["number"]
    meant = np.flatnonzero(made.late & ~made.broken)
    proof.check(
        np.array_equal(np.sort(found.to_numpy()), meant),
        f"{len(found):,} events were late for the tumbling windows, and {len(meant):,} were sent so",
    )


def _check_ledger(answers: batch.Answers, lines: list[dict[str, Any]], rejected: int, proof: Proof) -> None:
    """Every step's ledger, epoch by epoch, is that of the batch, and closes."""
    for step in steps.STEPS:
        expected = {
            row["epoch"]: {name: int(row[name]) for name in batch.LEDGER}
            for row in answers.ledgers[step].collect()
        }
        came = {line["epoch"]: line["ledger"][step] for line in lines if step in line["ledger"]}
        nothing = dict.fromkeys(batch.LEDGER, 0)
        for epoch in sorted(expected.keys() | came.keys()):
            counts = came.get(epoch, nothing)
            proof.check(
                counts["in"] == sum(counts[name] for name in batch.LEDGER[1:]),
                f"the ledger of {step} does not close in epoch {epoch}: {counts}",
            )
            must = expected.get(epoch, nothing)
            proof.check(
                counts == must, f"the ledger of {step} in epoch {epoch} is {counts}, and must be {must}"
            )
        proof.ledger[step] = {name: sum(each[name] for each in came.values()) for name in batch.LEDGER}
    proof.check(
        proof.ledger["hopping"]["rejected"] == rejected > 0,
        f"{rejected} rows of the hopping windows were delivered as rejected",
    )
