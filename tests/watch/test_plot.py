"""What is drawn and told at 80 columns, as golden text; `REWRITE_GOLDEN=1` writes it anew."""

import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from headrace.watch.lateness.event_time import Refused
from headrace.watch.lateness.report import Report
from headrace.watch.lateness.scale import Scale
from tests.watch.lateness import SECOND, measurement, pareto, uniform

GOLDEN = Path(__file__).parent / "golden"


def steady():
    """Most rows in order, some a little late, few very; one row of each kind that is refused."""
    made = measurement(
        [*uniform(20_000, 2.5 * SECOND, 0.1, seed=1), 20 * SECOND], uniform(20_000, 2 * SECOND, 0.06, seed=2)
    )
    for offset, why in enumerate(Refused):
        made.partitions[1].take(why, offset=offset, half=0, now=0)
    return Report("payments", "at", "earliest", made, 5_000)


def heavy():
    """A tail like a power law, and a third partition that is far behind."""
    made = measurement(
        pareto(100_000, 0.05 * SECOND, seed=1), pareto(100_000, 0.05 * SECOND, seed=2), pareto(30_000, SECOND)
    )
    return Report("clicks", "meta.at", "2026-01-31T00:00:00+00:00", made)


def shown(report, **options):
    file = io.StringIO()
    report.print(Console(file=file, width=80, **options))
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


@pytest.mark.parametrize("report", [steady, heavy])
def test_it_looks_as_it_did(report):
    text = shown(report())
    golden = GOLDEN / f"{report.__name__}.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_it_fits_and_needs_no_colour():
    text = shown(heavy())
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert "\x1b" in shown(heavy(), force_terminal=True, color_system="standard", no_color=False)


@pytest.mark.parametrize("lags", [[0], [0] * 10, [0, 1], [0, 10**15], [5] * 3])
def test_little_can_be_drawn_too(lags):
    text = shown(Report("t", "at", "earliest", measurement(lags)))
    assert "recommended for 99.9 %" in text


def test_the_scale_goes_both_ways():
    scale = Scale.of(steady().measurement.lags.curve())
    for place in (0.0, 0.02, 0.1, 0.3, 0.7, 1.0):
        assert scale.across(scale.lag_at(place)) == pytest.approx(place, abs=1e-3)
