"""Immediate checks of the code that a learner writes in a lesson."""

import functools
import traceback
from collections.abc import Callable
from typing import Any

from bugzoo import course, record

FILE = "<judge of {}>"
RAISED = "your code raised"


def try_out(name: str, answer: Any) -> Any:
    """Check `answer` for the lesson's task `name`, such as `03/hook`, and print the results.

    Returns it if all checks pass, else the solution, so that the cells below run in any case. An error in the learner's
    code is reported, not raised.
    """
    number, _, key = name.partition("/")
    task = course.load(number).task(key)
    if isinstance(answer, Solution):  # this cell was run again without the cell of the learner's code
        answer = answer.beside
    held, told, given = judged(task.judge, answer, name)
    if held:
        print("\n".join([*told, "All checks pass. The lesson continues with your code."]))
    else:
        if given and all(value is None for value in given):
            told = [line for line in told if RAISED not in line]  # the judge's own errors on None
            told = ["It returned None each time: the body is empty, or a `return` is missing.", *told]
        print(
            "\n".join(
                [*told, "The lesson continues with the solution for now. Change your code and run both cells again."]
            )
        )
    record.keep("task", name, {"held": held})
    return answer if held else Solution(solution(task.solution, answer, key), answer)


class Solution:
    """The solution's function in place of the learner's, `beside`, which is checked when the cell is run again."""

    def __init__(self, call: Callable[..., Any], beside: Any) -> None:
        functools.update_wrapper(self, call)
        self.call, self.beside = call, beside

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.call(*arguments, **named)

    def __repr__(self) -> str:
        return "<the solution, until your code passes>"


def judged(judge: str, answer: Any, name: str = "") -> tuple[bool, list[str], list[Any]]:
    """Return (whether all checks pass, a line for each check, what the answer returned each time)."""
    names: dict[str, Any] = {"__name__": "judge"}
    exec(compile(judge, FILE.format(name), "exec"), names)
    given: list[Any] = []
    lines, held = [], True
    try:
        for good, saw in names["judge"](_listening(answer, given)):
            held = held and bool(good)
            lines.append(f"  {'ok ' if good else 'NOT'}  {saw}")
    except Exception as error:
        held = False
        lines.append(f"  NOT  {_raised(error, FILE.format(name))}")
    return held and bool(lines), lines, given


def solution(text: str, beside: Any, name: str) -> Any:
    """Return what the solution binds to `name`, with the names that the learner's code sees."""
    names = dict(getattr(beside, "__globals__", {}))
    exec(compile(text, f"<solution of {name}>", "exec"), names)
    return names[name]


def _listening(answer: Any, given: list[Any]) -> Callable[..., Any]:
    """Return the answer, wrapped to record what it returned."""

    @functools.wraps(answer)
    def call(*arguments: Any, **named: Any) -> Any:
        given.append(answer(*arguments, **named))
        return given[-1]

    return call


def _raised(error: Exception, judge: str) -> str:
    """Return what the learner's code raised, and in which of its lines."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename not in (judge, __file__)]
    where = f" in its line {frames[0].lineno}: {frames[0].line}" if frames and frames[0].line else ""
    return f"{RAISED} {type(error).__name__}: {str(error)[:200]}{where}"
