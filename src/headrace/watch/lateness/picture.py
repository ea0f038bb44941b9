"""The curve as a picture: drawn by matplotlib, which the extra ``plot`` installs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headrace.declare.duration import microseconds, spell
from headrace.errors import SettingsError, SetupError
from headrace.watch.lateness.advice import TARGET
from headrace.watch.lateness.curve import Curve, percent
from headrace.watch.lateness.pleasant import short
from headrace.watch.lateness.report import Report, sentence, worst_of
from headrace.watch.lateness.scale import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 600
_INCHES = (9.0, 5.4)
_DOTS_AN_INCH = 144
_OVERALL, _MARK, _GREY, _THIN = "#1f4e8c", "#b5482a", "#5f6770", "#9aa5b1"


def check(file: Path) -> None:
    """Fail before anything is read when the picture could not be drawn or written."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError:
        raise SetupError(
            "--png draws with matplotlib, which is not installed", cure="pip install 'headrace[plot]'"
        ) from None
    if file.suffix.lower() != ".png":
        raise SettingsError(f"--png writes a PNG, and {file} is not named so", cure=f"--png {file}.png")
    if not file.absolute().parent.is_dir():
        raise SettingsError(f"--png {file}: the folder does not exist", cure=f"mkdir -p {file.parent}")


def draw(report: Report, file: Path) -> None:
    """Write the curves of a report: all rows bold, partitions thin, the recommended lag marked."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    curve, curves, choice = report.measurement.lags.curve(), report.curves(), report.advice.fixed
    marked = microseconds(choice.lag)
    scale = Scale.of(curve, marked)
    figure = Figure(figsize=_INCHES, dpi=_DOTS_AN_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    worst = worst_of(curves) if len(curves) > 1 else None
    for number, each in curves.items() if len(curves) > 1 else ():
        # A label that begins with an underscore is not in the legend.
        label = f"{len(curves)} partitions" if number == min(curves) else f"_{number}"
        axes.plot(*_points(each, scale), color=_THIN, linewidth=0.9, label=label)
    if worst is not None:
        x, y = _points(curves[worst], scale)
        axes.plot(
            x,
            y,
            color=_GREY,
            linewidth=1.1,
            linestyle="--",
            label=f"partition {worst}, the latest for {percent(TARGET)}",
        )
    axes.plot(*_points(curve, scale), color=_OVERALL, linewidth=2.6, label="all rows")
    place = scale.across(marked)
    axes.axvline(
        place, color=_MARK, linewidth=1.3, linestyle=":", label=f"{report.advice.mark}: {spell(choice.lag)}"
    )
    axes.plot([place], [scale.up(choice.achieved)], "o", color=_MARK, markersize=6)
    _axes(axes, scale)
    title = f"How late the rows of {report.topic} come"
    axes.set_title(title, loc="left", fontsize=14, fontweight="bold", pad=26)
    axes.text(0, 1.025, sentence(choice), transform=axes.transAxes, fontsize=9.5, color=_GREY)
    axes.legend(loc="upper left", frameon=True, framealpha=0.9, edgecolor="none", fontsize=9)
    try:
        figure.savefig(file, format="png", metadata={"Software": "headrace"})
    except OSError as problem:
        raise SettingsError(
            f"--png {file} cannot be written: {problem.strerror}", cure="choose another file"
        ) from None


def _points(curve: Curve, scale: Scale) -> tuple[list[float], list[float]]:
    places = [point / _POINTS for point in range(_POINTS + 1)]
    return places, [scale.up(curve.completeness(scale.lag_at(place))) for place in places]


def _axes(axes: Axes, scale: Scale) -> None:
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.02, 1.03)
    axes.set_xticks([scale.across(lag) for lag in scale.ticks], [short(lag) for lag in scale.ticks])
    axes.set_yticks([scale.up(share) for share in scale.shares], [percent(share) for share in scale.shares])
    axes.set_xlabel("lag: how long a window waits after the newest row of the partition (logarithmic)")
    axes.set_ylabel("completeness: rows that come within the lag")
    axes.grid(color="#e3e6ea", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
