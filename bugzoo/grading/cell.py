"""What an exercise's cells call: hints, hypothesis, form, the two graded cells and the debrief.

A score is computed in another process, which answers in JSON; a graded cell ends with a float. The repair is graded when the
diagnosis has been handed in, by the form or by `form.hand_in`; where nbgrader grades a class it is graded in any case.

A notebook's kernel is no boundary: whoever owns it can replace this module. `bugzoo grade` reads the notebook's cells
and never runs them in a kernel; use it where points matter.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.frontend import fit, headless
from bugzoo.grading.model import UNCHANGED, Result
from bugzoo.grading.workbench import Program, diagnosed

FIRST = (
    "not attempted: the repair opens when your diagnosis is handed in, right or wrong. Press Hand in above, or call "
    "form.hand_in(...)."
)


class Points(float):
    """What a graded cell ends with, for nbgrader. Who reads the answer above it is not shown the number once more."""

    def _ipython_display_(self) -> None:
        pass


def __dir__() -> list[str]:
    return ["debrief", "diagnosis", "form", "hints", "hypothesis", "repair"]


def hints(name: str) -> Any:
    """Show an exercise's three hints, one button after the other; each one opened is counted."""
    from bugzoo.grading.exercises import load
    from bugzoo.lab import Hints

    exercise = load(name)
    return Hints(exercise.hints, ticket=exercise.scenario.ticket).show()


def hypothesis(name: str) -> Any:
    """Ask what one thinks it is, and how sure one is."""
    from bugzoo.grading.answers import causes
    from bugzoo.grading.exercises import load
    from bugzoo.lab.hypothesis import Hypothesis

    exercise = load(name)
    return Hypothesis(exercise.scenario.ticket, causes(exercise)).show()


def form(name: str) -> Any:
    """Show an exercise's diagnosis form; `form.hand_in(cause=..., ...)` fills it in by hand."""
    from bugzoo.grading.answers import causes, offered
    from bugzoo.grading.exercises import load
    from bugzoo.grading.grade import handed_out
    from bugzoo.lab import DiagnosisForm

    exercise = load(name)
    asked = {"causes": causes(exercise), "tests": offered(exercise).texts, "source": handed_out(exercise)}
    return DiagnosisForm(exercise.scenario.ticket, **asked).show()


def repair(name: str, program: Any = None, diagnosis: dict[str, Any] | None = None) -> float:
    """Print what the repaired program does and return its points. Without `program`: the notebook's own cells."""
    program = _of_notebook("program") if program is None else program
    if program is None:
        return _nothing_yet("None of the program's cells has been run in this session.")
    try:
        source = _source(program)
        ticket = _ticket(name)
    except UserError as error:
        return _nothing_yet(str(error))
    if not (diagnosis or diagnosed(ticket) or os.environ.get("NBGRADER_EXECUTION") == "autograde"):
        print(fit(FIRST))
        return worth(0)
    return _answer(name, {"kind": "repair", "source": source, "diagnosis": diagnosis or _record(ticket)})


def diagnosis(name: str, filled: dict[str, Any] | None = None) -> float:
    """Print how right the diagnosis is and return its points. Without `filled`: the one that was handed in last."""
    try:
        given = filled or _record(_ticket(name))
    except UserError as error:
        return _nothing_yet(str(error))
    return _answer(name, {"kind": "diagnosis", "diagnosis": given})


def debrief(name: str, give_up: bool = False) -> None:
    """Say why, show the run before and after, and what it could have been; when it is repaired, or with `give_up=True`.

    Also then the diagnosis comes first.
    """
    from bugzoo.grading import debrief as page
    from bugzoo.grading.exercises import load

    exercise = load(name)
    ticket = exercise.scenario.ticket
    if not diagnosed(ticket):
        print("The debrief opens when your diagnosis is handed in and the repair has passed.")
    elif not (passed := any(note.get("passed") for note in record.notes(ticket, "repair"))) and not give_up:
        print(
            f'The debrief opens when the repair has passed. Or give up: cell.debrief("{exercise.name}", give_up=True)'
        )
    else:
        page.show(exercise, _of_notebook("program") if passed else None)  # else beside the healthy one


def _ticket(name: str) -> str:
    from bugzoo.grading.exercises import load

    return load(name).scenario.ticket


def _of_notebook(name: str) -> Any:
    """A variable of the notebook that calls, None where there is none (yet)."""
    from IPython import get_ipython

    shell = get_ipython()
    return shell.user_ns.get(name) if shell else None


def _record(ticket: str) -> dict[str, Any] | None:
    """The diagnosis that was handed in last, in this kernel or before it."""
    return record.diagnosis(ticket)


def _nothing_yet(why: str) -> float:
    print(
        fit(
            f"cannot be graded, which costs no attempt. {why}\nRun the notebook's cells from the top, then this one again."
        )
    )
    return worth(0)


def worth(earned: float) -> float:
    """What a graded cell returns. nbgrader takes a cell without a visible number for one that earned everything."""
    return float(earned) if headless() or os.environ.get("NBGRADER_EXECUTION") else Points(earned)


def _source(program: Any) -> str:
    if isinstance(program, str):
        return program
    if not isinstance(program, Program):
        raise UserError(
            f"The name `program` stands for {type(program).__name__} now, no longer for the program's cells."
        )
    return program.source


def _answer(name: str, question: dict[str, Any]) -> float:
    try:
        with at_work(question["kind"]):
            result = ask(name, question)
    except UserError as error:
        print(fit(f"cannot be graded, which costs no attempt. {error}"))
        return worth(0)
    say(result)
    record.attempt(name, question["kind"], result.status, result.points, result.max_points)
    if question["kind"] == "repair":
        record.note(_ticket(name), "repair", {"passed": result.passed, "points": result.points})
    return worth(result.points)


def say(result: Result) -> None:
    """Print a result; a program that is as it was may be one whose changed cell was not run."""
    print(fit(str(result)))
    if result.message == UNCHANGED:
        print("A cell counts as it was last run. If you have changed one, run it first, then this one again.")


@contextlib.contextmanager
def at_work(kind: str) -> Iterator[None]:
    """A line that stands in the cell while the grader works, for people only: what replaces it is the answer."""
    if kind != "repair" or headless():
        yield
        return
    from IPython.display import clear_output

    print("Grading: your program is run, on one seed after the other. Up to a minute on a slow machine ...", flush=True)
    try:
        yield
    finally:  # also when it is stopped
        clear_output(wait=True)


def ask(name: str, question: dict[str, Any], module: str = "bugzoo.grading") -> Result:
    """Put a question to a fresh grading process (`python -m module`). Raises UserError when it gives no answer."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-m", module, name], text=True, **pipes) as grader:
        try:
            said, complained = grader.communicate(json.dumps(question, default=str), timeout=600)
        except BaseException as stopped:  # too late, or the learner's own stop button
            _end(grader)
            if isinstance(stopped, subprocess.TimeoutExpired):
                raise UserError("The grader gave no answer within ten minutes.") from None
            raise
    try:
        found = json.loads(said.strip().splitlines()[-1])
    except (IndexError, ValueError):
        last = (complained.strip().splitlines() or ["no message"])[-1]
        raise UserError(f"The grader gave no answer: {last}") from None
    if "error" in found:
        raise UserError(found["error"])
    return Result.from_json(found)


def _end(grader: subprocess.Popen) -> None:
    """Stop the grading process so that it can end its workers and take its files away; kill it when it does not."""
    for ask_it in (lambda: grader.send_signal(signal.SIGINT), grader.kill):
        ask_it()
        with contextlib.suppress(subprocess.TimeoutExpired):
            grader.wait(10)
            return
