"""How often is checkup right on training scripts in other styles? Prints a table.

    python -m tests.benchmarks.checkup_accuracy [--unseen | --reported | --folder DIR] [--save]

With --unseen: the scripts in tests/corpus/unseen, at first sight and now. With --reported: those in tests/corpus/reported,
half of them opened and half of them sealed. With --folder: those of any folder with a `truth.json` (`accuracy_folder`), such
as tests/corpus/missed. Otherwise those that checkup was made with.
Rows there: healthy scripts and healthy variants that look wrong (every suspect is a false alarm), broken variants by
family: the cause was named first, or was among the suspects at all; and how many lines pointed to the right place.
"""

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from bugzoo.diagnostics.checkup import Report, checkup
from tests.benchmarks import accuracy_folder
from tests.benchmarks import report as reports
from tests.corpus.case import SCRIPTS, Case
from tests.corpus.cases import BROKEN, TRAPS, healthy
from tests.corpus.reported import reported
from tests.corpus.unseen import unseen

COLUMNS = ("cases", "right_first", "found", "false_alarms", "lines", "lines_right")


def _look(folder: Path, name: str, source: str, cause: str = "") -> Report:
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    return checkup(path, most_reruns=int(cause.startswith("reproducibility")))


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
            print(f"{name}: {found.outcome}: {[(s.cause, s.reason) for s in found.suspects]}", flush=True)
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


def at_first_sight() -> dict[str, dict[str, int]]:
    """{"at first sight" and "now": {"healthy", "left in peace", "broken", "right first", "found"}}"""
    rows: dict[str, dict[str, int]] = {}
    for title in ("at first sight", "now"):
        row = rows[title] = dict.fromkeys(("healthy", "left in peace", "broken", "right first", "found"), 0)
        for case in unseen():
            causes = case.first_pass
            if title == "now":
                causes = [s.cause for s in checkup(case.path, ranks=case.ranks).suspects]
                if not case.right(causes):
                    print(f"{case.name}, {case.cause or 'healthy'}: {causes[:3]}", flush=True)
            if case.cause is None:
                row["healthy"] += 1
                row["left in peace"] += not causes
            else:
                row["broken"] += 1
                row["right first"] += case.right(causes)
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
    for case in reported():
        found = checkup(case.path)
        now = [suspect.cause for suspect in found.suspects]
        half = "sealed" if case.sealed else "opened"
        rows[f"{half}, now"]["unjudged"] += found.outcome == "unjudged"
        for when, causes in (("at first sight", case.first_pass), ("now", now)):
            row = rows[f"{half}, {when}"]
            row["healthy" if case.cause is None else "broken"] += 1
            judged = when != "now" or found.outcome != "unjudged"  # no answer is no peace either
            row["left in peace" if case.cause is None else "right first"] += case.right(causes) and judged
            row["in three"] += case.cause is not None and case.right(causes, 3)
        print(
            f"{case.name}: measured" if case.sealed else f"{case.name}: {'right' if case.right(now) else 'wrong'}",
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
    parser.add_argument("--folder", type=Path, help="a folder with a truth.json")
    options = parser.parse_args()
    if options.folder:
        counted = accuracy_folder.measure(options.folder)
        print(columns({options.folder.name: counted}))
        if options.save:
            reports.save(f"checkup_{options.folder.name}", counted)
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
