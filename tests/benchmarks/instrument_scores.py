"""How often is an instrument right when it fires on a script that it was not made from?

    python -m tests.benchmarks.instrument_scores [--raw FILE.json] [--only NAME] [--save]

Runs checkup on each opened script (some ten minutes). The first table says how many of each set were judged how. The second
counts, for each cause that an instrument put first, how often it did so and how often that was right; scripts that instruments
were made or mended with do not count there. With --save the counts go to bugzoo/diagnostics/scores.json, which checkup takes
its scores from. With --raw all that was said is kept in FILE.json, or read from there if it exists.
"""

import datetime
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import bugzoo.diagnostics
from bugzoo.diagnostics import _weigh
from bugzoo.diagnostics._weigh import score
from bugzoo.diagnostics.checkup import checkup
from tests.benchmarks import report as reports
from tests.benchmarks.checkup_accuracy import columns
from tests.benchmarks.opened import made_on, opened
from tests.corpus import Script

COLUMNS = ("broken", "right first", "in three", "silent", "wrong first", "healthy", "false alarms")
SCORES = Path(bugzoo.diagnostics.__file__).with_name("scores.json")


def said(one: Script) -> dict[str, Any]:
    """Return what checkup said of one script, as plain data."""
    checkup_report = checkup(one.path, ranks=one.ranks, most_reruns=one.reruns)
    print(
        f"{one.set}: {one.name}: {[suspect.cause for suspect in checkup_report.suspects[:3]]}",
        file=sys.stderr,
        flush=True,
    )
    whole = checkup_report.to_json()
    return {
        "script": one.name,
        "of": one.set,
        "accept": sorted(one.accept),
        "healthy": not one.faulty,
        "right": [one.right(suspect) for suspect in checkup_report.remaining],
        "made_on": made_on(one),
        "fired": [asdict(verdict) for verdict in checkup_report.verdicts if verdict.fired],
        **{name: whole[name] for name in ("outcome", "suspects", "readings", "findings")},
    }


def counted(told: list[dict[str, Any]]) -> dict[str, dict[str, list[int]]]:
    """Return instrument -> cause that it put first -> [firings, hits].

    Where the report begins with a broken demand no instrument's cause is first, so that nothing is counted there.
    """
    counts: dict[str, dict[str, list[int]]] = {}
    for script in told:
        demand = script.get("suspects", []) and script["suspects"][0]["cause"].startswith("contracts/")
        for verdict in script["fired"] if not (script["made_on"] or demand) else ():
            if not verdict["suspects"]:
                continue
            cause = verdict["suspects"][0]["cause"]
            row = counts.setdefault(verdict["instrument"], {}).setdefault(cause, [0, 0])
            row[0] += 1
            row[1] += cause in script["accept"]
    return {name: dict(sorted(counts[name].items())) for name in sorted(counts)}


def table(counts: dict[str, dict[str, list[int]]]) -> str:
    lines = [f"{'instrument':26}{'cause':42}{'firings':>8}{'hits':>6}{'score':>7}"]
    for name, causes in counts.items():
        for cause, (firings, hits) in causes.items():
            lines.append(f"{name:26}{cause:42}{firings:>8}{hits:>6}{score(name, cause):>7.2f}")
    return "\n".join(lines)


def by_set(told: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return set -> how many of its scripts were judged how."""
    sets: dict[str, dict[str, int]] = {}
    for script in told:
        row = sets.setdefault(script["of"], dict.fromkeys(COLUMNS, 0))
        right = script["right"]
        if script["healthy"]:
            row["healthy"] += 1
            row["false alarms"] += script["outcome"] == "found"
            continue
        row["broken"] += 1
        row["right first"] += right[:1] == [True]
        row["in three"] += any(right[:3])
        row["silent"] += not right
        row["wrong first"] += right[:1] == [False]
    return sets


def main() -> None:
    parser = reports.parser(__doc__)
    parser.add_argument("--raw", type=Path, help="where to keep what was said")
    parser.add_argument("--only", default="", help="scripts whose name holds this")
    options = parser.parse_args()
    if options.raw and options.raw.exists():
        entries = json.loads(options.raw.read_text(encoding="utf-8"))
    else:
        with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(2) as pool:
            entries = list(pool.map(said, [script for script in opened(Path(place)) if options.only in script.name]))
        if options.raw:
            options.raw.write_text(json.dumps(entries, indent=1), encoding="utf-8")
    counts = counted(entries)
    scripts = sum(not script["made_on"] for script in entries)
    _weigh._counts = lambda: counts  # pyright: ignore[reportAttributeAccessIssue]  the scores that they make
    print(f"{columns(by_set(entries))}\n\n{scripts} scripts that it was not made with\n{table(counts)}")
    if options.save:
        head = {"date": datetime.date.today().isoformat(), "scripts": scripts}
        rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(causes)}" for name, causes in counts.items())
        reports.save("checkup_opened", by_set(entries))
        SCORES.write_text(json.dumps(head)[:-1] + f', "counts": {{\n{rows}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
