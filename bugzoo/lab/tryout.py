"""Immediate checks of the code that a learner writes in a lesson."""

import functools
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bugzoo import course, record
from bugzoo.frontend import fit
from bugzoo.lab.error_help import help_for

FILE = "<judge of {}>"
RAISED = "your code raised"
HELPS = 2
"""Most lines of help below the failed checks."""


def try_out(name: str, answer: Any) -> Any:
    """Check `answer` for the lesson's task `name`, such as `03/hook`, and print the results.

    Returns it if all checks pass, else the solution, so that the cells below run in any case. An error in the learner's
    code is reported, not raised. Each failed check may bring one line of help, and so may an error.
    """
    number, _, key = name.partition("/")
    task = course.load(number).task(key)
    if isinstance(answer, Solution):  # this cell was run again without the cell of the learner's code
        answer = answer.beside
    judgement = verdict(task.judge, answer, name)
    record.keep("task", name, {"held": judgement.held})
    lines = _passed(judgement) if judgement.held else _failed(judgement)
    print(fit("\n".join(lines), indent=" " * 6))
    return answer if judgement.held else Solution(solution(task.solution, answer, key), answer)


def _passed(judgement: "Verdict") -> list[str]:
    return [*judgement.lines, "All checks pass. The lesson continues with your code."]


def _failed(judgement: "Verdict") -> list[str]:
    """Return what a learner whose code fails reads: the failed checks, how many pass, and lines of help."""
    lines = [line for good, line in zip(judgement.good, judgement.lines, strict=True) if not good]
    empty = bool(judgement.given) and all(value is None for value in judgement.given)
    if empty:
        lines = [line for line in lines if RAISED not in line]  # the judge's own errors on None
        lines = ["It returned None each time: the body is empty, or a `return` is missing.", *lines]
    if passed := sum(judgement.good):
        lines.append(f"{passed} of {len(judgement.good)} checks pass.")
    lines += [f"help: {sentence}" for sentence in ([] if empty else judgement.helps[:HELPS])]
    return [*lines, "The lesson continues with the solution for now. Change your code and run it again."]


class Solution:
    """The solution's function in place of the learner's, `beside`, which is checked when the cell is run again."""

    def __init__(self, call: Callable[..., Any], beside: Any) -> None:
        functools.update_wrapper(self, call)
        self.call, self.beside = call, beside

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.call(*arguments, **named)

    def __repr__(self) -> str:
        return "<the solution, until your code passes>"


@dataclass
class Verdict:
    """What a judge says: whether each check passes, a line for it, what the answer returned each time, and the help."""

    good: list[bool] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    given: list[Any] = field(default_factory=list)
    helps: list[str] = field(default_factory=list)
    """Of the failed checks that have help, each sentence once: the misconception behind a failure."""

    @property
    def held(self) -> bool:
        return bool(self.good) and all(self.good)

    def add(self, check: tuple[Any, ...]) -> None:
        """Add a judge's check in one of its two forms: (holds, sentence[, help]) or (name, expected, got[, help])."""
        if isinstance(check[0], str):
            name, expected, got, *rest = check
            good = _equal(expected, got)
            sentence = f"{name}: {got}" if good else f"{name}: expected {expected}, got {got}"
        else:
            good, sentence, *rest = check
        self.good.append(bool(good))
        self.lines.append(f"{'ok  ' if good else 'FAIL'}  {sentence}")
        self.helps += [line for line in rest if line and not good and line not in self.helps]


def _equal(expected: Any, got: Any) -> bool:
    """Return whether two values are equal; what cannot be compared, such as a tensor with a number, is not."""
    try:
        return bool(expected == got)
    except Exception:
        return False


def verdict(judge: str, answer: Any, name: str = "") -> Verdict:
    """Run a task's judge on an answer. What the answer raises is a check that does not pass."""
    names: dict[str, Any] = {"__name__": "judge"}
    exec(compile(judge, FILE.format(name), "exec"), names)
    judgement = Verdict()
    try:
        for check in names["judge"](_listening(answer, judgement.given)):
            judgement.add(check)
    except Exception as error:
        line = _line(error, FILE.format(name))
        where = f" in its line {line.lineno}: {line.line}" if line else ""
        sentence = f"{RAISED} {type(error).__name__}: {str(error)[:200]}{where}"
        judgement.add((False, sentence, help_for(error, line.line if line else "", names.get("HELP"))))
    return judgement


def judged(judge: str, answer: Any, name: str = "") -> tuple[bool, list[str], list[Any]]:
    """Return (whether all checks pass, a line for each check, what the answer returned each time)."""
    judgement = verdict(judge, answer, name)
    return judgement.held, judgement.lines, judgement.given


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


def _line(error: Exception, judge: str) -> Any:
    """Return the frame of the learner's code in which an error began; None if its text is not there."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename not in (judge, __file__)]
    return frames[0] if frames and frames[0].line else None
