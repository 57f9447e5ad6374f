"""Does what is proved hold on seeds that nobody looked at when the evidence was chosen?

    python -m tests.benchmarks.flakiness [--cells 40] [--sets 3] [--draw N] [--save]

Draws cells of the ledger at random and runs each on other sets of five seeds. Prints what failed: evidence that did not
fire on a broken run, an effect that was not of one sign, an instrument that blamed a healthy run.
"""

import random
from collections import Counter

from bugzoo.proving import ledger
from bugzoo.proving.verify import verify
from tests.benchmarks import report as reports

FIVE = 5


def drawn(count: int, draw: int) -> dict[str, list[str]]:
    """{program: faults}, of cells that are proved on the usual seeds."""
    every = [
        (fault, program)
        for fault in ledger.names("faults")
        for program, cell in ledger.read("faults", fault).get("cells", {}).items()
        if not cell["problems"]
    ]
    chosen: dict[str, list[str]] = {}
    for fault, program in random.Random(draw).sample(every, min(count, len(every))):
        chosen.setdefault(program, []).append(fault)
    return chosen


def main() -> None:
    parser = reports.parser(__doc__)
    parser.add_argument("--cells", type=int, default=40)
    parser.add_argument("--sets", type=int, default=3, help="how many other sets of five seeds")
    parser.add_argument("--draw", type=int, default=0, help="the random state that the cells are drawn with")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    failures: list[str] = []
    for program, faults in drawn(options.cells, options.draw).items():
        for number in range(1, options.sets + 1):
            seeds = tuple(range(number * 100, number * 100 + FIVE))
            verification = verify(faults, [program], seeds=seeds)
            for cell in verification.cells:
                counts["cells"] += 1
                counts["hold"] += not cell.problems
                failures += [f"{cell.fault} on {program}, seeds {seeds[0]} to {seeds[-1]}: {p}" for p in cell.problems]
            for control in verification.controls:
                counts["healthy programs"] += 1
                counts["blamed"] += bool(control.problems)
                failures += [f"healthy {program}, seeds {seeds[0]} to {seeds[-1]}: {p}" for p in control.problems]
        print(f"{program}: {counts['hold']} of {counts['cells']} hold so far", flush=True)
    print("\n".join(failures))
    print(
        f"{counts['hold']} of {counts['cells']} cells hold on {options.sets} other sets of seeds; "
        f"{counts['blamed']} of {counts['healthy programs']} healthy controls were blamed"
    )
    if options.save:
        reports.save("flakiness", {**counts, "failed": failures})


if __name__ == "__main__":
    main()
