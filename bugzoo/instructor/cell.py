"""Functions that an assignment's graded cells call. Another process computes the score and returns a number.

With an answer key at or above the working folder, as under nbgrader, a partial repair earns points. A student has no
key: the program is then graded as a whole, by what it does.

A notebook's kernel is not a security boundary. `bugzoo grade` never runs these cells; use it when points matter.
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
    """Ask for the suspected cause and how sure the student is. All causes are offered, as several may be true."""
    from bugzoo.diagnostics.causes import words
    from bugzoo.lab.hypothesis import Hypothesis

    return Hypothesis(ticket, words()).show()


def forms(ticket: str) -> tuple[Any, Any, Any]:
    """Return one form per finding and show the first. There are always three, so the number gives nothing away."""
    from bugzoo.lab import DiagnosisForm

    first, second, third = (DiagnosisForm(one) for one in workbench.forms(ticket))
    return first.show(), second, third


def repair(name: str, program: Any, reference: str) -> float:
    """Print what the repaired program does and return its points. `reference` is the program without faults."""
    source = program if isinstance(program, str) else getattr(program, "source", None)
    if not isinstance(source, str):
        print("cannot be graded. `program` was overwritten. Run the program's cells again.")
        return worth(0)
    if not (getattr(program, "diagnosed", True) or os.environ.get("NBGRADER_EXECUTION") == "autograde"):
        print(fit(FIRST))
        return worth(0)
    return _points(name, {"kind": "repair", "source": source, "program": reference})


def diagnosis(name: str, *forms: Any) -> float:
    """Print how the findings were graded and return their points."""
    try:
        records = [form.diagnosis.record() for form in forms]
    except AttributeError:
        print("cannot be graded. The forms' names were overwritten. Run the cell that creates them again.")
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
