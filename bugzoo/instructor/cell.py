"""What the graded cells of an assignment call: the score is computed in another process and comes back as a number.

Where the answer key lies at or above the working folder, as it does when nbgrader grades, the key decides, with points
for a part of the repair. A student has no key: there the program is judged as a whole, by what it does.

A notebook's kernel is no boundary. `bugzoo grade` never runs these cells; use it where points matter.
"""

from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading.cell import ask, at_work, say

MODULE = "bugzoo.instructor"


def repair(name: str, program: Any, reference: str) -> float:
    """Print what the repaired program does and return its points. `reference` names the program without faults."""
    source = program if isinstance(program, str) else getattr(program, "source", None)
    if not isinstance(source, str):
        print("cannot be graded. The name `program` no longer stands for the program's cells; run them again.")
        return 0.0
    return _points(name, {"kind": "repair", "source": source, "program": reference})


def diagnosis(name: str, *forms: Any) -> float:
    """Print how right the findings are and return their points."""
    try:
        records = [form.diagnosis.record() for form in forms]
    except AttributeError:
        print("cannot be graded. The forms' names stand for something else; run the cell that makes them again.")
        return 0.0
    return _points(name, {"kind": "diagnosis", "records": records})


def _points(name: str, question: dict[str, Any]) -> float:
    try:
        with at_work(question["kind"]):
            result = ask(name, question, MODULE)
    except UserError as error:
        print(f"cannot be graded. {error}")
        return 0.0
    say(result)
    return float(result.points)
