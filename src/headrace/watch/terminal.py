"""The terminal view: progress drawn in place, or told line by line where nothing can be drawn."""

import time
from collections import deque
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from headrace.watch.progress import Progress

_BARS = " ▁▂▃▄▅▆▇█"
_HISTORY = 30
_FRAMES_PER_SECOND = 4
_LINE_SECONDS = 3.0
_WIDTH = 74
_ENOUGH_BEHIND = 10.0


class View:
    """Draws a `Progress`; `title` and `state` say what runs and in which phase it is.

    Used as a context: ``with View(progress, "fraud") as view: view.show("running")``, called often.
    """

    def __init__(self, progress: Progress, title: str, *, console: Console | None = None) -> None:
        self.progress, self.title = progress, title
        self.console = console or Console()
        self.draws = self.console.is_terminal and not self.console.is_dumb_terminal
        self._state = ""
        self._notes: deque[str] = deque(maxlen=4)
        self._rates: deque[float] = deque(maxlen=_HISTORY)
        self._began = self._sampled = self._told = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self.draws:
            self._live = Live(
                get_renderable=self.panel,
                console=self.console,
                refresh_per_second=_FRAMES_PER_SECOND,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)
            self._live = None

    def show(self, state: str) -> None:
        """Say in which phase it is; without a terminal a line is written every few seconds."""
        now = time.monotonic()
        changed, self._state = state != self._state, state
        if now - self._sampled >= 1:
            self._sampled = now
            self._rates.append(self.progress.rows_per_second(now))
        if not self.draws and (changed or now - self._told >= _LINE_SECONDS):
            self._told = now
            self.console.print(line(self.progress, self._elapsed(), state), highlight=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Say something that happened once, and keep it in view."""
        self._notes.append(f"{self._elapsed()} {text}")
        if not self.draws:
            self.console.print(self._notes[-1], highlight=False, soft_wrap=True)

    def _elapsed(self) -> str:
        seconds = int(time.monotonic() - self._began)
        return f"{seconds // 60:02}:{seconds % 60:02}"

    def panel(self) -> Panel:
        """Return the picture."""
        rows = Table.grid(padding=(0, 2))
        rows.add_column(style="dim", width=15)
        rows.add_column(justify="right", width=10)
        rows.add_column()
        for name, value, more in _rows(self.progress, spark(self._rates)):
            rows.add_row(name, value, more)
        notes = [Text(note, style="yellow") for note in self._notes]
        return Panel(
            Group(rows, *notes),
            title=f"[bold]{self.title}[/] · {self._state}",
            title_align="left",
            subtitle=self._elapsed(),
            subtitle_align="right",
            width=min(_WIDTH, self.console.width),
        )


def spark(values: deque[float]) -> str:
    """Draw numbers as a row of bars."""
    most = max(values, default=0) or 1
    return "".join(_BARS[round(value / most * (len(_BARS) - 1))] for value in values)


def _rows(progress: Progress, bars: str) -> list[tuple[str, str | Text, str | Text]]:
    behind = progress.lag
    style = "red" if behind is not None and behind > _ENOUGH_BEHIND else ""
    delivered = ", ".join(f"{rows:,} {name}" for name, rows in progress.delivered.items())
    last = f"last {progress.epoch_last:,} ms" if progress.epoch_last is not None else ""
    if progress.last_epoch is not None:
        last = f"epoch {progress.last_epoch}, {last}"
    return [
        ("events in", f"{progress.rows_in:,}", f"{progress.rows_per_second():,.0f}/s {bars}"),
        ("backlog", f"{progress.backlog:,}", ""),
        ("watermark", _clock(progress), Text(_behind(behind), style=style)),
        ("windows closed", f"{progress.fired:,}", ""),
        ("late", f"{progress.late:,}", ""),
        ("rejected", f"{progress.rejected:,}", ""),
        ("alerts", Text(f"{progress.delivered.get('alerts', 0):,}", style="bold"), ""),
        ("delivered", f"{sum(progress.delivered.values()):,}", delivered),
        ("epoch p50", _milliseconds(progress.epoch_p50), last),
        *(
            [("hot keys", f"{len(progress.hot_keys)}", Text(progress.hot, style="yellow"))]
            if progress.hot
            else []
        ),
    ]


def line(progress: Progress, elapsed: str, state: str) -> str:
    """Tell the same in one line of plain text."""
    parts = [
        f"{elapsed} {state}",
        f"in {progress.rows_in:,} ({progress.rows_per_second():,.0f}/s)",
        f"watermark {_clock(progress)} {_behind(progress.lag)}".rstrip(),
        f"closed {progress.fired:,}",
        f"late {progress.late:,}",
        f"rejected {progress.rejected:,}",
        f"alerts {progress.delivered.get('alerts', 0):,}",
        f"epoch {_milliseconds(progress.epoch_p50)} (last {_milliseconds(progress.epoch_last)})",
        f"backlog {progress.backlog:,}",
        *([f"hot keys {progress.hot}"] if progress.hot else []),
    ]
    return " · ".join(parts)


def _clock(progress: Progress) -> str:
    return f"{progress.watermark:%H:%M:%S}" if progress.watermark else "-"


def _behind(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.1f} s behind"


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f} ms"
