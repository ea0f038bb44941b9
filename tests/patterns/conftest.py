"""How many transcripts of patterns ran, and on what."""

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell how many transcripts ran on the oracle and on the kernel."""
    counts = {"oracle": 0, "kernel": 0}
    for report in terminalreporter.stats.get("passed", ()):
        for on in counts:
            counts[on] += (
                report.when == "call" and f"patterns/test_{on}.py::test_the_{on}_gives" in report.nodeid
            )
    if any(counts.values()):
        said = ", ".join(f"{count} on the {on}" for on, count in counts.items())
        terminalreporter.write_line(f"transcripts of patterns: {said}")
