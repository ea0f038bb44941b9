"""What was measured, for people and as JSON, beside what it should be."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.checked import Answers
from benchmarks.timing import Run, Spread


@dataclass(frozen=True)
class Race:
    """The same question to both, several times in turn."""

    name: str
    ours: list[Run]
    native: list[Run]
    expected: int
    target: float | None = None

    @property
    def ratio(self) -> float:
        """How many times as fast ours is."""
        return rate(self.ours) / rate(self.native)

    @property
    def processor_ratio(self) -> float:
        """How many times as many events ours takes for a second of processor time."""
        ours, native = (median(each.processor_rate for each in runs) for runs in (self.ours, self.native))
        return ours / native

    @property
    def right(self) -> bool:
        """Whether every run of both gave as many rows as there are."""
        return all(each.results == self.expected for each in [*self.ours, *self.native])


@dataclass(frozen=True)
class Wait:
    """Milliseconds that something takes."""

    name: str
    took: Spread
    target: float | None = None
    parts: dict[str, float] = field(default_factory=dict)


@dataclass
class Report:
    """All that a run of the benchmarks found."""

    about: dict[str, Any]
    answers: Answers | None = None
    races: list[Race] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    alone: dict[str, float] = field(default_factory=dict)
    """Events a second of what Spark has no operator for."""
    sizes: dict[str, float] = field(default_factory=dict)
    """Bytes that are held for one of something."""
    left_out: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> bool:
        """Whether something that was measured gave wrong results: then its speed means nothing."""
        return (self.answers is not None and not self.answers.right) or not all(
            each.right for each in self.races
        )

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "about": self.about,
            "right": not self.wrong,
            "events_per_second": [
                {
                    "name": each.name,
                    "ours": rate(each.ours),
                    "native": rate(each.native),
                    "ratio": each.ratio,
                    "processor_ratio": each.processor_ratio,
                    "target": each.target,
                    "met": met(each),
                    "runs": {
                        "ours": [run.rate for run in each.ours],
                        "native": [run.rate for run in each.native],
                    },
                    "rows_out": each.ours[0].results,
                    "rows_expected": each.expected,
                }
                for each in self.races
            ],
            "events_per_second_alone": self.alone,
            "state_bytes": self.sizes,
            "milliseconds": [
                {
                    "name": each.name,
                    "p50": each.took.p50,
                    "p95": each.took.p95,
                    "count": each.took.count,
                    "target": each.target,
                    "met": met(each),
                    "parts": each.parts,
                }
                for each in self.waits
            ],
            "left_out": self.left_out,
        }

    def text(self) -> str:
        """Return it for people."""
        lines = [" · ".join(f"{name} {value}" for name, value in self.about.items())]
        if self.answers is not None:
            panes, total = self.answers.expected
            said = "right" if self.answers.right else f"WRONG: {self.answers}"
            lines.append(f"answers of both over {panes:,} panes, amounts {total:,}: {said}")
        if self.races:
            lines += ["", _row("events/s, median", "ours", "Spark", "ratio", "target", "", "by CPU")]
            lines += [_race(each) for each in self.races]
        if self.alone:
            lines += ["", "events/s of what Spark has no operator for, median"]
            lines += [f"{name:<70}{value:>10,.0f}" for name, value in self.alone.items()]
        if self.sizes:
            lines += ["", "bytes of state"]
            lines += [f"{name:<70}{value:>10,.0f}" for name, value in self.sizes.items()]
        if self.waits:
            lines += ["", _row("milliseconds", "p50", "p95", "of", "target", "")]
            for each in self.waits:
                lines.append(_wait(each))
                shown = [f"{name} {value:.0f}" for name, value in each.parts.items() if value >= 1]
                if shown:
                    lines.append("  " + " · ".join(shown))
        lines += [f"left out: {each}" for each in self.left_out]
        return "\n".join(lines)


def rate(runs: list[Run]) -> float:
    """Return the median of events per second."""
    return median(each.rate for each in runs)


def met(measured: Race | Wait) -> bool | None:
    """Tell whether a target is met; None where there is none."""
    if measured.target is None:
        return None
    if isinstance(measured, Race):
        return measured.ratio >= measured.target
    return measured.took.p50 <= measured.target


def _race(race: Race) -> str:
    wrong = "" if race.right else f"  WRONG: {race.expected:,} rows expected, {_results(race)}"
    target = "" if race.target is None else f">= {race.target:.1f}"
    return (
        _row(
            race.name,
            f"{rate(race.ours):,.0f}",
            f"{rate(race.native):,.0f}",
            f"{race.ratio:.2f}",
            target,
            _met(race),
        )
        + wrong
    )


def _results(race: Race) -> str:
    ours, native = ({each.results for each in runs} for runs in (race.ours, race.native))
    return f"ours {sorted(ours)}, Spark {sorted(native)}"


def _wait(wait: Wait) -> str:
    target = "" if wait.target is None else f"<= {wait.target:.0f}"
    return _row(
        wait.name, f"{wait.took.p50:.0f}", f"{wait.took.p95:.0f}", str(wait.took.count), target, _met(wait)
    )


def _met(measured: Race | Wait) -> str:
    return {True: "met", False: "MISSED", None: ""}[met(measured)]


def _row(name: str, *cells: str) -> str:
    return f"{name:<48}" + "".join(f"{cell:>9}" for cell in cells)
