"""Submissions a minute: `bugzoo grade` beside `nbgrader autograde`. `python -m tests.benchmarks.grading_speed`

Both as whole commands, start-up included, on notebooks of the same class, each submission isolated (bugzoo: a sandboxed
process a run; nbgrader: a kernel a notebook). nbgrader takes the same time for each notebook, so that it gets the first few
only. What is known of the healthy twin is measured before, for both. Bar: 10 x.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bugzoo.grading.answers import filled
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import grade_exercise
from bugzoo.grading.notebook import build
from bugzoo.grading.program import split
from tests.benchmarks import report
from tests.exercises.course import Course


def handed_in(name: str, number: int) -> str:
    """A notebook with the diagnosis and one of the declared repairs, no two of them the same text."""
    exercise = load(name)
    repairs = list(exercise.kind.accepted(exercise).values())
    sections = split(repairs[number % len(repairs)])
    solved = json.loads(build(exercise, "solution"))
    for cell in solved["cells"]:
        kind, _, section = cell["id"].partition("-")
        if kind == "program" and section.capitalize() in sections:
            text = f"%%program {section.capitalize()}\n{sections[section.capitalize()]}\n# student {number}"
            cell["source"] = text.splitlines(keepends=True)
    return json.dumps(solved)


def write_class(folder: Path, name: str, numbers: range) -> None:
    for number in numbers:
        path = folder / f"s{number:03d}" / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(handed_in(name, number), encoding="utf-8")


def with_bugzoo(name: str, count: int, jobs: int | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder, out = Path(place) / "submitted", Path(place) / "out.json"
        write_class(folder, name, range(count))
        command = [sys.executable, "-m", "bugzoo", "grade", str(folder), "--assignment", name, "--json", str(out)]
        command += ["--jobs", str(jobs)] if jobs else []
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.perf_counter() - started
        points = [student["points"] for student in json.loads(out.read_text(encoding="utf-8"))["students"]]
    return rate(count, seconds, sum(points) / count)


def with_nbgrader(name: str, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        course = Course(Path(place))
        course.generate(name)
        write_class(course.folder / "submitted", name, range(count))
        started = time.perf_counter()
        course.autograde(name)
        seconds = time.perf_counter() - started
        points = [sum(got for got, _ in course.points(name, f"s{i:03d}").values()) for i in range(count)]
    return rate(count, seconds, sum(points) / count)


def rate(count: int, seconds: float, points: float) -> dict[str, Any]:
    return {
        "submissions": count,
        "seconds": round(seconds, 1),
        "a_minute": round(60 * count / seconds, 2),
        "mean_points": round(points, 3),
    }


def main() -> None:
    parser: argparse.ArgumentParser = report.parser(__doc__)
    parser.add_argument("--exercise", default="10_restless_loss")
    parser.add_argument("--students", type=int, default=40, help="in the class that bugzoo grades")
    parser.add_argument("--nbgrader", type=int, default=4, help="how many of them nbgrader grades, too")
    options = parser.parse_args()
    name = load(options.exercise).name
    grade_exercise(name, load(name).handed_out, filled(load(name)), attempted=True, all_seeds=True)
    numbers: dict[str, Any] = {"exercise": name, "nbgrader": with_nbgrader(name, options.nbgrader)}
    theirs = numbers["nbgrader"]["a_minute"]
    print(f"{name}\nnbgrader autograde      {theirs:7.2f} a minute (mean points {numbers['nbgrader']['mean_points']})")
    few = min(options.students, options.nbgrader)
    for label, count, jobs in (
        ("the whole class", options.students, None),
        ("one at a time", options.students, 1),
        ("nbgrader's few alone", few, None),
    ):
        speed = with_bugzoo(name, count, jobs)
        speed["ratio"] = round(speed["a_minute"] / theirs, 1)
        numbers[f"bugzoo, {label}"] = speed
        text = (
            f"{speed['a_minute']:7.2f} a minute, {speed['ratio']:5.1f} x (mean points {speed['mean_points']}, {count})"
        )
        print(f"bugzoo {label:<24}{text}")
    if options.save:
        report.save("grading_speed", numbers)


if __name__ == "__main__":
    main()
