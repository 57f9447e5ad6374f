"""The process that grades an exercise's cells."""

from dataclasses import replace
from typing import Any

from bugzoo.grading import set_aside
from bugzoo.grading.exercises import load
from bugzoo.grading.model import Result
from bugzoo.grading.serve import serve
from bugzoo.running import warm_up


def answer(name: str, question: dict[str, Any]) -> Result:
    """Answer one question about an exercise. Raises UserError."""
    exercise = load(name)
    if question["kind"] == "diagnosis":
        from bugzoo.grading.answers import grade_diagnosis

        record = question["diagnosis"]
        return exercise.kind.answered(exercise, record, grade_diagnosis(name, record))
    if question["kind"] == "repair" and set_aside.graded_class():
        if found := set_aside.set_aside(question["source"], exercise.handed_out, set_aside.allowed()):
            return replace(found, max_points=exercise.points[0])
    warm_up(clean=True)  # before the imports below, so that both processes import in parallel
    from bugzoo.grading import salt
    from bugzoo.grading.grade import grade_exercise, try_exercise

    with salt.of_this_machine():
        if question["kind"] == "try":
            return try_exercise(name, question["source"])
        return grade_exercise(name, question["source"], question.get("diagnosis"))


if __name__ == "__main__":
    serve(answer)
