"""The process that grades an assignment's cells."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading import salt, set_aside
from bugzoo.grading.grade import grade
from bugzoo.grading.model import Result
from bugzoo.grading.serve import serve
from bugzoo.grading.texts import tidy
from bugzoo.instructor import findings, key
from bugzoo.instructor.folder import upwards
from bugzoo.instructor.model import GRADING_SEEDS
from bugzoo.scenario import Scenario


def answer(name: str, question: dict[str, Any], folder: Path) -> Result:
    """Grade by the answer key at or above `folder`; without a key, the program as a whole. Raises UserError."""
    home = upwards(name, folder)
    if home is None:
        return without_key(question)
    answer_key = key.read(home)
    assignment, answers = answer_key.of(_student(folder, home))
    repair, diagnosis = assignment.points
    if question["kind"] == "diagnosis":
        return findings.grade(answers, question["records"], diagnosis)
    source, scenario = question["source"], assignment.scenario
    if set_aside.graded_class() and (aside := set_aside.set_aside(source, tidy(scenario.source), set_aside.allowed())):
        return replace(aside, max_points=repair)
    with salt.used(answer_key.salt):
        result = grade(source, scenario, seeds=answer_key.seeds, seconds=answer_key.seconds, attempted=False)
    return replace(result, points=round(result.share * repair, 4), max_points=repair)


def without_key(question: dict[str, Any]) -> Result:
    """Check without a key whether the program is healthy, all or nothing. Raises UserError for a diagnosis."""
    if question["kind"] == "diagnosis":
        raise UserError("A diagnosis is graded with the answer key. No folder at or above this one has it.")
    scenario = Scenario(question["program"])
    with salt.of_this_machine():
        result = grade(question["source"], scenario, seeds=GRADING_SEEDS)
    return replace(result, points=result.share, max_points=1.0)


def _student(folder: Path, home: Path) -> str:
    """Return whose notebook runs in `folder`. nbgrader uses `autograded/<student>/<assignment>` below the course."""
    parts = folder.relative_to(home).parts
    return parts[1] if len(parts) >= 2 else ""


if __name__ == "__main__":
    serve(lambda name, question: answer(name, question, Path.cwd()))
