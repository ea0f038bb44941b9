"""How many transcripts ran, and on what."""

import pytest

_DRIVERS = {
    "oracle": "test_oracle.py::test_the_oracle_gives",
    "kernel": "test_kernel.py::test_the_kernel_gives",
}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say it at the end of the run, whatever failed."""
    ran = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    counts = {
        name: sum(report.when == "call" and test in report.nodeid for report in ran)
        for name, test in _DRIVERS.items()
    }
    told = dict(each for report in ran if report.when == "call" for each in report.user_properties)
    counts["machines"] = told.get("transcripts", 0)
    if any(counts.values()):
        said = ", ".join(f"{count} on the {name}" for name, count in counts.items())
        if "transcripts of several steps" in told:
            said += f" alone (and {told['transcripts of several steps']} of several steps, which need Spark)"
        terminalreporter.write_line(f"transcripts: {said}")
