"""Which rows an epoch had and how far time had come in it, as Spark's offset log has it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

NONE = -(2**63)


@dataclass(frozen=True)
class Epoch:
    """One epoch: the first offset of each partition and the one after the last, and W."""

    number: int
    rows: dict[int, tuple[int, int]]
    watermark: int
    """What its rows are judged by, in microseconds; also what its windows fire by."""
    before: int
    """W of the epoch before: what rows that come from another step are judged by."""


def read(checkpoint: Path, topic: str) -> list[Epoch]:
    """Read all epochs of a checkpoint, which must begin with the first one."""
    log = sorted((int(file.name), file) for file in (checkpoint / "offsets").iterdir() if file.name.isdigit())
    if [number for number, _ in log] != list(range(len(log))):
        raise RuntimeError(f"the offset log of {checkpoint} is not complete")
    ends: list[tuple[dict[int, int], int]] = [({}, NONE)]
    for _, file in log:
        lines = [
            json.loads(line[line.index("{") :]) for line in file.read_text().splitlines()[2:] if "{" in line
        ]
        [offsets] = [line[topic] for line in lines if topic in line]
        [clock] = [line for line in lines if "watermarks" in line]
        ends.append(({int(partition): end for partition, end in offsets.items()}, _watermark(clock)))
    return [
        Epoch(
            number,
            {partition: (before.get(partition, 0), end) for partition, end in now.items()},
            watermark,
            last,
        )
        for number, ((before, last), (now, watermark)) in enumerate(pairwise(ends))
    ]


def _watermark(clock: dict[str, Any]) -> int:
    [watermark] = clock["watermarks"].values()
    if any(of_step != watermark for of_step in clock["programs"].values()):
        raise RuntimeError(f"the steps of one source have watermarks of their own: {clock}")
    return int(watermark)
