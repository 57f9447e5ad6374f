"""Do the healthy programs lie in every usual range of every view? Prints what lies outside, and writes the numbers down.

    python -m tests.benchmarks.usual_ranges [--save] [--program mlp ...] [--size tiny] [--views batch ...]
    python -m tests.benchmarks.usual_ranges --opened [--instruments activation_stats ...]

Each of the 14 programs runs with all views, in its tiny and in its full size: about half an hour on two quiet cores. With
--save the numbers go to `proofs/views.json`, against which the gate holds the ranges. With --opened the healthy scripts outside
the catalogue run instead, an hour; smallest and largest number of each range are printed, and who lies outside.
"""

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bugzoo import diagnostics, programs, views
from bugzoo.grading.looks import measured
from bugzoo.proving import ledger
from bugzoo.running import Job, run_worker
from bugzoo.running.job import Limits
from bugzoo.running.pool import run_all
from bugzoo.scenario import Scenario
from tests.benchmarks import report as reports
from tests.benchmarks.opened import opened

SLOW = {("amp_transformer", "full")}
"""Takes ten minutes on a processor; its tiny size is measured."""


def numbers(what: tuple[str, str, tuple[str, ...]]) -> dict[str, dict[str, float]]:
    """Return {view: {source: number}} of the numeric rows of one healthy run."""
    program, size, names = what
    start = time.perf_counter()
    scenario = Scenario(program, size=size)
    readings = measured(list(names), scenario.source, scenario.ranks)
    by_view = {
        name: {
            row.source: value
            for row in views.rows(name)
            if isinstance(value := row.value(readings[name].numbers), int | float)
        }
        for name in names
    }
    outside = [f"{name}: {row.label} {row.value(readings[name].numbers):.4g} (usual {row.usual_text()})"
               for name in names for row in views.outside(name, readings[name].numbers)]  # fmt: skip
    print(f"{program} {size}: {time.perf_counter() - start:.0f} s", *outside, sep="\n  ", flush=True)
    return by_view


def of_opened(names: Sequence[str]) -> None:
    """Print the smallest and largest number of each range that these instruments have, over the opened healthy scripts."""
    rows = [
        row for name in views.names() for row in views.rows(name) if row.range and row.source.split(".")[0] in names
    ]
    by_source: dict[str, dict[str, float]] = {row.source: {} for row in rows}
    with tempfile.TemporaryDirectory() as place:
        for script in opened(Path(place)):
            if script.faulty or script.ranks > 1:
                continue
            report = {"after": "bugzoo.diagnostics:measure_all", "after_args": {"names": list(names)}}
            run = run_worker(
                Job(script.path.read_text(encoding="utf-8"), file=str(script.path), limits=Limits(90), **report)
            )
            numbers = {
                f"{name}.{key}": value
                for name, reading in run.readings.items()
                for key, value in reading.numbers.items()
            }
            for row in rows:
                if isinstance(value := row.value(numbers), int | float):
                    by_source[row.source][script.name] = value
            print(".", end="", flush=True)
    print()
    for row in rows:
        if values := by_source[row.source]:
            outside = [f"{name} {value:.3g}" for name, value in values.items() if row.outside({row.source: value})]
            print(f"{row.source}: {len(values)} scripts, {min(values.values()):.3g} to {max(values.values()):.3g}, usual "
                  f"{row.usual_text()}", *outside, sep="; ")  # fmt: skip


def text(known: dict[str, Any]) -> str:
    """JSON with a line for each view of a run: five digits are enough to compare with a range."""
    lines = []
    for program, sizes in sorted(known.items()):
        for size, by_view in sorted(sizes.items()):
            for name, rows in sorted(by_view.items()):
                short = {source: float(f"{value:.5g}") for source, value in sorted(rows.items())}
                lines.append(f"  {json.dumps([program, size, name])[1:-1]}, {json.dumps(short)}")
    return "[\n" + ",\n".join(f" [{line.strip()}]" for line in lines) + "\n]\n"


def read(file: Path) -> dict[str, Any]:
    """{program: {size: {view: {source: number}}}}, as `text` wrote it."""
    by_program: dict[str, Any] = {}
    for program, size, name, rows in json.loads(file.read_text(encoding="utf-8")) if file.exists() else []:
        by_program.setdefault(program, {}).setdefault(size, {})[name] = rows
    return by_program


def main() -> None:
    parser = reports.parser(__doc__)
    parser.add_argument("--program", nargs="*", default=programs.names())
    parser.add_argument("--size", nargs="*", default=["tiny", "full"])
    parser.add_argument("--views", nargs="*", default=views.names())
    parser.add_argument("--opened", action="store_true", help="the healthy scripts outside the catalogue")
    parser.add_argument("--instruments", nargs="*", default=diagnostics.names(), help="with --opened")
    options = parser.parse_args()
    if options.opened:
        of_opened(options.instruments)
        return
    tasks = [
        (name, size, tuple(options.views))
        for size in options.size
        for name in options.program
        if (name, size) not in SLOW
    ]
    place = ledger.home()
    assert place is not None
    file = place / "views.json"
    by_program = read(file)

    def keep(index: int, found: dict[str, dict[str, float]]) -> None:
        program, size, _ = tasks[index]
        by_program.setdefault(program, {}).setdefault(size, {}).update(found)
        if options.save:
            file.write_text(text(by_program), encoding="utf-8")

    run_all(numbers, tasks, workers=2, on_done=keep)


if __name__ == "__main__":
    main()
