"""What a graded cell calls. The score is computed in another process, which answers in JSON; the cell ends with a float.

A notebook's kernel is no boundary: whoever owns it can replace this module. `bugzoo grade` reads the notebook's cells
and never runs them in a kernel; use it where points matter.
"""

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.frontend import headless
from bugzoo.grading.model import UNCHANGED, Result
from bugzoo.grading.program import Program


def repair(name: str, program: Any = None, diagnosis: dict[str, Any] | None = None) -> float:
    """Print what the repaired program does and return its points. Without `program`: the notebook's own cells."""
    program = _of_notebook("program") if program is None else program
    if program is None:
        return _nothing_yet("None of the program's cells has been run in this session.")
    try:
        source = _source(program)
    except UserError as error:
        return _nothing_yet(str(error))
    return _answer(name, {"kind": "repair", "source": source, "diagnosis": diagnosis or _record()})


def diagnosis(name: str, filled: dict[str, Any] | None = None) -> float:
    """Print how right the diagnosis is and return its points. Without `filled`: what the notebook's form holds."""
    return _answer(name, {"kind": "diagnosis", "diagnosis": filled or _record()})


def _of_notebook(name: str) -> Any:
    """A variable of the notebook that calls, None where there is none (yet)."""
    from IPython import get_ipython

    shell = get_ipython()
    return shell.user_ns.get(name) if shell else None


def _record() -> dict[str, Any] | None:
    form = _of_notebook("form")
    return form.diagnosis.record() if hasattr(getattr(form, "diagnosis", None), "record") else None


def _nothing_yet(why: str) -> float:
    print(
        f"cannot be graded, which costs no attempt. {why}\nRun the notebook's cells from the top, then this one again."
    )
    return 0.0


def hints(name: str) -> tuple[str, str, str]:
    from bugzoo.grading.exercises import load

    return load(name).hints


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
        print(f"cannot be graded, which costs no attempt. {error}")
        return 0.0
    say(result)
    record.attempt(name, question["kind"], result.status, result.points, result.max_points)
    return float(result.points)


def say(result: Result) -> None:
    """Print a result; a program that is as it was may be one whose changed cell was not run."""
    print(result)
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
