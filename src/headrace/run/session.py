"""The Spark session a pipeline runs in: what is fixed, what the user may add."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.errors import SettingsError, SetupError
from headrace.run import pipeline_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What correctness rests on. A user's Spark options cannot change these.
FIXED = {
    # State lives in RocksDB: memory is bounded by the cache, not by the keys.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Real-time mode takes no other format of state, and a checkpoint keeps the one that it began with.
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    # Sources are known by name, from the first run on: it cannot be turned on later.
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    # A sort before delivery is what makes a replayed epoch identical; Spark's check
    # refuses every sort in append mode, although ours is within one epoch.
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    # What overflows or cannot be cast is an error of that row, not a silent null.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Two attempts of one task at once would be two writers of one transaction.
    "spark.speculation": "false",
}

# Good defaults, measured; a user may know better.
DEFAULTS = {
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    # One more file for every file of state; the file systems below have checksums of their own.
    # It can be switched at any restart: files with and without go together.
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.pollingDelay": "1ms",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "20",
}

# Hadoop starts a process for every file's mode; these do not. Only where all JVMs share this disk.
LOCAL_FILES = {
    "spark.hadoop.fs.file.impl": "headrace.storage.LocalFiles",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "headrace.storage.LocalFileContext",
}


def start(
    name: str,
    *,
    master: str,
    partitions: int | None = None,
    retain: int = 100,
    options: Mapping[str, str] | None = None,
    java_options: str = "",
) -> SparkSession:
    """Start the session (or return the one that runs, with the SQL options set on it)."""
    from headrace.local import java, kernel

    chosen = dict(options or {})
    for option, value in chosen.items():
        if option in FIXED and value != FIXED[option]:
            raise SettingsError(
                f"Spark option {option} is fixed by headrace to {FIXED[option]!r}",
                cure="take it out of [spark.options]",
            )
    os.environ.update(java.environment(java.find()))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    every = {
        **DEFAULTS,
        "spark.sql.streaming.minBatchesToRetain": str(retain),
        **chosen,
        **FIXED,
        **_placed([str(jar) for jar in kernel.jars()], master, chosen),
    }
    if partitions is not None:
        every["spark.sql.shuffle.partitions"] = str(partitions)
    if master.startswith("local"):
        # Nothing of a laptop's run is reachable from outside.
        every.setdefault("spark.driver.host", "127.0.0.1")
        every.setdefault("spark.driver.bindAddress", "127.0.0.1")
    if java_options:
        every["spark.driver.extraJavaOptions"] = (
            f"{java_options} {every.get('spark.driver.extraJavaOptions', '')}".strip()
        )
    every = {**every, "spark.master": master, "spark.app.name": f"headrace {name}"}
    builder = SparkSession.builder
    for option, value in every.items():
        builder = builder.config(option, value)
    _quiet_launch()
    # pyspark logs every refused expression with its whole stack; ours is one sentence at the user's line.
    for logger in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(logger).setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_not_of_py4j)
    session = _started(builder, every)
    pipeline_file.send_by_value()
    session.sparkContext.setLogLevel(os.environ.get("HEADRACE_LOG_LEVEL", "ERROR"))
    return session


def _started(builder: SparkSession.Builder, options: Mapping[str, str]) -> SparkSession:
    """Start JVM and session; what either refuses is one sentence."""
    from pyspark import SparkContext

    from headrace.run import gateway
    from headrace.run.failure import told

    handler = signal.getsignal(signal.SIGINT)
    stderr = gateway.launch(options) if SparkContext._gateway is None else None
    try:
        session = builder.getOrCreate()
    except Exception as failure:
        if stderr is not None:
            stderr.release(show=False)
        raise SetupError(f"Spark did not start: {told(failure).message}", cure=gateway.CURE) from failure
    if stderr is not None:
        stderr.release(show=True)
    if handler is not None and threading.current_thread() is threading.main_thread():
        # pyspark answers Ctrl-C with a call to the JVM, which may come in the middle of another.
        signal.signal(signal.SIGINT, handler)
    return session


def _placed(jars: list[str], master: str, chosen: Mapping[str, str]) -> dict[str, str]:
    """Put the jars where every JVM finds them: on one machine by path, on a cluster by Spark's own copy."""
    if not master.startswith("local"):
        return {"spark.jars": ",".join([*jars, *filter(None, [chosen.get("spark.jars")])])}
    placed = dict(LOCAL_FILES)
    for side in ("driver", "executor"):
        option = f"spark.{side}.extraClassPath"
        placed[option] = os.pathsep.join([*jars, *filter(None, [chosen.get(option)])])
    return placed


def _quiet_launch() -> None:
    """Keep Spark's start-up chatter off the user's terminal; errors still show."""
    if "SPARK_CONF_DIR" in os.environ:
        return
    folder = Path(__file__).parent / "conf"
    if folder.is_dir():
        os.environ["SPARK_CONF_DIR"] = str(folder)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Keep off the terminal what py4j logs of a broken connection: it is raised and told besides."""
    return Path(record.pathname).parent.name != "py4j"
