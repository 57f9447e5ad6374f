"""How short does `bugzoo bug-report` make the faults of a program, and with how many tries?

    python -m tests.benchmarks.minimal [--program mlp] [--most 12] [--budget 120] [--save]

Each fault's broken text in its tiny size is given to it as somebody's script; the bar is 40 lines for `mlp`. What `checkup`
says first may be another cause than the fault's: then that is what is kept.
"""

import random
import tempfile
from pathlib import Path
from typing import Any

from bugzoo import faults
from bugzoo.diagnostics.bug_report import bug_report
from bugzoo.errors import UserError
from bugzoo.scenario import Scenario, fits
from tests.benchmarks.report import parser, save


def measure(program: str, most: int, budget: float) -> dict[str, Any]:
    """Fault -> lines before and after, tries; or why there was nothing to report."""
    candidates = [fault for fault in faults.catalogue().values() if program in fits(fault) and fault.family != "traps"]
    random.Random(0).shuffle(candidates)
    rows: dict[str, Any] = {}
    for fault in candidates[:most]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "train.py"
            file.write_text(Scenario(program, (fault.id,)).source, encoding="utf-8")
            try:
                rows[fault.id] = bug_report(file, Path(folder) / "report", budget=budget)
            except UserError as error:
                rows[fault.id] = {"nothing": str(error).replace(folder, "")[:200]}
        print(f"{fault.id}: {rows[fault.id]}", flush=True)
    return rows


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--program", default="mlp")
    options.add_argument("--most", type=int, default=12)
    options.add_argument("--budget", type=float, default=120)
    arguments = options.parse_args()
    rows = measure(arguments.program, arguments.most, arguments.budget)
    lines = sorted(row["lines"] for row in rows.values() if row.get("shown"))
    within = sum(length <= 40 for length in lines)
    print(f"\n{len(lines)} of {len(rows)} made shorter; lines {lines}; within 40: {within}")
    if arguments.save:
        save(f"minimal_{arguments.program}", {"rows": rows, "lines": lines, "within 40": within})


if __name__ == "__main__":
    main()
