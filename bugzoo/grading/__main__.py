"""The grading process of an exercise's cells."""

from typing import Any

from bugzoo.grading.answers import grade_diagnosis
from bugzoo.grading.grade import grade_exercise
from bugzoo.grading.model import Result
from bugzoo.grading.serve import serve


def answer(name: str, question: dict[str, Any]) -> Result:
    """Raises UserError."""
    if question["kind"] == "diagnosis":
        return grade_diagnosis(name, question["diagnosis"])
    return grade_exercise(name, question["source"], question.get("diagnosis"))


if __name__ == "__main__":
    serve(answer)
