"""The grading process of an assignment's cells."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bugzoo.grading.model import Result
from bugzoo.grading.serve import serve
from bugzoo.instructor import public
from bugzoo.instructor.folder import upwards


def answer(name: str, question: dict[str, Any], folder: Path) -> Result:
    """Judge by the key where there is one at or above `folder`, else by what a student may know. Raises UserError."""
    home = upwards(name, folder)
    if home is None:
        return without_key(question)
    # a student's package has neither
    from bugzoo.grading.grade import grade
    from bugzoo.instructor import findings, key

    found = key.read(home)
    assignment, answers = found.of(_student(folder, home))
    repair, diagnosis = assignment.points
    if question["kind"] == "diagnosis":
        return findings.grade(answers, question["records"], diagnosis, assignment.credit)
    result = grade(question["source"], assignment.scenario, seeds=found.seeds, seconds=found.seconds, attempted=False)
    share = assignment.credit.share(result, assignment.ids)
    return replace(result, share=share, points=round(share * repair, 4), max_points=repair)


def without_key(question: dict[str, Any]) -> Result:
    """A student's own look, which knows no fault. The diagnosis is for the instructor's grader."""
    if question["kind"] == "diagnosis":
        given = [record for record in question["records"] if record.get("cause")]
        said = f"{len(given)} finding{'' if len(given) == 1 else 's'} noted; it is judged when you have handed in."
        return Result("not attempted", message=said)
    last, ranks = question.get("last"), int(question.get("ranks") or 1)
    return public.look(question["source"], question.get("bar"), last, ranks)


def _student(folder: Path, home: Path) -> str:
    """Whose notebook runs in `folder`: nbgrader works in `autograded/<student>/<assignment>` below the course."""
    parts = folder.relative_to(home).parts
    return parts[1] if len(parts) >= 2 else ""


if __name__ == "__main__":
    serve(lambda name, question: answer(name, question, Path.cwd()))
