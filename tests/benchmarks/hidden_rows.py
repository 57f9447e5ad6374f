"""What the salt and the withheld files refuse: attacks on the grader's own rows, with each of the two off.

    python -m tests.benchmarks.hidden_rows --kept rows.csv --until 240    grade for 240 s at most, and go on next time
    python -m tests.benchmarks.hidden_rows --kept rows.csv --until 0      only print the table

The output is tests/benchmarks/results/hidden_rows.md. An attack that is refused with both off is not graded with one of them off.
It takes twenty minutes.
"""

import argparse
import csv
import time
from collections.abc import Iterator
from pathlib import Path

from bugzoo import withheld
from bugzoo.grading import salt
from bugzoo.grading.grade import grade
from bugzoo.grading.model import Result
from tests.redteam import held_out
from tests.redteam.table import DRAW
from tests.redteam.test_handins import HANDINS, TRAINED, scenario

MODES = {"both off": (False, False), "both on": (True, True), "salt off": (True, False), "withheld off": (False, True)}
"""Name -> (withheld, salted)."""
Row = tuple[str, str]
PASSED = "**passed**"


def hand_ins() -> Iterator[tuple[Row, str, object]]:
    """Yield ((fault or hand-in, attack), text, scenario)."""
    for case, idiom, text in held_out.cases():
        yield (f"{case.name} ({case.scenario.program})", idiom.name), text, case.scenario
    for name, number in TRAINED.items():
        yield (f"exercise {number}", name), (HANDINS / f"{name}.txt").read_text(), scenario(number)


def graded(text: str, case: object, mode: str) -> Result:
    """Grade a hand-in in a mode, as a class's grader does."""
    withheld.ON, salted = MODES[mode]
    try:
        with salt.used(held_out.SALT if salted else ""):
            return grade(text, case, strict_isolation=True, draw=DRAW)
    finally:
        withheld.ON = True


def told(result: Result) -> str:
    by = dict.fromkeys(check.name for check in result.checks if not check.passed)
    return PASSED if result.passed else f"{result.status}: {', '.join(by)}"


def measure(kept: Path, until: float) -> dict[tuple[str, str, str], str]:
    """Return (row, mode) -> what came out, from the file and from new gradings, which are added to it."""
    outcomes = {tuple(line[:3]): line[3] for line in csv.reader(kept.open())} if kept.exists() else {}
    ends = time.monotonic() + until
    for mode in MODES:
        # those that pass with both off come first
        for row, text, case in sorted(hand_ins(), key=lambda one: outcomes.get((*one[0], "both off")) != PASSED):
            alone = mode not in ("both on", "both off") and outcomes.get((*row, "both off")) != PASSED
            if (*row, mode) in outcomes or alone or time.monotonic() > ends:
                continue
            outcomes[*row, mode] = told(graded(text, case, mode))
            with kept.open("a", newline="") as file:
                csv.writer(file).writerow([*row, mode, outcomes[*row, mode]])
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, required=True, help="file of the gradings so far")
    parser.add_argument("--until", type=float, default=1e9, help="seconds after which no new grading begins")
    options = parser.parse_args()
    outcomes = measure(options.kept, options.until)
    print(f"| fault | attack | {' | '.join(MODES)} |\n|{'---|' * (2 + len(MODES))}")
    for row, _, _ in hand_ins():
        print(f"| {' | '.join(row)} | {' | '.join(outcomes.get((*row, mode), '') for mode in MODES)} |")
    passed = {mode: sum(outcomes.get((*row, mode)) == PASSED for row, _, _ in hand_ins()) for mode in MODES}
    print("\nPassed: " + ", ".join(f"{count} with {mode}" for mode, count in passed.items()) + ".")


if __name__ == "__main__":
    main()
