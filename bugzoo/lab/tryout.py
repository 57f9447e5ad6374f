"""Immediate checks of the code that a learner writes in a lesson."""

import functools
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bugzoo import course, record
from bugzoo.lab.versions import version

FILE = "<judge of {}>"
RAISED = "your code raised"


def try_out(name: str, answer: Any) -> Any:
    """Check `answer` for the lesson's task `name`, such as `03/hook`, and print the results.

    Returns it if all checks pass, else the solution, so that the cells below run in any case. An error in the learner's
    code is reported, not raised. From the second version of the code that fails, the hint of a failed case is printed too.
    """
    number, _, key = name.partition("/")
    task = course.load(number).task(key)
    if isinstance(answer, Solution):  # this cell was run again without the cell of the learner's code
        answer = answer.beside
    judgement = verdict(task.judge, answer, name)
    failed = list((record.kept("task", name) or {}).get("versions", []))
    if not judgement.held and (code := version(answer)) not in (*failed, _stub(task.stub, answer, key)):
        failed.append(code)
    record.keep("task", name, {"held": judgement.held, "tries": len(failed), "versions": failed})
    if judgement.held:
        print("\n".join([*judgement.lines, "All checks pass. The lesson continues with your code."]))
        return answer
    print("\n".join(_failed(judgement, hinted=len(failed) > 1)))
    return Solution(solution(task.solution, answer, key), answer)


def _stub(text: str, answer: Any, key: str) -> str:
    """Return the version of the unchanged stub, which is not a try; empty if it does not run without its notebook."""
    try:
        return version(solution(text, answer, key))
    except Exception:
        return ""


def _failed(found: "Verdict", hinted: bool) -> list[str]:
    """Return what a learner whose code fails reads: the failed cases, how many pass, and one hint at most."""
    lines = [line for good, line in zip(found.good, found.lines, strict=True) if not good]
    if found.given and all(value is None for value in found.given):
        lines = [line for line in lines if RAISED not in line]  # the judge's own errors on None
        lines = ["It returned None each time: the body is empty, or a `return` is missing.", *lines]
    if passed := sum(found.good):
        lines.append(f"  {passed} of {len(found.good)} checks pass.")
    if hinted and found.hint:
        lines.append(f"Hint: {found.hint}")
    return [*lines, "The lesson continues with the solution for now. Change your code and run both cells again."]


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
    """What a judge says: whether each check passes, a line for it, what the answer returned each time, and one hint."""

    good: list[bool] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    given: list[Any] = field(default_factory=list)
    hint: str = ""
    """Of the first failed check that has one: the misconception behind it."""

    @property
    def held(self) -> bool:
        return bool(self.good) and all(self.good)

    def add(self, good: bool, saw: str, hint: str = "") -> None:
        """Add a check: whether it passes, a sentence with a number, and a hint for when it does not."""
        self.good.append(bool(good))
        self.lines.append(f"  {'ok ' if good else 'NOT'}  {saw}")
        self.hint = self.hint or ("" if good else hint)


def verdict(judge: str, answer: Any, name: str = "") -> Verdict:
    """Run a task's judge on an answer. What the answer raises is a check that does not pass."""
    names: dict[str, Any] = {"__name__": "judge"}
    exec(compile(judge, FILE.format(name), "exec"), names)
    judgement = Verdict()
    try:
        for check in names["judge"](_listening(answer, judgement.given)):
            judgement.add(*check)
    except Exception as error:
        judgement.add(False, _raised(error, FILE.format(name)))
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


def _raised(error: Exception, judge: str) -> str:
    """Return what the learner's code raised, and in which of its lines."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename not in (judge, __file__)]
    where = f" in its line {frames[0].lineno}: {frames[0].line}" if frames and frames[0].line else ""
    return f"{RAISED} {type(error).__name__}: {str(error)[:200]}{where}"
