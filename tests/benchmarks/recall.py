"""Which faults of the catalogue does checkup name, now that a score has to be earned? Prints a table.

    python -m tests.benchmarks.recall [--save]

Each fault that needs one process runs once, on the first program in the ledger that it was proved on. `before`: the cause
that the instruments' own numbers put first, as until 27 November 2026. `now`: what the report puts first, or a reading that
could be it. Some ten minutes.
"""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bugzoo import faults
from bugzoo.diagnostics import judge_all
from bugzoo.diagnostics._rank import rank
from bugzoo.diagnostics.checkup import checkup
from bugzoo.proving import ledger
from bugzoo.scenario import Scenario
from tests.benchmarks import report as reports


def cases() -> dict[str, str]:
    """Return fault -> program."""
    chosen = {}
    for fault in faults.catalogue().values():
        cells = {} if fault.trap or fault.family == "distributed" else ledger.read("faults", fault.id).get("cells", {})
        proved = [program for program, cell in cells.items() if not cell["problems"]]
        if proved:
            chosen[fault.id] = proved[0]
    return chosen


def look(folder: Path, fault: str, program: str) -> dict[str, str]:
    """Return {"before", "now"}: "named", "reading", "other" or "silent"."""
    path = folder / f"{fault.replace('/', '_')}.py"
    path.write_text(Scenario(program, (fault,)).source, encoding="utf-8")
    report = checkup(path, most_reruns=0)
    readings = report.run.readings if report.run is not None else {}
    ranked = rank(judge_all(readings))
    now = "other" if report.remaining else "silent"
    if any(entry.cause == fault for entry in report.remaining[:1]):
        now = "named"
    elif not report.remaining and any(fault in entry.could_be for entry in report.readings):
        now = "reading"
    before = "silent" if not ranked else "named" if ranked[0].cause == fault else "other"
    print(f"{fault} on {program}: {before} -> {now}", file=sys.stderr, flush=True)
    return {"before": before, "now": now}


def main() -> None:
    options = reports.parser(__doc__).parse_args()
    chosen = cases()
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(2) as pool:
        answers = dict(zip(chosen, pool.map(lambda one: look(Path(place), *one), chosen.items()), strict=True))
    print(f"{'':10}{'before':>6}{'now':>6}")
    for word in ("named", "reading", "other", "silent"):
        before, now = (sum(answer[when] == word for answer in answers.values()) for when in ("before", "now"))
        print(f"{word:10}{before:>6}{now:>6}")
    if options.save:
        reports.save("checkup_recall", answers)


if __name__ == "__main__":
    main()
