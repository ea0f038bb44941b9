"""Lateness made up: partitions whose rows are late by given lags, in the given order."""

import random

from headrace.watch.lateness.measurement import Measurement, Partition

SECOND = 1_000_000


def measurement(*partitions):
    """Measure partitions, each a list of the lags of its rows."""
    made = []
    for number, lags in enumerate(partitions):
        partition = Partition(number)
        for place, lag in enumerate(lags):
            partition.halves[int(2 * place >= len(lags))].add(int(lag))
        made.append(partition)
    return Measurement.of(made)


def uniform(rows, longest, share=1.0, seed=1):
    """Rows of which a share is late, by up to `longest` microseconds."""
    chance = random.Random(seed)
    return [chance.random() * longest if chance.random() < share else 0 for _ in range(rows)]


def pareto(rows, least, seed=1):
    """Rows whose lateness has no finite mean."""
    chance = random.Random(seed)
    return [chance.paretovariate(1) * least for _ in range(rows)]
