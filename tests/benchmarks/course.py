"""Two tables of the course as it is built and proved: its lessons and its exercises, for tests/benchmarks/results/course.md.

    python -m tests.benchmarks.course

Nothing is run: the numbers of proofs are those of the ledger.
"""

from collections import Counter

from bugzoo import course
from bugzoo.course.source import ASKS
from bugzoo.grading.answers import telling
from bugzoo.grading.effort import level
from bugzoo.grading.exercises import exercises
from bugzoo.grading.kinds import Break
from bugzoo.grading.model import Exercise
from bugzoo.proving import ledger
from bugzoo.proving.lesson_proof import longest


def lessons() -> list[str]:
    """Return the rows of the numbered lessons."""
    rows = [
        "| lesson | minutes | cells | predictions | tasks | checks | longest cell |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in course.files():
        lesson = course.load(name)
        if not lesson.number.isdigit():
            continue
        questions = Counter(cell.kind for cell in lesson.cells if cell.kind in ASKS)
        cells = [cell for cell in lesson.cells if cell.kind not in ("case", "proof", "measured", "judge", "solution")]
        counts = (len(cells), questions["predict"] + questions["draw"], len(lesson.tasks), questions["check"])
        rows.append(
            f"| {lesson.file.stem} | {lesson.minutes:.0f} | {' | '.join(map(str, counts))} | {longest(lesson) or '-'} |"
        )
    return rows


def of_exercises() -> list[str]:
    """Return the rows of the exercises."""
    rows = [
        "| exercise | kind | level | views that show it | accepted repairs | refused | attacks refused |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, exercise in exercises().items():
        counts = Counter(
            {kind: len(titles) for kind, titles in ledger.read("exercises", name).get("trials", {}).items()}
        )
        accepted = counts["correct"] + counts["half"]
        columns = (views(exercise), accepted or "-", counts["degenerate"] or "-", counts["attack"] or "-")
        rows.append(f"| {name} | {exercise.kind.name} | {level(exercise)} | {' | '.join(map(str, columns))} |")
    return rows


def views(exercise: Exercise) -> str:
    """Return the views that show what is wrong, at most three, the most informative first."""
    if isinstance(exercise.kind, Break):
        return ", ".join(exercise.kind.views)
    if exercise.trap:
        return "none: nothing is wrong"
    names = dict.fromkeys(name for of in range(len(exercise.about_faults)) for name in telling(exercise, of)[:3])
    return ", ".join(names)


if __name__ == "__main__":
    print("\n".join([*lessons(), "", *of_exercises()]))
