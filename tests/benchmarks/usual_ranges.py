"""Do the healthy programs lie in every usual range of every view? Prints what lies outside, and writes the numbers down.

    python -m tests.benchmarks.usual_ranges [--save] [--program mlp ...] [--size tiny] [--views batch ...]

Each of the 14 programs runs with all views, in its tiny and in its full size: about half an hour on two quiet cores. With
--save the numbers go to `proofs/views.json`, against which the gate holds the ranges.
"""

import json
import time
from typing import Any

from bugzoo import programs, views
from bugzoo.grading.looks import measured
from bugzoo.proving import ledger
from bugzoo.running.pool import run_all
from bugzoo.scenario import Scenario
from tests.benchmarks import report as reports

SLOW = {("amp_transformer", "full")}
"""Takes ten minutes on a processor; its tiny size is measured."""


def numbers(what: tuple[str, str, tuple[str, ...]]) -> dict[str, dict[str, float]]:
    """Return {view: {source: number}} of the numeric rows of one healthy run."""
    program, size, names = what
    start = time.perf_counter()
    scenario = Scenario(program, size=size)
    found = measured(list(names), scenario.source, scenario.ranks)
    kept = {
        name: {
            row.source: value
            for row in views.rows(name)
            if isinstance(value := row.value(found[name].numbers), int | float)
        }
        for name in names
    }
    outside = [f"{name}: {row.label} {row.value(found[name].numbers):.4g} (usual {row.usual_text()})"
               for name in names for row in views.outside(name, found[name].numbers)]  # fmt: skip
    print(f"{program} {size}: {time.perf_counter() - start:.0f} s", *outside, sep="\n  ", flush=True)
    return kept


def main() -> None:
    parser = reports.parser(__doc__)
    parser.add_argument("--program", nargs="*", default=programs.names())
    parser.add_argument("--size", nargs="*", default=["tiny", "full"])
    parser.add_argument("--views", nargs="*", default=views.names())
    given = parser.parse_args()
    asked = [
        (name, size, tuple(given.views)) for size in given.size for name in given.program if (name, size) not in SLOW
    ]
    place = ledger.home()
    assert place is not None
    file = place / "views.json"
    known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    def keep(index: int, found: dict[str, dict[str, float]]) -> None:
        program, size, _ = asked[index]
        known.setdefault(program, {}).setdefault(size, {}).update(found)
        if given.save:
            file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    run_all(numbers, asked, workers=2, on_done=keep)


if __name__ == "__main__":
    main()
