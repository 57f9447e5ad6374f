"""Functions that an assignment's cells call. Another process computes the score and returns a number.

With an answer key at or above the working folder, as under nbgrader, a partial repair earns points. A student has no
key. The program is then graded as a whole, by what it does, and each group of checks passes or fails. Details stay
closed, also after a hand-in: the diagnosis can be changed until the notebook is collected.

A notebook's kernel is not a security boundary. `bugzoo grade` never runs these cells; use it when points matter.
"""

import os
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.frontend import fit
from bugzoo.grading import set_aside
from bugzoo.grading.asking import ask
from bugzoo.grading.cell import at_work, say, worth
from bugzoo.instructor.folder import upwards

MODULE = "bugzoo.instructor"


def __dir__() -> list[str]:
    return ["diagnosis", "forms", "repair"]


def __getattr__(name: str) -> Any:
    if name == "hypothesis":  # in notebooks that were handed out before
        raise AttributeError("cell.hypothesis is no longer asked for, as it is not graded. Skip this cell.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def forms(ticket: str) -> tuple[Any, Any, Any]:
    """Return one form per finding; show the first one, and each one with a finding on record, so that none is lost.

    There are always three, so the number gives nothing away.
    """
    from bugzoo.instructor.finding_form import FindingForm

    first, second, third = (FindingForm(ticket, number, _handed_out) for number in (1, 2, 3))
    for form in (first, second, third):
        if form is first or form.at:
            form.show()
    return first, second, third


def _handed_out() -> str:
    """Return the notebook's program as handed out, for the listing of lines; "" if `program` was overwritten."""
    from IPython import get_ipython

    shell = get_ipython()
    return str(getattr(shell.user_ns.get("program") if shell else None, "original", ""))


def repair(name: str, program: Any, reference: str) -> float:
    """Print what the repaired program does and return its points. `reference` is the program without faults."""
    source = program if isinstance(program, str) else getattr(program, "source", None)
    if not isinstance(source, str):
        print("cannot be graded. `program` was overwritten. Run the program's cells again.")
        return worth(0)
    points = _points(name, {"kind": "repair", "source": source, "program": reference})
    if not set_aside.graded_class() and (sentence := set_aside.mention(source, _handed_out())):
        print(fit(sentence))
    return points


def diagnosis(name: str, *forms: Any) -> float:
    """Print how the findings were graded and return their points; without a key, what is handed in."""
    try:
        records = [form.graded() for form in forms]
    except AttributeError:
        print("cannot be graded. The forms' names were overwritten. Run the cell that creates them again.")
        return worth(0)
    silent = not any(record["cause"] for record in records)
    if silent and os.environ.get("NBGRADER_EXECUTION") == "validate":  # it reads neither the record nor the outputs
        print("nbgrader's Validate does not see the forms. Run this cell in the notebook: it prints what is handed in.")
        return worth(0)
    if upwards(name, Path.cwd()) is None:
        from bugzoo.instructor.finding_form import standing

        print(fit(standing(forms)))
        return worth(0)
    return _points(name, {"kind": "diagnosis", "records": records})


def _points(name: str, question: dict[str, Any]) -> float:
    try:
        with at_work(question["kind"]):
            result = ask(name, question, MODULE)
    except UserError as error:
        print(fit(f"cannot be graded. {error}"))
        return worth(0)
    say(result, details=_instructor(name))
    return worth(result.points)


def _instructor(name: str) -> bool:
    """Return whether this runs where the key is, or in nbgrader, which runs after the notebooks are collected."""
    return upwards(name, Path.cwd()) is not None or os.environ.get("NBGRADER_EXECUTION") == "autograde"
