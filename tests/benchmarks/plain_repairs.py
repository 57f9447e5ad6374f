"""How many hand-ins a graded class would set aside: repairs, pretences and attacks of the catalogue and of the exercises.

    python -m tests.benchmarks.plain_repairs

The output is tests/benchmarks/results/plain_repairs.md. Texts are read, and nothing is run. It takes twenty minutes.
"""

from collections import Counter
from collections.abc import Iterator

from bugzoo import faults, programs
from bugzoo.errors import UserError
from bugzoo.grading import trials
from bugzoo.grading.exercises import exercises
from bugzoo.grading.plain import outside
from bugzoo.grading.texts import tidy
from bugzoo.grading.trials import Trial
from bugzoo.scenario import Scenario

KINDS = {"solution": "right", "correct": "right", "half": "right", "attack": "attack"}
"""Kind of a submission -> its column; all others are wrong repairs."""


def cells() -> Iterator[tuple[str, Trial]]:
    """Yield (text handed out, submission) for each fault in each program that it fits."""
    for fault in faults.catalogue():
        for program in programs.names():
            try:
                case = Scenario(program, (fault,))
                handed_out = tidy(case.source)
            except UserError:  # the fault does not fit this program
                continue
            yield from ((handed_out, trial) for trial in trials.of_case(case))


def of_exercises() -> Iterator[tuple[str, Trial]]:
    for exercise in exercises().values():
        yield from ((exercise.handed_out, trial) for trial in exercise.kind.trials(exercise))


def row(what: str, found: Iterator[tuple[str, Trial]], why: Counter[str]) -> str:
    """Return a row of the table; count in `why` the first name that set an honest submission aside."""
    counts: Counter[tuple[str, bool]] = Counter()
    for handed_out, trial in found:
        kind = KINDS.get(trial.kind, "wrong")
        try:
            first = next(iter(outside(trial.source, handed_out)), None)
        except (SyntaxError, ValueError):
            first = None
        counts[kind, first is not None] += 1
        if first is not None and kind != "attack":
            why[f"{kind}: {first.name}"] += 1
    kinds = ("right", "wrong", "attack")
    columns = [f"{counts[kind, True]} of {counts[kind, True] + counts[kind, False]}" for kind in kinds]
    return f"| {what} | {' | '.join(columns)} |"


def main() -> None:
    why: Counter[str] = Counter()
    rows = [row("exercises", of_exercises(), why), row("faults in programs", cells(), why)]
    print("| set aside | right repairs | wrong repairs | attacks |\n|---|---|---|---|")
    print("\n".join(rows))
    print("\nHonest submissions, by the first name that is outside:\n")
    print("\n".join(f"- {name}: {count}" for name, count in why.most_common()))


if __name__ == "__main__":
    main()
