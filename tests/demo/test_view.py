"""Progress adds up what a pipeline tells; the view shows it, drawn or as lines."""

from io import StringIO
from typing import Any

from rich.console import Console

from headrace.watch.progress import Progress
from headrace.watch.terminal import View, line


def epoch(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "event": "epoch",
        "epoch": number,
        "rows_in": 1_000,
        "backlog": 50,
        "epoch_ms": 100 + number,
        "watermarks": {"payments": "2026-01-01T12:00:00Z"},
        "watermark_lag_seconds": {"payments": 3.24},
        "fired": {"velocity": 20},
        "late": {"velocity": 3},
        "rejected": {"payments": 1},
        "delivered": {"alerts": 2, "late": 3, "rejected": 1},
        "hot_keys": [],
        **changes,
    }


def progress(*lines: dict[str, Any]) -> Progress:
    made = Progress()
    for number, told in enumerate(lines):
        made.take(told, now=float(number))
    return made


def test_counts_add_up():
    made = progress(epoch(0), epoch(1), epoch(2))
    assert (made.rows_in, made.fired, made.late, made.rejected) == (3_000, 60, 9, 3)
    assert made.delivered == {"alerts": 6, "late": 9, "rejected": 3}
    assert (made.epoch_p50, made.epoch_last, made.backlog) == (101, 102, 50)


def test_an_epoch_told_again_after_a_crash_counts_once():
    assert progress(epoch(0), epoch(1), epoch(1), epoch(2)).rows_in == 3_000


def test_other_lines_are_no_epochs():
    assert progress({"event": "started", "pid": 1}, {"event": "stopped", "reason": "drained"}).epochs == 0


def test_the_rate_is_that_of_the_last_seconds():
    made = progress(epoch(0), epoch(1), epoch(2))
    assert made.rows_per_second(now=2.0) == 600
    assert made.rows_per_second(now=60.0) == 0


def test_a_source_without_a_watermark_yet():
    made = progress(epoch(0, watermarks={"payments": None}, watermark_lag_seconds={"payments": None}))
    assert made.watermark is None
    assert made.lag is None
    assert "watermark -" in line(made, "00:01", "running")


def test_a_drained_clock_is_behind_nothing():
    made = progress(epoch(0, watermarks={"payments": None}, watermark_lag_seconds={"payments": 0.0}))
    assert made.lag is None


def test_the_slowest_source_counts():
    made = progress(
        epoch(
            0,
            watermarks={"a": "2026-01-01T12:00:00Z", "b": "2026-01-01T11:00:00Z"},
            watermark_lag_seconds={"a": 1.0, "b": 3600.0},
        )
    )
    assert made.watermark is not None
    assert made.watermark.hour == 11
    assert made.lag == 3600.0


def test_the_picture_shows_all_that_was_asked_for():
    out = StringIO()
    view = View(progress(epoch(0), epoch(1)), "fraud", console=Console(file=out, width=100))
    view.note("the pipeline was killed by signal 9")
    view.console.print(view.panel())
    shown = out.getvalue()
    for text in (
        "events in",
        "2,000",
        "12:00:00",
        "3.2 s behind",
        "windows closed",
        "40",
        "late",
        "rejected",
    ):
        assert text in shown
    for text in ("alerts", "epoch p50", "100 ms", "last 101 ms", "backlog", "killed by signal 9"):
        assert text in shown


def test_without_a_terminal_a_line_is_told_at_each_change():
    out = StringIO()
    with View(progress(epoch(0)), "fraud", console=Console(file=out, width=80)) as view:
        for _ in range(3):
            view.show("producing")
        view.show("draining")
    lines = out.getvalue().splitlines()
    assert [text.split(" · ")[0] for text in lines] == ["00:00 producing", "00:00 draining"]
    assert "in 1,000" in lines[0]
    assert "epoch 100 ms (last 100 ms)" in lines[0]


def test_hot_keys_are_those_of_the_newest_epoch():
    hot = [
        {"step": "velocity", "key": {"card": "4711"}, "share": 0.312},
        {"step": "once", "share": 0.1},
    ]
    made = progress(epoch(0, hot_keys=hot))
    assert line(made, "00:01", "running").endswith('hot keys velocity {"card": "4711"} 31 %, once 10 %')
    out = StringIO()
    console = Console(file=out, width=100)
    console.print(View(made, "fraud", console=console).panel())
    assert "hot keys" in out.getvalue()
    assert '{"card": "4711"} 31 %' in out.getvalue()
    made.take(epoch(1), now=1.0)
    assert "hot keys" not in line(made, "00:02", "running")
