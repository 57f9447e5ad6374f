"""Functions that an exercise's cells call: hints, the form, the two graded cells and the debrief.

Another process computes the score and answers in JSON; a graded cell ends with a float. The repair may be tried at any
time. Until the diagnosis is complete the answer is which groups of checks fail, and nothing is earned or recorded. Then
the same cell grades it and prints every check. When nbgrader grades a class, it is graded in any case.

A notebook's kernel is not a security boundary: its owner can replace this module. `bugzoo grade` reads the notebook's
cells and never runs them in a kernel; use it when points matter.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.frontend import fit, headless
from bugzoo.grading import handed_in, stages
from bugzoo.grading.asking import ask
from bugzoo.grading.groups import in_groups, sealed
from bugzoo.grading.model import FOR_A_PERSON, UNCHANGED, Result
from bugzoo.grading.workbench import Program, diagnosed

if TYPE_CHECKING:
    from bugzoo.grading.kinds import Repair

RIDDLE = (
    "Your diagnosis named another cause, so no check is named yet. They open with a second failed repair, or if you give up: "
    "cell.debrief(..., give_up=True)."
)
OPENS = "Details open with your complete diagnosis, right or wrong. Then this cell grades the repair and prints every check."


class Points(float):
    """The result of a graded cell, for nbgrader. The page does not show it again below the printed answer."""

    def _ipython_display_(self) -> None:
        pass


def __dir__() -> list[str]:
    return ["debrief", "diagnosis", "edit", "five", "form", "hints", "repair"]


def hints(name: str) -> Any:
    """Show an exercise's three hints, one button after the other; each opens after one more try and is counted."""
    from bugzoo.grading.exercises import load
    from bugzoo.lab.hints import Hints, tries

    exercise = load(name)
    ticket, texts = exercise.scenario.ticket, exercise.hints
    tickets = dict.fromkeys((ticket, *exercise.forms))
    return Hints(texts, ticket=ticket, costs=(0,) * len(texts), tries=lambda: sum(map(tries, tickets))).show()


def form(name: str, number: int = 1) -> Any:
    """Show the first part of an exercise's form; `form.line()` shows the second, `form.hand_in(...)` fills in both.

    `number`: of an exercise with two findings, which one the form is for. Raises UserError for a form that is not there.
    """
    from bugzoo.grading.exercises import load

    exercise = load(name)
    return exercise.kind.form(exercise, number)


def five(name: str) -> Any:
    """Return the recorded runs of a *five*, to look at and to answer. Raises UserError for another exercise."""
    from bugzoo.grading.kinds.five.runs import begin

    return begin(name)


def edit(name: str, program: Any = None) -> float:
    """Print whether the edited program shows the symptom that a *break* exercise asks for, and return its points."""
    return repair(name, program)


def repair(name: str, program: Any = None) -> float:
    """Print what the repaired program does and return its points. Without `program`: the notebook's own cells.

    Before the diagnosis is complete it prints which groups of checks fail, and returns 0.
    """
    program = _of_notebook("program") if program is None else program
    if program is None:
        return _nothing_yet("You have not run any of the program's cells in this session.")
    try:
        source = _source(program)
        forms = _forms(name)
    except UserError as error:
        return _nothing_yet(str(error))
    graded_class = os.environ.get("NBGRADER_EXECUTION") == "autograde"
    if _kind(name).diagnosis and not (diagnosed(*forms) or graded_class):
        return _tried(name, source)
    question = {"kind": "repair", "source": source, "diagnosis": handed_in.counted(forms) or handed_in.last(forms)}
    return _answer(name, question, counted=not graded_class and _riddle(name, forms))


def diagnosis(name: str) -> float:
    """Print how the first complete diagnosis was graded and return its points.

    A later one is practice: it is answered too, and does not change the points.
    """
    try:
        forms = _forms(name)
    except UserError as error:
        return _nothing_yet(str(error))
    if not _kind(name).diagnosis:
        return _answer(name, {"kind": "diagnosis", "diagnosis": None})
    last = handed_in.last(forms)
    first = handed_in.counted(forms)
    if first is None and last is not None and os.environ.get("NBGRADER_EXECUTION") != "autograde":
        print(fit(_kind(name).incomplete))
        return worth(0)
    practice = None
    if first and last and last["at"] > first["at"]:
        with contextlib.suppress(UserError):  # before the grade is printed, which would be cleared with the stages
            practice = _asked(name, {"kind": "diagnosis", "diagnosis": last})
    points = _answer(name, {"kind": "diagnosis", "diagnosis": first or last})
    if practice:
        print("\nPractice: your latest diagnosis. The one above is your grade.")
        say(practice)
    return points


def debrief(name: str, give_up: bool = False) -> None:
    """Explain the fault, the run before and after, and its look-alikes; after a repair, or with `give_up=True`.

    In both cases the diagnosis must be handed in first, where there is one.
    """
    from bugzoo.grading.exercises import load

    exercise = load(name)
    handed_in = record.notes(exercise.scenario.ticket, "repair")
    passed = any(note.get("passed") or note.get("opens") for note in handed_in)
    if reason := exercise.kind.waits(exercise, passed, give_up):
        print(reason)
    else:
        if give_up:
            record.keep("given up", exercise.scenario.ticket, {})
        exercise.kind.debrief(exercise, _of_notebook("program") if passed else None)


def _ticket(name: str) -> str:
    from bugzoo.grading.exercises import load

    return load(name).scenario.ticket


def _kind(name: str) -> "Repair":
    """Return the kind of an exercise."""
    from bugzoo.grading.exercises import load

    return load(name).kind


def _of_notebook(name: str) -> Any:
    """Return a variable of the calling notebook, or None if it does not exist (yet)."""
    from IPython import get_ipython

    shell = get_ipython()
    return shell.user_ns.get(name) if shell else None


def _forms(name: str) -> tuple[str, ...]:
    """Return the ticket of each form of an exercise."""
    from bugzoo.grading.exercises import load

    return load(name).forms


def _nothing_yet(why: str) -> float:
    print(
        fit(
            f"cannot be graded; this costs no attempt. {why}\nRun the notebook's cells from the top, then this one again."
        )
    )
    return worth(0)


def worth(earned: float) -> float:
    """Return a graded cell's result. nbgrader gives full points to a cell without a visible number."""
    return float(earned) if headless() or os.environ.get("NBGRADER_EXECUTION") else Points(earned)


def _source(program: Any) -> str:
    if isinstance(program, str):
        return program
    if not isinstance(program, Program):
        raise UserError(f"`program` was overwritten with a value of type {type(program).__name__}.")
    return program.text()


def _tried(name: str, source: str) -> float:
    """Print the groups of a repair before the diagnosis is complete. It earns nothing and is not recorded."""
    try:
        with at_work("repair"):
            result = ask(name, {"kind": "try", "source": source})
    except UserError as error:
        print(fit(f"cannot be graded; this costs no attempt. {error}"))
        return worth(0)
    _mention(name, source)
    say(result, details=False)
    _note(name, source, result, graded=False)
    if result.checks:
        print(fit(OPENS))
    return worth(0)


def _riddle(name: str, forms: tuple[str, ...]) -> bool:
    """Return whether the cause is still to be found: it was named wrongly, and no failed repair opened the details yet."""
    from bugzoo.grading.answers import named_all
    from bugzoo.grading.exercises import load

    exercise = load(name)
    failed = [note for note in record.notes(_ticket(name), "repair") if note.get("graded") and not note["passed"]]
    given_up = record.kept("given up", _ticket(name))
    return bool(
        exercise.kind.diagnosis and not failed and given_up is None and not named_all(exercise, handed_in.last(forms))
    )


def _asked(name: str, question: dict[str, Any]) -> Result:
    """Ask the grader. The answer to a diagnosis that was asked for before is in the record. Raises UserError."""
    handed_in_at = (question["diagnosis"] or {}).get("at") if question["kind"] == "diagnosis" else None
    key = f"{_ticket(name)} {handed_in_at}"
    known = record.kept("verdict", key) if handed_in_at and not os.environ.get("NBGRADER_EXECUTION") else None
    if known:
        return Result.from_json(known)
    with at_work(question["kind"]):
        result = ask(name, question)
    if handed_in_at and result.status in ("passed", "wrong"):  # what the machine could not grade is asked for again
        record.keep("verdict", key, result.to_json())
    return result


def _answer(name: str, question: dict[str, Any], counted: bool = False) -> float:
    """Print a grade and return its points. `counted`: of a failed repair only how many checks of each group pass."""
    try:
        result = _asked(name, question)
    except UserError as error:
        print(fit(f"cannot be graded; this costs no attempt. {error}"))
        return worth(0)
    if question["kind"] == "repair":
        _mention(name, question["source"])
    say(result, counted=counted and result.status == "wrong")
    kind = _kind(name)
    record.attempt(
        name, question["kind"] if kind.program else kind.work, result.status, result.points, result.max_points
    )
    if question["kind"] == "repair":
        _note(name, question["source"], result, graded=True)
    return worth(result.points)


def _mention(name: str, source: str) -> None:
    """Say on one's own machine what a graded class would set aside."""
    from bugzoo.grading import set_aside
    from bugzoo.grading.exercises import load

    if not set_aside.graded_class() and (message := set_aside.mention(source, load(name).handed_out)):
        print(fit(message))


def _note(name: str, source: str, result: Result, graded: bool) -> None:
    """Note a judged program. One that passes opens the debrief, and so does one that would, but is for a person.

    Before the diagnosis is complete none does.
    """
    note = {"passed": graded and result.passed, "points": result.points, "status": result.status, "graded": graded}
    note |= {"opens": True} if graded and result.checks and result.status == FOR_A_PERSON else {}
    record.note(_ticket(name), "repair", note | {"program": hashlib.sha256(source.encode()).hexdigest()[:12]})


def say(result: Result, details: bool = True, counted: bool = False) -> None:
    """Print a result, with a reminder if the program is unchanged, as an edited cell may not have been run.

    Without `details`: the status and a line for each group, without numbers, points or names of instruments. `counted`: the
    points, and how many checks of each group pass.
    """
    if counted:
        first = f"{result.status}: {result.points:g} of {result.max_points:g} points"
        print(fit("\n".join([first, in_groups(result, counted=True), RIDDLE])))
    elif not details:
        result = sealed(result)
        first = f"{result.status}: {result.message}" if result.message else f"{result.status}."
        print(fit("\n".join([first, *([in_groups(result)] if result.checks else [])])))
    else:
        print(fit(str(result)))
    if result.message == UNCHANGED:
        print("A cell counts as last run. If you have changed a cell, run it first, then this one again.")


@contextlib.contextmanager
def at_work(kind: str) -> Iterator[None]:
    """Show what the grader does while it works, only to people; the answer replaces it."""
    if headless():
        yield
        return
    from IPython.display import clear_output

    if kind == "repair":
        print(
            "Grading: running your program on several seeds. This takes up to a minute on a slow machine ...",
            flush=True,
        )
    try:
        with stages.told(lambda text: print(f"  {text}", flush=True)):
            yield
    finally:  # also after an interrupt
        clear_output(wait=True)
