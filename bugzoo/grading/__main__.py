"""The process that grades an exercise's cells."""

from dataclasses import replace
from typing import Any

from bugzoo.grading import set_aside
from bugzoo.grading.exercises import load
from bugzoo.grading.model import Result
from bugzoo.grading.serve import serve
from bugzoo.running.warm import warm_up


def answer(name: str, question: dict[str, Any]) -> Result:
    """Answer one question about an exercise. Raises UserError."""
    if (exercise := load(name)).five:
        from bugzoo.grading.kinds.five import answers as fives

        return fives.grade(exercise, question.get("diagnosis"))
    if question["kind"] == "diagnosis":
        from bugzoo.grading import against
        from bugzoo.grading.answers import grade_diagnosis

        return against.answered(name, question["diagnosis"], grade_diagnosis(name, question["diagnosis"]))
    if question["kind"] == "repair" and set_aside.graded_class():
        from bugzoo.grading.texts import handed_out

        if found := set_aside.set_aside(question["source"], handed_out(exercise), set_aside.allowed()):
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
