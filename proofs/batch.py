"""What must come of the events: computed by Spark SQL over all of them at once, without the kernel.

Known from the run is only which rows an epoch had and its watermark. From that follows, by the definitions,
what is late for which window, when a window gives its panes, and what is in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from proofs import sessions, steps
from proofs.epochs import NONE, Epoch

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

EVENT = "number bigint, id bigint, card string, amount bigint, at timestamp"
PANES = (
    "card string, start bigint, end bigint, n bigint, total bigint, least bigint, last bigint, "
    "pane string, pane_index int, pane_last boolean"
)
LATE = "number bigint, late_by_seconds double"
LEDGER = ("in", "used", "late", "duplicate", "rejected")
_MICRO = timedelta(microseconds=1)
_NEAR = 1000
_SESSIONS = f"kind string, epoch int, used bigint, number bigint, late_by_seconds double, {PANES}"


class Answers:
    """The answers, by step; all are frames that are computed when they are compared."""

    def __init__(self, spark: SparkSession, rows: DataFrame, epochs: list[Epoch]) -> None:
        """`rows` are the events with (partition, offset); what cannot be read has no number."""
        self._watermarks = [epoch.watermark for epoch in epochs]
        self.broken = rows.where("number is null").select("partition", "offset")
        self._rows = _with_epochs(spark, rows.where("number is not null"), epochs)
        self.panes: dict[str, DataFrame] = {}
        self.late: dict[str, DataFrame] = {}
        self.ledgers: dict[str, DataFrame] = {}
        self._tumbling()
        self._hopping()
        self._sliding()
        self._sessions()
        self._dedup()

    def _tumbling(self) -> None:
        rows = _in_window(self._rows, steps.TUMBLING)
        self._many_panes("tumbling", rows, F.col("w"), steps.TUMBLING_LATENESS)

    def _many_panes(self, step: str, rows: DataFrame, judged: Column, lateness: timedelta) -> None:
        """Answer for windows whose rows each are in one; `judged` is the watermark that decides."""
        rows = rows.withColumn("late", judged >= F.col("end") + _micros(lateness))
        # Windows end at few times, and the epochs are many.
        reached = rows.select("end").distinct().withColumn("reached", self._reached("end"))
        used = rows.where("not late").join(F.broadcast(reached), "end")
        used = used.withColumn("shown", F.greatest("epoch", "reached"))
        self.panes[step] = self._repeated(used, ["card", "start", "end"], lateness)
        self.late[step] = rows.where("late").select("number", _by(judged, "end"))
        self.ledgers[step] = _ledger(rows, F.col("late"))

    def _hopping(self) -> None:
        size, hop = _micros(steps.HOPPING), _micros(steps.HOP)
        latest = F.col("at") - F.pmod(F.col("at"), F.lit(hop))
        # An event of the amount 0 is rejected: its rate cannot be computed.
        rows = self._rows.withColumn("rejected", F.col("amount") == 0).withColumn("until", latest + size)
        rows = rows.withColumn("late", ~F.col("rejected") & (F.col("w") >= F.col("until")))
        starts = F.array(*(latest - number * hop for number in range(size // hop)))
        single = (
            rows.where("not rejected and not late")
            .withColumn("start", F.explode(starts))
            .withColumn("end", F.col("start") + size)
            .where("w < end")
        )
        rate = (F.lit(steps.RATE) / F.col("amount")).cast("bigint")
        self.panes["hopping"] = _ordered(
            single.groupBy("card", "start", "end")
            .agg(*_aggregates(rate))
            .withColumn("last", F.col("place.number"))
            .withColumns({"pane": F.lit("on_time"), "pane_index": F.lit(0), "pane_last": F.lit(True)})
        )
        self.late["hopping"] = rows.where("late").select("number", _by(F.col("w"), "until"))
        self.ledgers["hopping"] = _ledger(rows, F.col("late"), rejected=F.col("rejected"))

    def _sliding(self) -> None:
        size, lateness = _micros(steps.SLIDING), _micros(steps.SLIDING_LATENESS)
        # Its own event is in the window: time has come to its end a microsecond later.
        rows = self._rows.where(F.col("amount") % steps.FEW == 1).withColumn("until", F.col("at") + 1)
        rows = rows.withColumn("late", F.col("w") >= F.col("until") + lateness)
        used = rows.where("not late")
        ends = used.select(
            "card",
            F.col("at").alias("end"),
            F.col("number").alias("of"),
            F.greatest("epoch", self._reached("until")).alias("least_shown"),
            F.explode(F.array(F.floor(F.col("at") / size), F.floor(F.col("at") / size) - 1)).alias("part"),
        )
        parts = used.withColumn("part", F.floor(F.col("at") / size))
        near = ends.join(parts, ["card", "part"]).where(
            (F.col("at") <= F.col("end")) & (F.col("at") > F.col("end") - size)
        )
        near = near.withColumn("shown", F.greatest("epoch", "least_shown")).withColumn(
            "start", F.col("end") - size
        )
        self.panes["sliding"] = self._repeated(
            near, ["card", "start", "end", "of"], steps.SLIDING_LATENESS + _MICRO
        )
        self.late["sliding"] = rows.where("late").select("number", _by(F.col("w"), "until"))
        self.ledgers["sliding"] = _ledger(rows, F.col("late"))

    def _sessions(self) -> None:
        gap, lateness = _micros(steps.GAP), _micros(steps.SESSION_LATENESS)
        watermarks = self._watermarks

        def of_card(key: tuple[str], events: pd.DataFrame) -> pd.DataFrame:
            return _sessions_of(key[0], events, watermarks, gap, lateness)

        columns = ["card", "epoch", "amount", "at", "partition", "offset", "number"]
        found = self._rows.select(columns).groupBy("card").applyInPandas(of_card, _SESSIONS).cache()
        self.panes["sessions"] = _ordered(found.where("kind = 'pane'"))
        self.late["sessions"] = found.where("kind = 'late'").select("number", "late_by_seconds")
        came = self._rows.groupBy("epoch").agg(F.count("*").alias("in"))
        used = found.where("kind = 'used'").groupBy("epoch").agg(F.sum("used").alias("used"))
        self.ledgers["sessions"] = came.join(used, "epoch").select(
            "epoch",
            "in",
            "used",
            (F.col("in") - F.col("used")).alias("late"),
            _none("duplicate"),
            _none("rejected"),
        )

    def _dedup(self) -> None:
        within = _micros(steps.WITHIN)
        rows = self._rows.withColumn("late", F.col("w") >= F.col("at") + within)
        # All events of an id are within so long of each other: only the first of them passes.
        first = Window.partitionBy("id", "late").orderBy("epoch", "at", "partition", "offset")
        rows = rows.withColumn("duplicate", ~F.col("late") & (F.row_number().over(first) > 1)).cache()
        self.duplicates = rows.where("duplicate").select("number")
        self.late["dedup"] = rows.where("late").select("number", _by(F.col("w"), "at"))
        self.ledgers["dedup"] = _ledger(rows, F.col("late"), duplicate=F.col("duplicate"))
        passed = _in_window(rows.where("not late and not duplicate").drop("late"), steps.ONCE)
        # What comes from another step is judged by the watermark of the epoch before.
        self._many_panes("once", passed, F.col("before"), steps.ONCE_LATENESS)

    def _reached(self, column: str) -> Column:
        """Return the first epoch whose watermark has reached a time."""
        return F.expr(f"size(filter({self._array()}, w -> w < {column}))")

    def _array(self) -> str:
        # The least of the longs cannot be written down.
        return f"array({', '.join(f'{max(each, NONE + 1)}L' for each in self._watermarks)})"

    def _repeated(self, used: DataFrame, window: list[str], lateness: timedelta) -> DataFrame:
        """Return a pane for each epoch that shows something new of a window, with all rows up to it."""
        new = used.groupBy(*window, "shown").agg(*_aggregates(F.col("amount")))
        order = Window.partitionBy(*window).orderBy("shown")
        so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        return _ordered(
            new.select(
                *window,
                F.sum("n").over(so_far).alias("n"),
                F.sum("total").over(so_far).alias("total"),
                F.min("least").over(so_far).alias("least"),
                F.max("place").over(so_far)["number"].alias("last"),
                (F.row_number().over(order) - 1).alias("pane_index"),
                (F.expr(f"{self._array()}[shown]") >= F.col("end") + _micros(lateness)).alias("pane_last"),
            ).withColumn("pane", F.when(F.col("pane_index") == 0, "on_time").otherwise("late"))
        )


def _with_epochs(spark: SparkSession, rows: DataFrame, epochs: list[Epoch]) -> DataFrame:
    told = [
        (partition, begin, end, epoch.number, epoch.watermark, epoch.before)
        for epoch in epochs
        for partition, (begin, end) in epoch.rows.items()
        if end > begin
    ]
    ranges = spark.createDataFrame(
        told, "partition int, begin bigint, until bigint, epoch int, w bigint, before bigint"
    )
    # A row is compared with the few epochs that have rows near it.
    near = ranges.withColumn(
        "near", F.explode(F.expr(f"sequence(begin div {_NEAR}, (until - 1) div {_NEAR})"))
    )
    return (
        rows.withColumn("near", F.expr(f"offset div {_NEAR}"))
        .join(F.broadcast(near), ["partition", "near"])
        .where("offset >= begin and offset < until")
        .drop("begin", "until", "near")
        .withColumn("at", F.unix_micros("at"))
        .cache()
    )


def _in_window(rows: DataFrame, size: timedelta) -> DataFrame:
    start = F.col("at") - F.pmod(F.col("at"), F.lit(_micros(size)))
    return rows.withColumn("start", start).withColumn("end", start + _micros(size))


def _aggregates(least: Column) -> list[Column]:
    return [
        F.count("*").alias("n"),
        F.sum("amount").alias("total"),
        F.min(least).alias("least"),
        F.max(F.struct("at", "partition", "offset", "number")).alias("place"),
    ]


def _by(judged: Column, end: str) -> Column:
    return ((judged - F.col(end)) / F.lit(1e6)).alias("late_by_seconds")


def _ledger(
    rows: DataFrame, late: Column, duplicate: Column | None = None, rejected: Column | None = None
) -> DataFrame:
    counts = {"late": late, "duplicate": duplicate, "rejected": rejected}
    none = F.lit(False)
    used = ~(late | (none if duplicate is None else duplicate) | (none if rejected is None else rejected))
    return rows.groupBy("epoch").agg(
        F.count("*").alias("in"),
        F.count_if(used).alias("used"),
        *(F.count_if(none if column is None else column).alias(name) for name, column in counts.items()),
    )


def _none(name: str) -> Column:
    return F.lit(0).cast("bigint").alias(name)


def _ordered(panes: DataFrame) -> DataFrame:
    return panes.select([column.split()[0] for column in PANES.split(", ")])


def _micros(length: timedelta) -> int:
    return length // _MICRO


def _sessions_of(
    card: str, events: pd.DataFrame, watermarks: list[int], gap: int, lateness: int
) -> pd.DataFrame:
    import pandas as pd

    columns = [column.split()[0] for column in _SESSIONS.split(", ")]
    found = sessions.find(_events(events), watermarks, gap, lateness)
    nothing: list[Any] = [None] * 10
    rows = [["used", epoch, used, None, None, *nothing] for epoch, used in found.used.items()]
    rows += [["late", None, None, number, by, *nothing] for number, by in found.late]
    rows += [["pane", None, None, None, None, card, *pane] for pane in found.panes]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def _events(events: pd.DataFrame) -> Iterator[tuple[int, int, sessions.Place]]:
    lists: Iterable[Any] = (
        events[name].tolist() for name in ("epoch", "amount", "at", "partition", "offset", "number")
    )
    for epoch, amount, *place in zip(*lists, strict=True):
        yield epoch, amount, tuple(place)
