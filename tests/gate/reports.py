"""A pytest plugin that writes what happens, one JSON object a line, into the file named by BUGZOO_GATE_REPORT.

The driver reads that file after pytest has ended, however it ended: a process that was killed leaves its lines behind.
Lines: {"kind": "start" | "test" | "collect", "id": node id, ...}; a "test" line is one part (setup, call, teardown) of a test.
"""

import json
import os
from typing import IO, Any

import pytest

FILE = "BUGZOO_GATE_REPORT"


class Writer:
    """Writes one line a report, and flushes it at once."""

    def __init__(self, file: IO[str]) -> None:
        self.file = file

    def write(self, **line: Any) -> None:
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(kind="start", id=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        outcome = "passed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
        text = report.longreprtext if report.failed else ""
        self.write(kind="test", id=report.nodeid, when=report.when, outcome=outcome, seconds=report.duration, text=text)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(kind="collect", id=report.nodeid, text=report.longreprtext)


def pytest_configure(config: pytest.Config) -> None:
    """Write in the process that the driver started only: it hears of every test that a worker of xdist runs."""
    if (place := os.environ.get(FILE)) and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Writer(open(place, "a", encoding="utf-8")), "bugzoo-gate-reports")
