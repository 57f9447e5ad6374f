"""Seconds from a hand-in to its verdict, of a wrong and of a right repair. `python -m tests.benchmarks.grading_seconds`

Each is graded as an exercise's cell does it: a fresh `python -m bugzoo.grading`, start-up included. "First" has an empty
cache, as on a learner's first hand-in of an exercise; "later" has the healthy twin's results. Beside it runs the healthy
text as a plain script; ratios to it depend less on the machine. CPU seconds count all processes.

`--beside FOLDER` also grades with another checkout of this repository, one after the other, so that other load on the
machine affects both. `--save` writes the table to `results/grading_seconds.md`.
"""

import argparse
import datetime
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bugzoo.grading.answers import filled
from bugzoo.grading.exercises import load
from bugzoo.grading.model import Exercise, Result
from bugzoo.grading.reasons import by_telling
from bugzoo.grading.repairs import pretences
from bugzoo.grading.texts import healthy_text
from tests.benchmarks import report

NAMES = ("04_flat_loss", "05_one_height", "10_restless_loss", "17_second_opinion", "28_mixed_lengths", "35_no_progress")
ROOT = Path(__file__).parents[2]
KINDS = ("wrong, first", "wrong, later", "unsolved", "right, first")


def timed(command: list[str], root: Path, **more: Any) -> tuple[float, float, str]:
    """Return (wall, CPU, output) of a command, in seconds; CPU of all processes that it waited for."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(root), **more.pop("variables", {})}
    process = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True, **more)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, process.stdout


def plain(exercise: Exercise) -> tuple[float, float]:
    """Return wall and CPU seconds of the healthy program as a plain script."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "program.py"
        file.write_text(healthy_text(exercise), encoding="utf-8")
        return timed([sys.executable, str(file)], ROOT)[:2]


def graded(exercise: Exercise, source: str, root: Path, cache: Path) -> tuple[float, float, str]:
    """Return wall and CPU seconds of a grading by the checkout at `root`, and what it refused first; "" if it passed."""
    question = {"kind": "repair", "source": source, "diagnosis": {"cause": filled(exercise)["cause"]}}
    command = [sys.executable, "-m", "bugzoo.grading", exercise.name]
    variables = {"BUGZOO_CACHE": str(cache), "BUGZOO_DRAW": "1"}
    wall, cpu, printed = timed(command, root, input=json.dumps(question), variables=variables)
    result = Result.from_json(json.loads(printed.strip().splitlines()[-1]))
    first = [check.name for check in by_telling(result.checks) if not check.passed]
    return wall, cpu, first[0] if first else "" if result.passed else result.status


def measured(name: str, roots: dict[str, Path]) -> dict[str, Any]:
    """Return {"plain": (wall, CPU), checkout: {kind: (wall, CPU, what refused)}}."""
    exercise = load(name)
    broken = exercise.handed_out
    wrong = next(iter(pretences(broken, *exercise.about_fault).values()))
    texts = dict(zip(KINDS, (wrong, wrong, f"{broken}\nunused = 1\n", healthy_text(exercise)), strict=True))
    seconds: dict[str, Any] = {"plain": plain(exercise), **{which: {} for which in roots}}
    with tempfile.TemporaryDirectory() as place:
        for kind, text in texts.items():
            for which, root in roots.items():
                seconds[which][kind] = graded(exercise, text, root, Path(place) / which)
    return seconds


def table(found: dict[str, dict[str, Any]], which: str) -> str:
    """Return the seconds of one checkout as a table in Markdown."""
    lines = ["| exercise | plain script | " + " | ".join(KINDS) + " | refused by |", "|---" * (len(KINDS) + 3) + "|"]
    for name, seconds in found.items():
        wall, _ = seconds["plain"]
        cells = [f"{w:.1f} s ({w / wall:.1f} x), CPU {c:.1f} s" for w, c, _ in (seconds[which][kind] for kind in KINDS)]
        lines.append(f"| {name} | {wall:.1f} s | {' | '.join(cells)} | {seconds[which][KINDS[0]][2]} |")
    return "\n".join(lines)


def main() -> None:
    parser: argparse.ArgumentParser = report.parser(__doc__)
    parser.add_argument(
        "--beside", type=Path, metavar="FOLDER", help="another checkout, measured in turns with this one"
    )
    parser.add_argument("--exercise", action="append", help="by default six of them")
    options = parser.parse_args()
    roots = {**({"before": options.beside.resolve()} if options.beside else {}), "now": ROOT}
    seconds: dict[str, dict[str, Any]] = {}
    for name in options.exercise or NAMES:
        seconds[load(name).name] = measured(name, roots)
        print(json.dumps({name: seconds[load(name).name]}), flush=True)
    tables = "\n\n".join(f"{which.capitalize()}:\n\n{table(seconds, which)}" for which in roots)
    print(tables)
    if options.save:
        where = ", ".join(f"{key} {value}" for key, value in report.environment().items())
        head = f"# Seconds from a hand-in to its verdict\n\n{datetime.date.today()}; {where}.\n"
        (report.RESULTS / "grading_seconds.md").write_text(f"{head}\n{tables}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
