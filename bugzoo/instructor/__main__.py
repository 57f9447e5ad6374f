"""The process that grades an assignment's cells."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bugzoo.grading.grade import grade
from bugzoo.grading.model import Result
from bugzoo.grading.serve import serve
from bugzoo.instructor import findings, key
from bugzoo.instructor.folder import upwards
from bugzoo.instructor.model import GRADING_SEEDS
from bugzoo.scenario import Scenario


def answer(name: str, question: dict[str, Any], folder: Path) -> Result:
    """Grade by the answer key at or above `folder`; without a key, the program as a whole. Raises UserError."""
    home = upwards(name, folder)
    if home is None:
        return without_key(question)
    found = key.read(home)
    assignment, answers = found.of(_student(folder, home))
    repair, diagnosis = assignment.points
    if question["kind"] == "diagnosis":
        return findings.grade(answers, question["records"], diagnosis)
    result = grade(question["source"], assignment.scenario, seeds=found.seeds, seconds=found.seconds, attempted=False)
    return replace(result, points=round(result.share * repair, 4), max_points=repair)


def without_key(question: dict[str, Any]) -> Result:
    """Check without a key whether the program is healthy, all or nothing. The instructor grades the diagnosis."""
    if question["kind"] == "diagnosis":
        given = [record for record in question["records"] if record.get("cause")]
        said = f"{len(given)} finding{'' if len(given) == 1 else 's'} saved. Your instructor grades the diagnosis."
        return Result("not attempted", message=said)
    scenario = Scenario(question["program"])
    result = grade(question["source"], scenario, seeds=GRADING_SEEDS)
    return replace(result, points=result.share, max_points=1.0)


def _student(folder: Path, home: Path) -> str:
    """Return whose notebook runs in `folder`. nbgrader uses `autograded/<student>/<assignment>` below the course."""
    parts = folder.relative_to(home).parts
    return parts[1] if len(parts) >= 2 else ""


if __name__ == "__main__":
    serve(lambda name, question: answer(name, question, Path.cwd()))
