"""How often is checkup right on training scripts in other styles? Prints a table.

    python -m tests.benchmarks.checkup_accuracy [--unseen | --reported | --set NAME] [--save]

With --unseen: the scripts in tests/corpus/unseen, at first sight and now. With --reported: those in tests/corpus/reported,
half of them opened and half of them sealed. With --set: those of one set, with their twins (`accuracy_set`). Otherwise those
that checkup was made with.
Rows there: healthy scripts and healthy variants that look wrong (every suspect is a false alarm), broken variants by
family: the cause was named first, or was among the suspects at all; and how many lines pointed to the right place.
"""

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from bugzoo.diagnostics.checkup import Report, checkup
from tests.benchmarks import accuracy_set
from tests.benchmarks import report as reports
from tests.corpus import TWINNED, Script, scripts, variants

COLUMNS = ("cases", "right_first", "found", "false_alarms", "lines", "lines_right")


def _count(row: dict[str, int], script: Script, found: Report) -> None:
    causes = [suspect.cause for suspect in found.suspects]
    row["right_first"] += script.named(causes)
    row["found"] += script.cause in causes
    if script.at and script.named(causes):
        line = found.suspects[0].line
        row["lines"] += 1
        row["lines_right"] += line is not None and script.at in script.text.splitlines()[line - 1]


def measure(folder: Path) -> dict[str, dict[str, int]]:
    """{row: {column of COLUMNS: count}}"""
    rows: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COLUMNS, 0))
    for script in (*scripts("scripts"), *sorted(variants(), key=lambda variant: variant.faulty)):
        checkup_report = checkup(script.placed(folder).path, most_reruns=script.reruns if script.faulty else 0)
        causes = [suspect.cause for suspect in checkup_report.suspects]
        if script.faulty:
            row = rows[script.cause.split("/")[0]]
            _count(row, script, checkup_report)
            if not script.named(causes):
                print(f"{script.name}, {script.cause}: {causes[:3]}", flush=True)
        else:
            row = rows["looks wrong, is right" if script.before else "healthy"]
            if checkup_report.outcome != "nothing":  # "unjudged" is no answer either
                row["false_alarms"] += 1
                print(
                    f"{script.name}: {checkup_report.outcome}: {[(s.cause, s.reason) for s in checkup_report.suspects]}",
                    flush=True,
                )
        row["cases"] += 1
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


def at_first_sight() -> dict[str, dict[str, int]]:
    """{"at first sight" and "now": {"healthy", "left in peace", "broken", "right first", "found"}}"""
    rows: dict[str, dict[str, int]] = {}
    for title in ("at first sight", "now"):
        row = rows[title] = dict.fromkeys(("healthy", "left in peace", "broken", "right first", "found"), 0)
        for case in scripts("unseen"):
            causes = list(case.first_pass)
            if title == "now":
                causes = [s.cause for s in checkup(case.path, ranks=case.ranks).suspects]
                if not case.named(causes):
                    print(f"{case.name}, {case.cause or 'healthy'}: {causes[:3]}", flush=True)
            if not case.faulty:
                row["healthy"] += 1
                row["left in peace"] += not causes
            else:
                row["broken"] += 1
                row["right first"] += case.named(causes)
                row["found"] += case.cause in causes
    return rows


def from_reports() -> dict[str, dict[str, int]]:
    """{"opened" and "sealed", each "at first sight" and "now": {"healthy", "left in peace", "broken", ...}}

    Of a sealed script only whether it was right is printed.
    """
    names = ("healthy", "left in peace", "broken", "right first", "in three", "unjudged")
    rows = {
        f"{half}, {when}": dict.fromkeys(names, 0)
        for half in ("opened", "sealed")
        for when in ("at first sight", "now")
    }
    for case in scripts("reported"):
        checkup_report = checkup(case.path)
        now = [suspect.cause for suspect in checkup_report.suspects]
        half = "sealed" if case.sealed else "opened"
        rows[f"{half}, now"]["unjudged"] += checkup_report.outcome == "unjudged"
        for when, causes in (("at first sight", case.first_pass), ("now", now)):
            row = rows[f"{half}, {when}"]
            row["broken" if case.faulty else "healthy"] += 1
            judged = when != "now" or checkup_report.outcome != "unjudged"  # no answer is no peace either
            row["right first" if case.faulty else "left in peace"] += case.named(causes) and judged
            row["in three"] += case.faulty and case.named(causes, 3)
        print(
            f"{case.name}: measured" if case.sealed else f"{case.name}: {'right' if case.named(now) else 'wrong'}",
            end="",
            flush=True,
        )
        print("" if case.sealed else f", {case.cause or 'healthy'}: {now[:3]}", flush=True)
    return rows


def columns(rows: dict[str, dict[str, int]]) -> str:
    names = list(next(iter(rows.values())))
    lines = [f"{'':24}" + "".join(f"{name:>15}" for name in names)]
    lines += [f"{title:24}" + "".join(f"{row[name]:>15}" for name in names) for title, row in rows.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = reports.parser(__doc__)
    parser.add_argument("--unseen", action="store_true", help="the scripts in tests/corpus/unseen")
    parser.add_argument("--reported", action="store_true", help="the scripts in tests/corpus/reported")
    parser.add_argument("--set", choices=TWINNED, help="the scripts of one set, with their twins")
    options = parser.parse_args()
    if options.set:
        counted = accuracy_set.measure(options.set)
        print(columns({options.set: counted}))
        if options.save:
            reports.save(f"checkup_{options.set}", counted)
        sys.exit()
    if options.reported:
        told = from_reports()
        print(columns(told))
        if options.save:
            reports.save("checkup_reported", told)
        sys.exit()
    if options.unseen:
        seen = at_first_sight()
        print(columns(seen))
        if options.save:
            reports.save("checkup_unseen", seen)
        sys.exit()
    with tempfile.TemporaryDirectory() as place:
        measured = measure(Path(place))
    print(table(measured))
    if options.save:
        reports.save("checkup_accuracy", measured)
