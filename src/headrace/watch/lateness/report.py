"""What was measured, told: as text with the curve in it, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.text import Text

from headrace.declare.duration import microseconds, spell
from headrace.watch.lateness.advice import TARGET, Advice, Choice, advise
from headrace.watch.lateness.curve import ALL, NINES, Curve, percent
from headrace.watch.lateness.event_time import Refused
from headrace.watch.lateness.lags import EXACT_LAGS, RELATIVE_ERROR, Lags
from headrace.watch.lateness.measurement import Measurement
from headrace.watch.lateness.pleasant import SECOND, short
from headrace.watch.lateness.plot import plot, spark
from headrace.watch.lateness.scale import Scale

_TOLD = (*NINES[1:], ALL)
# The least and the most characters of a curve in the table.
_SPARK = (6, 20)
_MOST_PARTITIONS = 20
# Narrower a curve says nothing, wider it says no more.
_WIDTHS = (60, 110)
_POINTS = 120
_WORDS = {
    Refused.TOMBSTONE: "tombstones",
    Refused.UNREADABLE: "no JSON object",
    Refused.MISSING: "without {column}",
    Refused.NO_TIME: "{column} is no ISO-8601 time",
    Refused.FUTURE: "{column} cannot be true, over 10 minutes ahead",
}


@dataclass(frozen=True)
class Report:
    """What was measured of a topic; `begin` is "earliest" or a time, `left` how many rows were not read."""

    topic: str
    column: str
    begin: str
    measurement: Measurement
    left: int = 0

    @property
    def advice(self) -> Advice:
        """What the measurement advises."""
        return advise(self.measurement)

    def curves(self) -> dict[int, Curve]:
        """Return the curves of all partitions that have rows."""
        curves = {each.number: each.lags.curve() for each in self.measurement.partitions}
        return {number: curve for number, curve in curves.items() if curve.rows}

    def print(self, console: Console) -> None:
        """Print it all; readable at 80 columns and without colour."""
        width = min(max(console.width, _WIDTHS[0]), _WIDTHS[1])
        advice, lags, curves = self.advice, self.measurement.lags, self.curves()
        curve = lags.curve()
        marked = microseconds(advice.fixed.lag)
        for line in self._head(lags):
            console.print(line, highlight=False)
        console.print()
        worst = worst_of(curves) if len(curves) > 1 else None
        for drawn in plot(
            curve,
            width=width,
            marked=marked,
            mark=advice.mark,
            worst=None if worst is None else curves[worst],
            worst_name=f"partition {worst}, the latest for {percent(TARGET)}",
        ):
            console.print(drawn, highlight=False, no_wrap=True, crop=True)
        console.print()
        for row in _table(curve, curves, Scale.of(curve, marked), width):
            console.print(row, highlight=False, no_wrap=True, crop=True)
        for text in _advised(advice):
            console.print(text, highlight=False)

    def _head(self, lags: Lags) -> Iterator[Text]:
        measurement = self.measurement
        partitions = len(measurement.partitions)
        begin = "from the start" if self.begin == "earliest" else f"from {self.begin}"
        rest = (
            f" by {self.column}: {lags.rows:,} rows measured in {partitions} "
            f"partition{'s' * (partitions != 1)}, {begin}; {_resolution(lags)}"
        )
        yield Text.assemble((self.topic, "bold"), rest)
        if self.left:
            yield Text(f"{self.left:,} more were not read (--max-rows)")
        if refused := measurement.refused:
            parts = []
            for why in Refused:
                if rows := refused[why]:
                    at = measurement.first_refused(why)
                    where = f" (first: partition {at[0]}, offset {at[1]})" if at else ""
                    parts.append(f"  {_WORDS[why].format(column=self.column)}: {rows:,}{where}")
            yield Text("\n").join(map(Text, [f"not measured: {refused.total():,} rows", *parts]))

    def as_json(self) -> dict[str, Any]:
        """Return all numbers."""
        measurement, advice, lags = self.measurement, self.advice, self.measurement.lags
        curve = lags.curve()
        scale = Scale.of(curve, microseconds(advice.fixed.lag))
        halves = [half.curve() for half in measurement.halves]
        return {
            "topic": self.topic,
            "time": self.column,
            "from": self.begin,
            "rows": {"read": measurement.rows, "measured": lags.rows, "not_read": self.left},
            "refused": {why.value: self._refused(why) for why in Refused},
            "resolution": {"exact": lags.exact, "relative_error": 0 if lags.exact else RELATIVE_ERROR},
            "overall": {**_numbers(curve), "curve": _points(curve, scale)},
            "partitions": [
                {
                    "partition": each.number,
                    "read": each.rows,
                    "refused": {why.value: each.refused[why] for why in Refused},
                    **_numbers(each.lags.curve()),
                    "curve": _points(each.lags.curve(), scale),
                }
                for each in measurement.partitions
            ],
            "halves": [_numbers(half) for half in halves],
            "recommendation": {
                "code": advice.code,
                "watermark": "Adaptive" if advice.adaptive else "Bounded",
                "reasons": list(advice.reasons),
                "bounded": _choice_numbers(advice.fixed),
            },
            "choices": [_choice_numbers(choice) for choice in advice.choices],
            "hints": list(advice.hints),
        }

    def _refused(self, why: Refused) -> dict[str, Any]:
        at = self.measurement.first_refused(why)
        first = None if at is None else {"partition": at[0], "offset": at[1]}
        return {"rows": self.measurement.refused[why], "first": first}


def worst_of(curves: dict[int, Curve]) -> int:
    """Return the partition that waits longest for the target."""
    return max(curves, key=lambda number: (curves[number].lag_for(TARGET), curves[number].longest, -number))


def sentence(choice: Choice) -> str:
    """Say what a fixed lag costs."""
    rows = "every row comes in time"
    if choice.late:
        rows = f"{percent(choice.achieved)} of the rows come in time, {choice.late:,} would be late"
    wait = f"results wait {spell(choice.lag)} longer" if choice.lag else "results wait for nothing"
    return f"With {choice.code} {rows}; {wait}."


def _resolution(lags: Lags) -> str:
    if lags.exact:
        return f"lags are exact (up to {EXACT_LAGS:,} different ones are)"
    return f"lags are rounded up by at most {100 * RELATIVE_ERROR:.1f} % (over {EXACT_LAGS:,} different ones)"


def _table(curve: Curve, curves: dict[int, Curve], scale: Scale, width: int) -> Iterator[Text]:
    """Give a line a partition; the curve in each takes the room that is left."""
    by_lag = sorted(curves, key=lambda number: (curves[number].lag_for(TARGET), curves[number].longest))
    shown = {str(number): curves[number] for number in sorted(by_lag[-_MOST_PARTITIONS:])} | {"all": curve}
    heads = ["longest" if share == ALL else percent(share) for share in _TOLD]
    lines = [["partition", "rows", "in order", *heads]]
    for name, each in shown.items():
        lags = (short(each.lag_for(share)) for share in _TOLD)
        lines.append([name, f"{each.rows:,}", percent(each.completeness(0)), *lags])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    spark_width = min(max(width - sum(widths) - 2 * len(widths), _SPARK[0]), _SPARK[1])
    sparks = ["curve", *(spark(each, scale, spark_width) for each in shown.values())]
    for cells, drawn in zip(lines, sparks, strict=True):
        numbers = (f"{cell:>{room}}" for cell, room in zip(cells[1:], widths[1:], strict=True))
        style = {"partition": "dim", "all": "bold"}.get(cells[0], "")
        if cells[0] == "all" and len(curves) > _MOST_PARTITIONS:
            yield Text(f"and {len(curves) - _MOST_PARTITIONS} partitions that are less late")
        yield Text("  ".join([f"{cells[0]:{widths[0]}}", *numbers, drawn]), style=style)


def _advised(advice: Advice) -> Iterator[Text]:
    yield Text(f"\nrecommended for {percent(TARGET)}:\n")
    yield Text(f"    {advice.code}\n", style="bold green")
    for reason in advice.reasons:
        yield Text(f"because {reason}")
    yield Text(sentence(advice.fixed))
    for choice in advice.choices:
        if choice != advice.fixed:
            told = sentence(choice)
            yield Text(f"For {percent(choice.asked)}: {told[0].lower()}{told[1:]}")
    for hint in advice.hints:
        yield Text(f"hint: {hint}", style="yellow")


def _numbers(curve: Curve) -> dict[str, Any]:
    return {
        "rows": curve.rows,
        "in_order": curve.rows_within(0),
        "longest_lag_seconds": curve.longest / SECOND,
        "lag_seconds": {str(float(share)): curve.lag_for(share) / SECOND for share in (*NINES, ALL)},
    }


def _choice_numbers(choice: Choice) -> dict[str, Any]:
    return {
        "asked": float(choice.asked),
        "code": choice.code,
        "lag": spell(choice.lag),
        "lag_seconds": microseconds(choice.lag) / SECOND,
        "completeness": float(choice.achieved),
        "late": choice.late,
    }


def _points(curve: Curve, scale: Scale) -> list[dict[str, Any]]:
    """Return the curve at lags that lie evenly on the axis, and at its end."""
    lags = {scale.lag_at(point / _POINTS) for point in range(_POINTS + 1)}
    return [
        {"lag_seconds": lag / SECOND, "completeness": _share(curve, lag), "late": curve.rows_after(lag)}
        for lag in sorted({lag for lag in lags if lag < curve.longest} | {curve.longest})
    ]


def _share(curve: Curve, lag: int) -> float:
    share: Fraction = curve.completeness(lag)
    return float(share)
