"""What the graded cells of an assignment call: the score is computed in another process and comes back as a number.

Where the answer key lies at or above the working folder, as it does when nbgrader grades, the key decides, with points
for a part of the repair. A student has no key: there the program is judged as a whole, by what it does.

A notebook's kernel is no boundary. `bugzoo grade` never runs these cells; use it where points matter.
"""

import os
from typing import Any

from bugzoo.errors import UserError
from bugzoo.frontend import fit
from bugzoo.grading import workbench
from bugzoo.grading.cell import FIRST, ask, at_work, say, worth

MODULE = "bugzoo.instructor"


def __dir__() -> list[str]:
    return ["diagnosis", "forms", "hypothesis", "repair"]


def hypothesis(ticket: str) -> Any:
    """Ask what one thinks it is, and how sure one is: of every cause that there is, as several may be true."""
    from bugzoo.diagnostics.causes import words
    from bugzoo.lab.hypothesis import Hypothesis

    return Hypothesis(ticket, words()).show()


def forms(ticket: str) -> tuple[Any, Any, Any]:
    """A form for each finding, always three, so that their number tells nothing; the first one is shown."""
    from bugzoo.lab import DiagnosisForm

    first, second, third = (DiagnosisForm(one) for one in workbench.forms(ticket))
    return first.show(), second, third


def repair(name: str, program: Any, reference: str) -> float:
    """Print what the repaired program does and return its points. `reference` names the program without faults."""
    source = program if isinstance(program, str) else getattr(program, "source", None)
    if not isinstance(source, str):
        print("cannot be graded. The name `program` no longer stands for the program's cells; run them again.")
        return worth(0)
    if not (getattr(program, "diagnosed", True) or os.environ.get("NBGRADER_EXECUTION") == "autograde"):
        print(fit(FIRST))
        return worth(0)
    return _points(name, {"kind": "repair", "source": source, "program": reference})


def diagnosis(name: str, *forms: Any) -> float:
    """Print how right the findings are and return their points."""
    try:
        records = [form.diagnosis.record() for form in forms]
    except AttributeError:
        print("cannot be graded. The forms' names stand for something else; run the cell that makes them again.")
        return worth(0)
    return _points(name, {"kind": "diagnosis", "records": records})


def _points(name: str, question: dict[str, Any]) -> float:
    try:
        with at_work(question["kind"]):
            result = ask(name, question, MODULE)
    except UserError as error:
        print(fit(f"cannot be graded. {error}"))
        return worth(0)
    say(result)
    return worth(result.points)
