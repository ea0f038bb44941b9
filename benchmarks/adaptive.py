"""`python -m benchmarks.adaptive`: what a lag that is learned achieves, on lateness that is made.

Events are made at an even rate in four partitions, each is delayed by a random time, and they arrive in the
order of time plus delay. They go through the very Java that runs in a pipeline (measuring, sketch, policy),
without Spark. Printed per distribution and epoch size: the share of rows that were not behind the watermark
of their epoch after the warm-up, the mean lag, and what the best fixed lag would have been: the smallest one
that is as complete over the whole run, known only afterwards.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.errors import SetupError
from headrace.local import java, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPLETENESS = 0.999
TOLERANCE = 0.001
AT_MOST = 120.0
"""Seconds."""
WARM = 20_000
"""Rows until which the lag is the longest allowed: 20 / (1 - completeness)."""
LEAST = 100_000
RATE = 1_000
"""Events per second."""
PARTITIONS = 4
EPOCHS = (500, 2_000, 10_000)
"""Rows to an epoch."""
SECOND = 1_000_000
_NONE = -(2**63)

Delays = Callable[[np.random.Generator, int], "NDArray[np.float64]"]


@dataclass(frozen=True)
class Outcome:
    """One distribution under one epoch size; lags in seconds."""

    name: str
    rows_per_epoch: int
    events: int
    completeness: float
    lag: float
    fixed: float
    """The smallest fixed lag that is as complete over the whole run."""
    at: NDArray[np.float64]
    """When each epoch was, in seconds of event time."""
    lags: NDArray[np.float64]

    @property
    def met(self) -> bool:
        """Whether what was asked was achieved."""
        return abs(self.completeness - COMPLETENESS) <= TOLERANCE + 1e-9


def uniform(random: np.random.Generator, events: int) -> NDArray[np.float64]:
    """Up to five seconds."""
    return random.uniform(0, 5, events)


def heavy(random: np.random.Generator, events: int) -> NDArray[np.float64]:
    """Pareto with a shape of 1.8: no variance to speak of, a row in a thousand later than 22 s."""
    return 0.5 * random.pareto(1.8, events)


def shifting(random: np.random.Generator, events: int) -> NDArray[np.float64]:
    """Up to two seconds, and from the middle on up to twenty."""
    return random.uniform(0, 1, events) * np.where(np.arange(events) < events // 2, 2, 20)


def shifting_back(random: np.random.Generator, events: int) -> NDArray[np.float64]:
    """Up to twenty seconds, and from the middle on up to two."""
    return shifting(random, events)[::-1]


DISTRIBUTIONS: dict[str, Delays] = {
    "uniform": uniform,
    "heavy-tailed": heavy,
    "shifting": shifting,
    "shifting back": shifting_back,
}
SHIFTING = ("shifting", "shifting back")


def arrivals(delays: Delays, events: int, seed: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return partitions and event times (microseconds) in the order of arrival.

    The stream has been flowing for a while when its first row is taken: at its very beginning no row could be
    later than the stream is old.
    """
    random = np.random.default_rng(seed)
    before = int(AT_MOST * RATE)
    made = np.arange(-before, events) / RATE
    delayed = np.concatenate([delays(random, 2 * before)[:before], delays(random, events)])
    arrived = made + delayed
    order = np.argsort(arrived, kind="stable")
    order = order[arrived[order] >= 0][:events]
    partitions = random.integers(0, PARTITIONS, len(order), dtype=np.int32)
    return partitions, ((made[order] + AT_MOST) * SECOND).astype(np.int64)


def rehearse(
    partitions: NDArray[np.int32], times: NDArray[np.int64], rows_per_epoch: int
) -> NDArray[np.int64]:
    """Run the kernel's policy; one line per epoch: rows, behind, watermark, lag, least maximum."""
    rows = np.empty(len(times), dtype=[("partition", ">i4"), ("time", ">i8")])
    rows["partition"], rows["time"] = partitions, times
    class_path = [kernel.jar(), *sorted(kernel.spark_jars().glob("jackson-*.jar"))]
    ran = subprocess.run(
        [
            str(java.find().java),
            *("-Xmx512m", "-XX:+UseSerialGC", "-cp", os.pathsep.join(map(str, class_path))),
            "headrace.clock.policy.Rehearsal",
            *(str(COMPLETENESS), str(int(AT_MOST * SECOND)), str(rows_per_epoch)),
        ],
        input=len(times).to_bytes(4, "big") + rows.tobytes(),
        capture_output=True,
        check=False,
    )
    if ran.returncode != 0:
        raise SystemExit(ran.stderr.decode())
    return np.array([line.split() for line in ran.stdout.decode().splitlines()], dtype=np.int64)


def measure(name: str, events: int, rows_per_epoch: int, seed: int = 1) -> Outcome:
    """Run one distribution under one epoch size."""
    partitions, times = arrivals(DISTRIBUTIONS[name], events, seed)
    epochs = rehearse(partitions, times, rows_per_epoch)
    rows, behind, watermark, _, least = epochs.T
    # What it comes to: a watermark never goes back, so a lag that grew is met only when time has passed.
    lags = least - np.where(watermark > _NONE, watermark, least)
    # Until the policy has learned, and until every partition has been heard of.
    warm = (np.cumsum(rows) - rows >= WARM) & (least > _NONE)
    # By how much each row was below what the watermark is taken from: what a fixed lag would have had to be.
    needed = np.maximum(0, np.repeat(least, rows) - times)[np.repeat(warm, rows)]
    allowed = int((1 - COMPLETENESS) * len(needed))
    fixed = np.partition(needed, len(needed) - 1 - allowed)[len(needed) - 1 - allowed]
    return Outcome(
        name=name,
        rows_per_epoch=rows_per_epoch,
        events=events,
        completeness=1 - behind[warm].sum() / rows[warm].sum(),
        lag=float(np.average(lags[warm], weights=rows[warm])) / SECOND,
        fixed=float(fixed) / SECOND,
        at=np.where(warm, least, 0) / SECOND,
        lags=lags / SECOND,
    )


def plot(outcomes: list[Outcome], file: Path) -> None:
    """Draw the lags over time, one panel a distribution."""
    try:
        import matplotlib as mpl  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as missing:
        raise SetupError(
            "matplotlib is not installed, and a plot needs it",
            cure="pip install 'headrace[plot]', or leave out --png",
        ) from missing
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # type: ignore[import-not-found,import-untyped,unused-ignore]

    figure: Any
    figure, panels = plt.subplots(1, len(outcomes), figsize=(4 * len(outcomes), 3.2), squeeze=False)
    for panel, outcome in zip(panels[0], outcomes, strict=True):
        shown = outcome.at > 0
        panel.plot(outcome.at[shown], outcome.lags[shown], label=f"learned, mean {outcome.lag:.2f} s")
        panel.axhline(
            outcome.fixed, linestyle="--", color="grey", label=f"best fixed lag, {outcome.fixed:.2f} s"
        )
        panel.set_title(f"{outcome.name}: {outcome.completeness:.3%} complete")
        panel.set_xlabel("event time, s")
        panel.set_ylim(0, 1.1 * max(outcome.lags[shown].max(), outcome.fixed))
        panel.legend(fontsize="small")
    panels[0][0].set_ylabel("lag, s")
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def main(arguments: list[str] | None = None) -> int:
    """Run all, print the table; the exit code says whether all that is asked for was achieved."""
    parser = argparse.ArgumentParser(description="a learned lag against the best fixed one")
    parser.add_argument("--events", type=int, default=2_000_000, help="per distribution")
    parser.add_argument("--png", type=Path, help="draw the lags into this file")
    asked = parser.parse_args(arguments)
    if asked.events < LEAST:
        parser.error(
            f"--events is at least {LEAST:,}: {WARM:,} are the warm-up, and a share of 0.1% needs many"
        )
    print(
        f"asked: {COMPLETENESS:.1%} complete; {asked.events:,} events a distribution, the first {WARM:,} not "
        f"counted; {RATE:,} events a second in {PARTITIONS} partitions\n"
    )
    heads = f"{'complete':>10} {'mean lag':>10} {'best fixed':>11} {'ratio':>7}"
    print(f"{'lateness':<14} {'rows/epoch':>10} {heads}")
    outcomes = []
    good = True
    for name in DISTRIBUTIONS:
        for rows_per_epoch in EPOCHS:
            one = measure(name, asked.events, rows_per_epoch)
            outcomes.append(one)
            fine = one.met and (name not in SHIFTING or one.lag < one.fixed)
            good = good and fine
            print(
                f"{name:<14} {rows_per_epoch:>10,} {one.completeness:>10.4%} {one.lag:>8.2f} s "
                f"{one.fixed:>9.2f} s {one.lag / one.fixed:>7.2f}{'' if fine else '   MISSED'}"
            )
    if asked.png:
        plot([each for each in outcomes if each.rows_per_epoch == EPOCHS[1]], asked.png)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
