"""The curve in the terminal: braille dots and plain text, readable without colour."""

from __future__ import annotations

from fractions import Fraction

from rich.text import Text

from headrace.watch.lateness.curve import Curve, percent
from headrace.watch.lateness.pleasant import short
from headrace.watch.lateness.scale import Scale

_ROWS_A_NINE = 3
# The eight dots of a braille character: two across, four down.
_ACROSS, _DOWN = 2, 4
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BRAILLE = 0x2800
_BARS = "▁▂▃▄▅▆▇█"
_SIGN = "°"
_LABELS = 9


def plot(
    curve: Curve, *, width: int, marked: int, mark: str, worst: Curve | None = None, worst_name: str = ""
) -> list[Text]:
    """Return the lines of the picture, each `width` characters at most.

    `marked` is a lag in microseconds, an upright line, and `mark` what it is; `worst` is a second curve, of
    single signs.
    """
    scale = Scale.of(curve, marked)
    field = _Field(scale, width - _LABELS - 1)
    if worst is not None:
        field.dots(worst)
    field.line(curve)
    labels = {field.row_of(share): percent(share) for share in scale.shares}
    at = min(round(scale.across(marked) * (field.columns - 1)), field.columns - 1)
    lines = []
    drawn = field.drawn()
    for row, cells in enumerate(drawn):
        label = labels.get(row, "")
        text = Text(f"{label:>{_LABELS - 1}} {'┤' if label else '│'}")
        for column, cell in enumerate(cells):
            if cell == " " and column == at:
                text.append("┊", style="green")
            elif cell == " " and label and column % 4 == 3:  # noqa: PLR2004 - a sparse line at each label
                text.append("·", style="dim")
            else:
                text.append(cell, style="yellow" if cell == _SIGN else "bold cyan")
        lines.append(text)
    lines += _axis(scale, field.columns)
    legend = f"{'┊':>{_LABELS + 1}} {mark}, {short(marked)}"
    if any(_SIGN in cells for cells in drawn):
        legend += f"   {_SIGN} {worst_name}"
    lines.append(Text(legend))
    for line in lines:
        line.rstrip()
    return lines


def spark(curve: Curve, scale: Scale, width: int) -> str:
    """Return a curve as one line of bars, on the same scale as the picture."""
    drawn = []
    for column in range(width):
        height = scale.up(curve.completeness(scale.lag_at((column + 1) / width)))
        drawn.append(_BARS[min(int(height * len(_BARS)), len(_BARS) - 1)])
    return "".join(drawn)


class _Field:
    """A rectangle of characters into which curves are drawn."""

    def __init__(self, scale: Scale, columns: int) -> None:
        self.scale, self.columns = scale, columns
        self.rows = _ROWS_A_NINE * (scale.nines - scale.lowest + 1) + 1
        self._braille = [[0] * columns for _ in range(self.rows)]
        self._plain: dict[tuple[int, int], str] = {}

    def row_of(self, share: Fraction) -> int:
        """Return the line of characters on which a share lies."""
        return self._dot(share) // _DOWN

    def _dot(self, share: Fraction) -> int:
        return round((1 - self.scale.up(share)) * (self.rows * _DOWN - _DOWN)) + 1

    def line(self, curve: Curve) -> None:
        """Draw a curve of joined dots."""
        before: int | None = None
        across = self.columns * _ACROSS
        for column in range(across):
            share = curve.completeness(self.scale.lag_at(column / (across - 1)))
            dot = self._dot(share)
            for down in range(dot, max(dot, before - 1 if before is not None else dot) + 1):
                self._braille[down // _DOWN][column // _ACROSS] |= _DOTS[column % _ACROSS][down % _DOWN]
            before = dot

    def dots(self, curve: Curve) -> None:
        """Draw a curve of single signs, under what else is drawn."""
        for column in range(self.columns):
            share = curve.completeness(self.scale.lag_at(column / (self.columns - 1)))
            self._plain[self.row_of(share), column] = _SIGN

    def drawn(self) -> list[str]:
        """Return the lines."""
        return [
            "".join(
                chr(_BRAILLE + dots) if dots else self._plain.get((row, column), " ")
                for column, dots in enumerate(cells)
            )
            for row, cells in enumerate(self._braille)
        ]


def _axis(scale: Scale, columns: int) -> list[Text]:
    """Return the lower edge with the lags that fit below it."""
    edge, names = ["─"] * columns, [" "] * columns
    free = 0
    for lag in scale.ticks:
        at = round(scale.across(lag) * (columns - 1))
        name = short(lag)
        begin = max(0, min(at - len(name) // 2, columns - len(name)))
        if begin < free:
            continue
        edge[at] = "┬"
        names[begin : begin + len(name)] = name
        free = begin + len(name) + 2
    return [
        Text(" " * _LABELS + "└" + "".join(edge)),
        Text(" " * (_LABELS + 1) + "".join(names)),
    ]
