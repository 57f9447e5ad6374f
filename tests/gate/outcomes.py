"""What became of each test, read from the lines that `tests.gate.reports` wrote."""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Test:
    """One test: `outcome` is passed, failed, skipped, or "" where it began and never ended."""

    __test__ = False  # pytest would collect a class of this name

    id: str
    outcome: str = ""
    seconds: float = 0.0
    text: str = ""

    @property
    def file(self) -> str:
        return self.id.split("::")[0]

    @property
    def why(self) -> str:
        """The line of the failure that says most: the first that pytest marks with E, else the last one."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        marked = [line[1:].strip() for line in lines if line.startswith("E ")]
        return (marked or lines[-1:] or ["it began and never ended: the process that ran it is gone"])[0]


@dataclass
class Phase:
    """One run of pytest: its tests by node id, and what went wrong outside of a test."""

    name: str
    tests: dict[str, Test] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def failed(self) -> list[Test]:
        return [test for test in self.tests.values() if test.outcome in FAILED]


FAILED = ("failed", "")
WORST = ("passed", "skipped", "failed")
"""A test has three parts; the worst one decides."""


def read(name: str, file: Path) -> Phase:
    """The phase that wrote `file`; it has no tests if the file is missing."""
    phase = Phase(name)
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:  # the process was killed in the middle of its last line
            continue
        if entry["kind"] == "collect":
            if entry["id"] not in phase.tests:  # each worker of xdist reports it
                phase.errors.append(f"{entry['id']} could not be collected: {Test('', text=entry['text']).why}")
                phase.tests[entry["id"]] = Test(entry["id"], "failed", text=entry["text"])
            continue
        test = phase.tests.setdefault(entry["id"], Test(entry["id"]))
        if entry["kind"] == "test":
            test.seconds += entry["seconds"]
            test.text = test.text or entry["text"]
            if not test.outcome or WORST.index(entry["outcome"]) > WORST.index(test.outcome):
                test.outcome = entry["outcome"]
    return phase


def slowest(phases: list[Phase], most: int = 20) -> list[tuple[str, float]]:
    """(file, seconds of its tests) of the slowest test files."""
    by: dict[str, float] = {}
    for phase in phases:
        for test in phase.tests.values():
            by[test.file] = by.get(test.file, 0.0) + test.seconds
    return sorted(by.items(), key=lambda one: -one[1])[:most]
