"""Joins of events with a table, as of event time and with the current row: speed, and bytes held."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import functions as F

from benchmarks import ours
from benchmarks.events import LAG, Event, made
from benchmarks.timing import Run, epochs, measured, processor_seconds
from headrace import Bounded, Kafka, Pipeline, Topic
from headrace.plan.layers import Layers
from headrace.run import folder as folders
from headrace.run import manifest as manifests

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "card-at-that-time"
_STATE = {"header": ("value.value",), "cells": ("user_map_key.value", "user_map_value.value")}


@dataclass(frozen=True)
class Question:
    """One of the two joins."""

    name: str
    as_of: str | None

    def pipeline(self, events: str, versions: str) -> Pipeline:
        """Return a pipeline whose results are only counted."""
        table = Topic(versions, Event, key="card", time="at").table()
        stream = Topic(events, Event, key="card", time="at").stream(watermark=Bounded(LAG))
        joined = stream.join(NAME, table, on="card", as_of=self.as_of, how="left", suffix="_then")
        return Pipeline(
            f"bench-{versions}-{self.as_of is None}".lower(), joined=joined.to(Kafka(f"{events}.joined"))
        )


QUESTIONS = (Question("as of event time", "event time"), Question("with the current row", None))


@dataclass(frozen=True)
class Held:
    """A run, and how many bytes the join held at its end."""

    run: Run
    bytes: int


def keys(count: int, seed: int) -> int:
    """Return how many keys a topic of versions has."""
    return int(np.unique(made(count, seed=seed)[0]).size)


def run(spark: SparkSession, bootstrap: str, pipeline: Pipeline, rows: int, seconds: float) -> Held:
    """Run a pipeline over all that its topics hold, and look into its state."""
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        chosen = ours.settings(bootstrap, Path(folder), epoch_fixed_rows=rows)
        with ours.dropping(spark, pipeline, chosen, bounded=True) as running:
            before = processor_seconds(spark)
            if not running.java.awaitTermination(int(seconds * 1000)):
                raise TimeoutError(f"{pipeline.name} took more than {seconds:.0f} s")
            processor = processor_seconds(spark) - before
            done = epochs(running.java)
            told = measured(done, running.results(done[-1]["batchId"]), processor)
            uri = chosen.checkpoint_of(pipeline.name)
            return Held(told, sum(_bytes(spark, uri, layer) for layer in range(Layers(pipeline).depth)))


def _bytes(spark: SparkSession, checkpoint: str, operator: int) -> int:
    """Return the bytes that the join has in the state of an operator."""
    manifest = manifests.read(folders.open_folder(checkpoint))
    assert manifest is not None  # noqa: S101 - the run wrote it
    mine = F.col("key.program") == manifest.steps[NAME].program
    total = 0
    for name, fields in _STATE.items():
        read: Any = spark.read.format("statestore").options(
            path=checkpoint, operatorId=operator, stateVarName=name
        )
        lengths = sum((F.length(field) for field in fields), F.lit(0))
        [row] = read.load().where(mine).agg(F.coalesce(F.sum(lengths), F.lit(0)).alias("bytes")).collect()
        total += row["bytes"]
    return total
