"""`python -m benchmarks`: events per second, time per epoch and latency, measured in one run of one Spark.

Everything is warm (a first run is thrown away), and runs of ours and of Spark's own operators take turns, so
that what else the machine does meets both. A benchmark is no test: a missed target is printed, and the exit
code is 0 unless something broke or gave wrong results.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import checked, events, joins, native, ours, patterns, tables, trickle, versions, windows
from benchmarks.report import Race, Report, Wait
from headrace.local.stack import Stack
from headrace.run import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from benchmarks.events import Filled
    from benchmarks.timing import Run
    from headrace import Pipeline

PARTS = (
    "answers",
    "epochs",
    "latency",
    "tumbling",
    "stateless",
    "windows",
    "joins",
    "tables",
    "versions",
    "patterns",
)
ROUNDS = 3
CHECKED = 20_000
LARGE = 500_000
MICRO = 50_000
SECONDS = 20 * 60
ONE_SECONDS = 120
EPOCH_TARGET = 130
LATENCY_TARGET = 700


@dataclass
class Bench:
    """What all measurements share."""

    spark: SparkSession
    bootstrap: str
    rounds: int
    until: float
    report: Report
    races: int = 0
    """Races to come, which share the time that is left."""

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.until - time.monotonic()

    def attempt(self, name: str, measure: Callable[[float], None]) -> None:
        """Measure one thing if there is time for it; what takes too long is left out and said."""
        _note(name)
        if self.left < 1:
            self.report.left_out.append(f"{name}: no time was left")
            return
        try:
            measure(min(ONE_SECONDS, self.left))
        except TimeoutError as slow:
            self.report.left_out.append(f"{name}: {slow}")

    def race(
        self,
        name: str,
        ours_: Callable[[float], Run],
        native_: Callable[[float], Run],
        expected: int,
        target: float | None = None,
        *,
        thrown_away: int = 1,
    ) -> None:
        """Let both answer in turn, after so many runs that only make them warm."""
        mine = time.monotonic() + max(self.left, 0) / max(self.races, 1)
        self.races -= 1

        def measure(seconds: float) -> None:
            of_ours: list[Run] = []
            of_native: list[Run] = []
            for _ in range(thrown_away):
                ours_(seconds)
                native_(seconds)
            for _ in range(self.rounds):
                if of_native and time.monotonic() > mine:
                    missing = self.rounds - len(of_native)
                    self.report.left_out.append(
                        f"{name}: {missing} of {self.rounds} rounds, for want of time"
                    )
                    break
                of_ours.append(ours_(seconds))
                of_native.append(native_(seconds))
            race = Race(name, of_ours, of_native, expected, target)
            self.report.races.append(race)
            _note(f"  {race.ratio:.2f}")

        self.attempt(name, measure)


def main() -> None:
    options = _options()
    with Stack.temporary() as stack:
        bootstrap = stack.up(["kafka"])["kafka"]
        spark = session.start(
            "benchmarks",
            master="local[2]",
            options={"spark.sql.streaming.numRecentProgressUpdates": "1000", **dict(options.spark)},
        )
        try:
            rounds = 1 if options.quick else ROUNDS
            until = time.monotonic() + SECONDS
            bench = Bench(spark, bootstrap, rounds, until, Report(_about(spark, options)))
            _measure(bench, options)
        finally:
            spark.stop()
    print(json.dumps(bench.report.json(), indent=2) if options.json else bench.report.text())
    if bench.report.wrong:
        sys.exit("results are wrong: the figures mean nothing")


def _measure(bench: Bench, options: argparse.Namespace) -> None:
    spark, bootstrap, only = bench.spark, bench.bootstrap, options.only
    if "answers" in only:
        small = events.fill(bootstrap, "checked", CHECKED)
        bench.attempt("answers", lambda seconds: _answers(bench, small, seconds))
    if "epochs" in only:
        count = 20 if options.quick else 80
        for name, timed, target in (
            ("epoch of a few rows, panes dropped", trickle.dropped, EPOCH_TARGET),
            ("epoch of a few rows, exactly once into Kafka", trickle.exactly_once, EPOCH_TARGET),
            ("epoch of a few rows, Spark's own", trickle.spark_itself, None),
        ):

            def epochs_of(seconds: float, name: str = name, timed: Any = timed, target: Any = target) -> None:
                took = timed(spark, bootstrap, count, seconds)
                bench.report.waits.append(Wait(name, took.whole, target, took.parts))

            bench.attempt(name, epochs_of)
    if "latency" in only:
        panes = 10 if options.quick else 40
        name = "closing event sent to pane read, exactly once"
        bench.attempt(
            name,
            lambda seconds: bench.report.waits.append(
                Wait(name, trickle.latency(spark, bootstrap, panes, seconds), LATENCY_TARGET)
            ),
        )
    if "tables" in only:
        _tables(bench, options.events // 8)
    if "versions" in only:
        _versions(bench, options.events // 4)
    if "patterns" in only:
        _patterns(bench, options.events)
    if {"tumbling", "stateless", "windows", "joins"} & set(only):
        _throughput(bench, options)


def _throughput(bench: Bench, options: argparse.Namespace) -> None:
    bootstrap, only = bench.bootstrap, options.only
    bench.races = (
        3 * ("tumbling" in only) + 2 * ("stateless" in only) + 5 * ("windows" in only) + 3 * ("joins" in only)
    )
    few = events.fill(bootstrap, "few", options.events // 4)
    if "joins" in only:
        _joins(bench, options.events // 4)
    if not {"tumbling", "stateless", "windows"} & set(only):
        return
    _note(f"filling a topic with {options.events:,} events")
    many = events.fill(bootstrap, "many", options.events)
    for filled, rows in ((many, LARGE), (few, MICRO)):
        if "tumbling" in only:
            _tumbling(bench, filled, rows)
        if "stateless" in only:
            _stateless(bench, filled, rows)
    if "windows" in only:
        of_few, of_many = (windows.questions(each.events - events.PARTITIONS) for each in (few, many))
        for short, long in zip(of_few, of_many, strict=True):
            _window(bench, many, long) if long.long else _window(bench, few, short)


def _answers(bench: Bench, small: Filled, seconds: float) -> None:
    bench.report.answers = checked.check(bench.spark, bench.bootstrap, small, seconds)


def _tumbling(bench: Bench, filled: Filled, rows: int) -> None:
    for name, pipeline, query in (
        ("tumbling sum and count", ours.counted, native.counted),
        ("tumbling sum and count, as JSON", ours.tumbling, native.tumbling),
    ):
        if name.endswith("JSON") and rows != LARGE:
            continue
        _race(bench, f"{name}, {_size(filled, rows)}", filled, rows, pipeline, query, filled.panes, 1.0)


def _stateless(bench: Bench, filled: Filled, rows: int) -> None:
    name = f"filter, as JSON, {_size(filled, rows)}"
    _race(bench, name, filled, rows, ours.dear, native.dear, filled.dear, None)


def _window(bench: Bench, filled: Filled, question: windows.Question) -> None:
    whole = f"{_thousands(filled.events)} in all, " if question.long else ""
    name = f"{question.name}, {whole}{_size(filled, LARGE)}"
    if question.native is not None and question.rows is not None:
        _race(
            bench,
            name,
            filled,
            LARGE,
            question.ours,
            question.native,
            question.rows,
            question.target,
            thrown_away=2 if question.long else 1,
        )
        return

    def alone(seconds: float) -> None:
        runs = [
            ours.run(bench.spark, bench.bootstrap, question.ours(filled.topic), LARGE, seconds)
            for _ in range(bench.rounds + 1)
        ]
        bench.report.alone[name] = median(run.rate for run in runs[1:])

    bench.attempt(name, alone)


def _tables(bench: Bench, count: int) -> None:
    _note(f"filling two topics for tables of {count:,} orders and their customers")
    held = tables.fill(bench.bootstrap, count)
    for question in tables.QUESTIONS:
        name = f"{question.name}, {_thousands(LARGE // 8)} of each an epoch"

        def alone(seconds: float, question: tables.Question = question, name: str = name) -> None:
            runs = [
                tables.run(bench.spark, bench.bootstrap, question, LARGE // 8, seconds)[0]
                for _ in range(bench.rounds + 1)
            ]
            bench.report.alone[name] = median(run.rate for run in runs[1:])

        bench.attempt(name, alone)

    def state(seconds: float) -> None:
        # All in one epoch: every page is written once.
        _, written = tables.run(bench.spark, bench.bootstrap, tables.QUESTIONS[0], 10 * count, seconds)
        bench.report.sizes["foreign key join of tables"] = written / held

    bench.attempt("state of a join of tables", state)


def _joins(bench: Bench, count: int) -> None:
    _note(f"filling two topics with {count:,} events each")
    topics = [events.fill(bench.bootstrap, f"joined-{seed}", count, seed=seed).topic for seed in joins.SEEDS]
    inner, outer = joins.questions(count)
    for question, rows in ((inner, LARGE // 4), (outer, LARGE // 4), (inner, MICRO // 4)):
        _join(bench, question, topics, rows)


def _join(bench: Bench, question: joins.Question, topics: list[str], rows: int) -> None:
    spark, bootstrap = bench.spark, bench.bootstrap
    left, right = topics

    def ours_(seconds: float) -> Run:
        return ours.run(spark, bootstrap, question.ours(left, right), rows, seconds)

    def native_(seconds: float) -> Run:
        return native.run(spark, question.native(spark, bootstrap, left, right, rows), seconds)

    target = question.target if rows == LARGE // 4 else None
    name = f"{question.name}, 2 x {rows / 1000:g}k an epoch"
    # No other part runs this code: after one run much of it is not compiled yet.
    bench.race(name, ours_, native_, question.rows, target, thrown_away=2)


def _versions(bench: Bench, count: int) -> None:
    _note(f"filling topics with {count:,} events and {count:,} versions")
    happened, held = (
        events.fill(bench.bootstrap, f"versions-{seed}", count, seed=seed).topic for seed in joins.SEEDS
    )
    keys = versions.keys(count, joins.SEEDS[1])
    for question in versions.QUESTIONS:
        name = f"join with a table {question.name}, 2 x {count // 1000}k"

        def alone(seconds: float, question: versions.Question = question, name: str = name) -> None:
            runs = [
                versions.run(
                    bench.spark, bench.bootstrap, question.pipeline(happened, held), LARGE // 4, seconds
                )
                for _ in range(bench.rounds + 1)
            ]
            bench.report.alone[name] = median(each.run.rate for each in runs[1:])
            bench.report.sizes[f"{name}, a key of the table"] = runs[-1].bytes / keys

        bench.attempt(name, alone)


def _patterns(bench: Bench, count: int) -> None:
    _note(f"filling a topic with {count:,} events for patterns")
    topic = events.fill(bench.bootstrap, "patterns", count).topic
    asked = {"count per card, for comparison": ours.counted(topic)}
    asked |= {f"pattern of {each.name}": each.pipeline(topic) for each in patterns.QUESTIONS}
    rates: dict[str, list[float]] = {name: [] for name in asked}

    def in_turn(seconds: float) -> None:
        # The first round only warms up; in each other one every question has its turn.
        for _ in range(bench.rounds + 1):
            for name, pipeline in asked.items():
                run = ours.run(bench.spark, bench.bootstrap, pipeline, LARGE, seconds / len(asked))
                rates[name].append(run.rate)
        bench.report.alone |= {name: median(found[1:]) for name, found in rates.items()}

    bench.attempt("patterns", in_turn)


def _race(
    bench: Bench,
    name: str,
    filled: Filled,
    rows: int,
    pipeline: Callable[[str], Pipeline],
    query: Callable[[DataFrame], DataFrame],
    expected: int,
    target: float | None,
    *,
    thrown_away: int = 1,
) -> None:
    spark, bootstrap = bench.spark, bench.bootstrap

    def ours_(seconds: float) -> Run:
        return ours.run(spark, bootstrap, pipeline(filled.topic), rows, seconds)

    def native_(seconds: float) -> Run:
        return native.run(spark, query(native.events(spark, bootstrap, filled.topic, rows)), seconds)

    bench.race(name, ours_, native_, expected, target, thrown_away=thrown_away)


def _size(filled: Filled, rows: int) -> str:
    return f"{_thousands(min(rows, filled.events))} an epoch"


def _thousands(rows: int) -> str:
    return f"{rows // 1000}k"


def _about(spark: SparkSession, options: argparse.Namespace) -> dict[str, Any]:
    java = spark._jvm.java.lang.System.getProperty("java.version")  # type: ignore[union-attr]
    return {
        "headrace": version("headrace") if _installed() else "of this checkout",
        "Spark": spark.version,
        "Java": java,
        "Python": sys.version.split()[0],
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "events": f"{options.events:,}",
        **dict(options.spark),
    }


def _installed() -> bool:
    try:
        return bool(version("headrace"))
    except ModuleNotFoundError:
        return False


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("--events", type=int, default=2_000_000, help="events in the large topic")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="measure these alone")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the events, one round: does it work?"
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument(
        "--spark",
        nargs="+",
        default=[],
        type=lambda text: tuple(text.split("=", 1)),
        metavar="NAME=VALUE",
        help="Spark options to try, for both sides",
    )
    options = parser.parse_args()
    if options.quick:
        options.events = min(options.events, 200_000)
    return options


def _note(text: str) -> None:
    """Tell how far it is, beside the result."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
