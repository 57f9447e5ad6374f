"""Time of nbgrader's round trip: the student's version made, a solved and an unsolved hand-in graded, points compared.

    python -m tests.benchmarks.nbgrader_round_trip [--save] [EXERCISE ...]

Exercises are names or numbers; all when left out. `generate` is one `nbgrader generate_assignment`, `autograde` one
`nbgrader autograde` of the two hand-ins. Ends with an error when a point is not where it should be.
"""

import tempfile
import time
from pathlib import Path

from bugzoo.grading.exercises import exercises, load
from tests.benchmarks.report import parser, save
from tests.exercises.course import ROOT, Course


def measure(course: Course, name: str) -> dict[str, float]:
    """Seconds of both commands for one exercise. Raises AssertionError for wrong points."""
    began = time.perf_counter()
    course.generate(name)
    generated = time.perf_counter()
    for student, folder in (("solved", "solutions"), ("unsolved", "exercises")):
        course.hand_in(student, name, ROOT / folder / f"{name}.ipynb")
    graded = time.perf_counter()
    course.autograde(name)
    seconds = {"generate_s": round(generated - began, 1), "autograde_s": round(time.perf_counter() - graded, 1)}
    most = dict(zip(("repair", "diagnosis"), load(name).points, strict=True))
    assert course.points(name, "solved") == {cell: (points, points) for cell, points in most.items()}
    assert course.points(name, "unsolved") == {cell: (0.0, points) for cell, points in most.items()}
    return seconds


def main() -> None:
    options = parser(__doc__)
    options.add_argument("exercise", nargs="*", help="names or numbers; all when left out")
    chosen = options.parse_args()
    names = [load(name).name for name in chosen.exercise] or list(exercises())
    rows = {}
    with tempfile.TemporaryDirectory(prefix="nbgrader-") as folder:
        course = Course(Path(folder))
        print(f"{'exercise':20} {'generate':>10} {'autograde 2':>12}")
        for name in names:
            rows[name] = measure(course, name)
            print(f"{name:20} {rows[name]['generate_s']:8.1f} s {rows[name]['autograde_s']:10.1f} s", flush=True)
    total = sum(sum(row.values()) for row in rows.values())
    print(f"{len(names)} exercises, {2 * len(names)} hand-ins, right points in every cell: {total:.0f} s")
    if chosen.save:
        save("nbgrader_round_trip", rows)


if __name__ == "__main__":
    main()
