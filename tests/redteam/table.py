"""The red team's table: what each repair of `idioms` earns in each exercise that it fits.

    python -m tests.redteam.table                     the whole table, hours; writes expected.csv
    python -m tests.redteam.table --each 4            four exercises for each idiom, drawn from a fixed seed
    python -m tests.redteam.table 04 28 --only decay  these exercises, this idiom

A line is exercise, idiom, kind, whether it is set aside for a person, status, share of the points, and the checks that refuse
it. Lines that are there already are kept, unless `--again`. At the end it says how many of each kind pass.
"""

import argparse
import csv
import random
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from bugzoo.grading import salt, set_aside
from bugzoo.grading.exercises import with_diagnosis
from bugzoo.grading.grade import grade
from bugzoo.grading.model import Exercise, Result
from bugzoo.grading.repeated_steps import free
from bugzoo.grading.texts import broken_text, healthy_text, tidy
from tests.redteam import held_out
from tests.redteam.held_out import Case
from tests.redteam.idioms import IDIOMS, UPDATES, Idiom

EXPECTED = Path(__file__).with_name("expected.csv")
COLUMNS = ["exercise", "idiom", "kind", "aside", "status", "share", "by"]
SEED = 20261127
DRAW = 0


def cases() -> Iterator[tuple[Exercise | Case, Idiom, str]]:
    """Yield (exercise, idiom, the edited text) wherever an idiom fits an exercise with a diagnosis.

    An attack has nothing to win where nothing is wrong: what it is added to is right already. At the end come the attacks
    on the grader's own rows, in cases of their own.
    """
    for exercise in with_diagnosis().values():
        texts = {True: broken_text(exercise), False: healthy_text(exercise)}
        chosen = UPDATES if "update" in free(exercise.scenario) else frozenset()
        for idiom in IDIOMS:
            if idiom.name in chosen or (exercise.trap and idiom.kind == "attack"):
                continue
            if edited := idiom.written(texts[idiom.kind == "attack"]):
                yield exercise, idiom, edited
    yield from held_out.cases()


def result(exercise: Exercise | Case, text: str) -> Result:
    """Grade a text as a class's grader does, with a draw that is the same each time."""
    with salt.used(held_out.SALT if isinstance(exercise, Case) else ""):
        return grade(
            text, exercise.scenario, seeds=exercise.seeds, seconds=exercise.seconds, strict_isolation=True, draw=DRAW
        )


def row(exercise: Exercise | Case, idiom: Idiom, text: str) -> dict[str, str]:
    """Grade a text, and return its line. `aside`: whether a class's grader leaves it to a person, and does not run it."""
    verdict = result(exercise, text)
    aside = set_aside.set_aside(text, tidy(exercise.scenario.source))
    by = "; ".join(dict.fromkeys(check.name for check in verdict.checks if not check.passed))
    cells = (exercise.name, idiom.name, idiom.kind, "yes" if aside else "", verdict.status, f"{verdict.share:g}", by)
    return dict(zip(COLUMNS, cells, strict=True))


def expected() -> dict[tuple[str, str], dict[str, str]]:
    """Return (exercise, idiom) -> line of the table."""
    if not EXPECTED.exists():
        return {}
    with EXPECTED.open(newline="", encoding="utf-8") as lines:
        return {(line["exercise"], line["idiom"]): line for line in csv.DictReader(lines)}


def write(lines: Iterable[dict[str, str]]) -> None:
    with EXPECTED.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(lines, key=lambda line: (line["exercise"], line["kind"], line["idiom"])))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.redteam.table", description="The red team's table.")
    parser.add_argument("exercises", nargs="*", help="numbers or names")
    parser.add_argument("--only", default="", help="an idiom's name, or a kind: right, wrong, attack")
    parser.add_argument("--each", type=int, default=0, help="exercises for each idiom")
    parser.add_argument("--again", action="store_true", help="also lines that are there")
    arguments = parser.parse_args()
    lines = expected()
    chosen = [(exercise, idiom, text) for exercise, idiom, text in cases()
              if not arguments.exercises or any(exercise.name.startswith(name) for name in arguments.exercises)]  # fmt: skip
    chosen = [case for case in chosen if not arguments.only or arguments.only in (case[1].name, case[1].kind)]
    if arguments.each:
        source = random.Random(SEED)
        groups = {idiom: [case for case in chosen if case[1] is idiom] for idiom in IDIOMS}
        chosen = [case for them in groups.values() for case in source.sample(them, min(arguments.each, len(them)))]
    chosen = [case for case in chosen if arguments.again or (case[0].name, case[1].name) not in lines]
    print(f"{len(chosen)} repairs to grade", file=sys.stderr)
    for exercise, idiom, text in chosen:
        began = time.perf_counter()
        line = row(exercise, idiom, text)
        lines[exercise.name, idiom.name] = line
        write(lines.values())
        print(*line.values(), f"{time.perf_counter() - began:.0f} s", sep=" | ", flush=True)
    for kind in ("right", "wrong", "attack"):
        some = [line for line in lines.values() if line["kind"] == kind]
        passed, aside = (
            sum(line[name] == value for line in some) for name, value in (("status", "passed"), ("aside", "yes"))
        )
        print(f"{kind}: {passed} of {len(some)} pass; a class's grader leaves {aside} to a person")


if __name__ == "__main__":
    main()
