"""Eight scripted candidates on proved hunts: `python -m tests.benchmarks.hunts [--count 20]` prints points, order and seconds.

The hunts are drawn evenly over programs, lengths and levels, by a seed. A pair is out of order when whoever did more (see
`tests/interview/hunt/candidates.py`) does not have more points. `seconds` are from a save to its score, for the expert's file:
the first time, when the healthy twin has to be run as well, and again, as everybody after him has it.
"""

import random
import statistics
import time

from bugzoo.interview.hunt import recipe, score
from bugzoo.interview.hunt.case import freeze
from tests.benchmarks import report
from tests.interview.hunt.candidates import CANDIDATES, notes_of, out_of_order, text_of


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    every = recipe.published()
    random.Random(options.seed).shuffle(every)
    by_program: dict[str, list[recipe.Recipe]] = {}
    for one in every:
        by_program.setdefault(one.program, []).append(one)
    turns = [rows[turn] for turn in range(20) for rows in by_program.values() if turn < len(rows)]
    rows, first, again = [], [], []
    for one in turns[: options.count]:
        case, points = freeze(one), {}
        for name in CANDIDATES:
            began = time.perf_counter()
            text, notes = text_of(name, case), notes_of(name, case)
            points[name] = score.score(case, text, notes).points
            if name == "expert":
                first.append(time.perf_counter() - began)
                began = time.perf_counter()
                score.score(case, text, notes)
                again.append(time.perf_counter() - began)
        wrong = out_of_order(points)
        rows.append({"hunt": one.name, "points": points, "out_of_order": wrong, "seconds": round(again[-1], 2)})
        told = ", ".join(f"{name} {value:g}" for name, value in points.items())
        print(f"{one.name}: {told}; {again[-1]:.1f} s{'; ' + '; '.join(wrong) if wrong else ''}", flush=True)
    good = sum(not row["out_of_order"] for row in rows)
    middle, begun = statistics.median(again), statistics.median(first)
    print(f"in order: {good} of {len(rows)}; seconds to a score, median: {middle:.1f}, the first time {begun:.1f}")
    if options.save:
        report.save("hunts", {"hunts": rows, "in_order": good, "first": first, "again": again})


if __name__ == "__main__":
    main()
