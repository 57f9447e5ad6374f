"""How often is checkup right on training scripts in other styles? Prints a table.

    python -m tests.benchmarks.checkup_accuracy [--save]

Rows: healthy scripts and healthy variants that look wrong (every suspect there is a false alarm), broken variants by
family: the cause was named first, or was among the suspects at all; and how many lines pointed to the right place.
"""

import tempfile
from collections import defaultdict
from pathlib import Path

from bugzoo.diagnostics.checkup import Report, checkup
from tests.benchmarks import report as reports
from tests.foreign.case import SCRIPTS, Case
from tests.foreign.cases import BROKEN, TRAPS, healthy

COLUMNS = ("cases", "right_first", "found", "false_alarms", "lines", "lines_right")


def _look(folder: Path, name: str, source: str, cause: str = "") -> Report:
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    return checkup(path, max_cost=2 if cause.startswith("reproducibility") else 1)


def _count(row: dict[str, int], case: Case, found: Report) -> None:
    causes = [suspect.cause for suspect in found.suspects]
    row["right_first"] += causes[:1] == [case.cause]
    row["found"] += case.cause in causes
    if case.at and causes[:1] == [case.cause]:
        line = found.suspects[0].line
        row["lines"] += 1
        row["lines_right"] += line is not None and case.at in case.source.splitlines()[line - 1]


def measure(folder: Path) -> dict[str, dict[str, int]]:
    """{row: {column of COLUMNS: count}}"""
    rows: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COLUMNS, 0))
    calm = [("healthy", (SCRIPTS / f"{name}.py").read_text(encoding="utf-8"), name) for name in healthy()]
    calm += [("looks wrong, is right", case.source, case.script) for case in TRAPS]
    for row, source, name in calm:
        rows[row]["cases"] += 1
        found = _look(folder, name, source)
        if found.outcome != "nothing":  # "unjudged" is no answer either
            rows[row]["false_alarms"] += 1
            print(f"{name}: {found.outcome}: {[(s.cause, s.evidence) for s in found.suspects]}", flush=True)
    for case in BROKEN:
        row, found = rows[case.cause.split("/")[0]], _look(folder, case.script, case.source, case.cause)
        row["cases"] += 1
        _count(row, case, found)
        if [suspect.cause for suspect in found.suspects][:1] != [case.cause]:
            print(f"{case.script}, {case.cause}: {[suspect.cause for suspect in found.suspects[:3]]}", flush=True)
    broken = [row for name, row in rows.items() if name not in ("healthy", "looks wrong, is right")]
    rows["all broken"] = {name: sum(row[name] for row in broken) for name in COLUMNS}
    return dict(rows)


def table(rows: dict[str, dict[str, int]]) -> str:
    lines = [f"{'':24}{'cases':>6}{'right first':>13}{'found':>7}{'false alarms':>14}{'lines':>9}"]
    for name, row in rows.items():
        healthy_row = name in ("healthy", "looks wrong, is right")
        right = ("", "") if healthy_row else (row["right_first"], row["found"])
        alarms = row["false_alarms"] if healthy_row else ""
        pointed = f"{row['lines_right']}/{row['lines']}" if row["lines"] else ""
        lines.append(f"{name:24}{row['cases']:>6}{right[0]:>13}{right[1]:>7}{alarms:>14}{pointed:>9}")
    return "\n".join(lines)


if __name__ == "__main__":
    options = reports.parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as place:
        measured = measure(Path(place))
    print(table(measured))
    if options.save:
        reports.save("checkup_accuracy", measured)
