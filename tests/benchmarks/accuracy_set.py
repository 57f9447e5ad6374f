"""How often checkup is right on one set of the corpus: `checkup_accuracy --set NAME`.

A script is right if a suspect's id names its mistake, or is a contract at one of the lines, or next to one. A twin is healthy.
"""

import tempfile
from pathlib import Path

from bugzoo.diagnostics.checkup import Report, checkup
from tests.corpus import Script, scripts

COLUMNS = (
    "scripts",
    "right first",
    "in three",
    "contract, other line",
    "silent",
    "wrong first",
    "healthy",
    "false alarms",
)


def judged(script: Script, report: Report) -> dict[str, int]:
    """Return which columns one report counts in."""
    suspects = report.remaining
    if not script.faulty:
        return {"healthy": 1, "false alarms": int(report.outcome == "found")}
    first = bool(suspects) and script.right(suspects[0])
    other = (
        bool(suspects)
        and not first
        and any(instrument.startswith("contracts/") for instrument in suspects[0].instruments)
    )
    return {
        "scripts": 1,
        "right first": int(first),
        "in three": int(any(map(script.right, suspects[:3]))),
        "contract, other line": int(other),
        "silent": int(not suspects),
        "wrong first": int(bool(suspects) and not first and not other),
    }


def measure(name: str, seconds: float = 60) -> dict[str, int]:
    """Return the number of a set's scripts in each of COLUMNS, and print a line for each script."""
    total = dict.fromkeys(COLUMNS, 0)
    with tempfile.TemporaryDirectory() as folder:
        for script in scripts(name):
            report = checkup(script.placed(Path(folder)).path, seconds=seconds)
            for column, count in judged(script, report).items():
                total[column] += count
            named = [f"{suspect.cause} at {suspect.line} ({suspect.score:.2f})" for suspect in report.remaining[:3]]
            print(f"{script.name}: {report.outcome}: {'; '.join(named) or '-'}", flush=True)
    return total
