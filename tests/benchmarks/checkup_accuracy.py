"""How often is checkup right on training scripts in other styles? Prints a table.

    python tests/benchmarks/checkup_accuracy.py [--json OUT]

Rows: healthy scripts and healthy variants that look wrong (right: nothing is found), broken variants by family (right: the
cause is named first; in brackets: among the first three), and the lines pointed at.
"""

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from foreign.cases import BROKEN, SCRIPTS, TRAPS, healthy

from bugzoo.diagnostics.checkup import checkup


def measure(folder: Path) -> dict[str, dict[str, int]]:
    """{row: {"cases", "right", "among_three", "lines", "lines_right"}}"""
    rows: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(
        ("cases", "right", "among_three", "lines", "lines_right"), 0))  # fmt: skip
    calm = [("healthy", (SCRIPTS / f"{name}.py").read_text(encoding="utf-8"), name) for name in healthy()]
    calm += [("looks wrong, is right", case.source, case.script) for case in TRAPS]
    for row, source, name in calm:
        path = folder / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        report = checkup(path, max_cost=1)
        rows[row]["cases"] += 1
        rows[row]["right"] += report.outcome == "nothing"
    for case in BROKEN:
        path = folder / f"{case.script}.py"
        path.write_text(case.source, encoding="utf-8")
        suspects = checkup(path, max_cost=1).suspects
        row = rows[case.cause.split("/")[0]]
        row["cases"] += 1
        row["right"] += bool(suspects) and suspects[0].cause == case.cause
        row["among_three"] += case.cause in [s.cause for s in suspects[:3]]
        if case.at and suspects and suspects[0].cause == case.cause:
            line = suspects[0].line
            row["lines"] += 1
            row["lines_right"] += line is not None and case.at in case.source.splitlines()[line - 1]
    return dict(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = measure(Path(folder))
    print(f"{'':24}{'cases':>6}{'right':>7}{'(first three)':>15}{'lines':>10}")
    for name, row in table.items():
        lines = f"{row['lines_right']}/{row['lines']}" if row["lines"] else ""
        print(f"{name:24}{row['cases']:>6}{row['right']:>7}{row['among_three'] or '':>15}{lines:>10}")
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
