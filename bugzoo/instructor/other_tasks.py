"""Exercises without a repair as a class hands them in: a line-up's answer, and a change that breaks a program.

They are graded as alone, in the same sandbox: of a line-up the answer cell, of the other the program's cells. What only an
assignment has (a variant for each student, a healthy text to compare with) they have not: `tasks.Task` tells.
"""

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bugzoo.errors import UserError
from bugzoo.fingerprint import code_of
from bugzoo.grading.breaking import Breaking, breakings
from bugzoo.grading.breaking import named as named_breaking
from bugzoo.grading.breaking.judge import handed_out, solution
from bugzoo.grading.breaking.judge import judge as judge_breaking
from bugzoo.grading.breaking.notebook import build as build_breaking
from bugzoo.grading.lineup import Lineup, lineups
from bugzoo.grading.lineup import named as named_lineup
from bugzoo.grading.lineup.answer import judge as judge_lineup
from bugzoo.grading.lineup.model import POINTS
from bugzoo.grading.lineup.notebook import build as build_lineup
from bugzoo.grading.model import Result
from bugzoo.instructor import diagnosis_cell
from bugzoo.lab.diagnosis import offered
from bugzoo.proving.code import grading


class _Alone:
    """Nobody has a variant of one's own."""

    people: dict[str, dict[str, Any]]

    def owner(self, student: str, tag: str) -> tuple[str, str]:
        return student, ""

    def looks(self, student: str, source: str) -> str:
        return ""


@dataclass
class LineupTask(_Alone):
    """Which of these five runs is ill, and of what? Its points are those of a diagnosis; there is nothing to repair."""

    lineup: Lineup

    def __post_init__(self) -> None:
        self.name, self.title, self.people = self.lineup.name, self.lineup.title, {}
        self.max_points, self.points = sum(POINTS), (0.0, sum(POINTS))
        self.cells: tuple[str, str] = ("", "graded")

    def fingerprint(self) -> str:
        found = (code_of("bugzoo.grading.lineup.answer:judge"), self.lineup, self.lineup.causes, self.lineup.evidence)
        return hashlib.sha256(repr(found).encode()).hexdigest()

    def original(self) -> dict[str, Any]:
        return json.loads(build_lineup(self.lineup, "student"))

    def said(self, text: str, strict: bool) -> tuple[list[dict[str, Any]], str]:
        found, trouble = diagnosis_cell.chosen(text, self.lineup.offered, strict)
        return ([found] if found else []), trouble

    def handed_out(self, owner: str) -> str:
        return ""

    def repair(self, owner: str, source: str, records: list[dict[str, Any]], strict: bool) -> None:
        return None

    def diagnosis(self, owner: str, records: list[dict[str, Any]]) -> Result:
        given = dict(records[0]) if records else {}
        with suppress(UserError):  # in whatever words the board would have taken it; else it is judged as it stands
            given["cause"] = offered(given.get("cause") or "", self.lineup.offered)
        return judge_lineup(self.lineup, given)


@dataclass
class BreakingTask(_Alone):
    """Write the change that shows this and nothing else. Its points are those of a repair; there is nothing to diagnose."""

    task: Breaking

    def __post_init__(self) -> None:
        self.name, self.title, self.people = self.task.name, self.task.title, {}
        self.max_points, self.points = self.task.points, (self.task.points, 0.0)
        self.cells: tuple[str, str] = ("graded", "")

    def fingerprint(self) -> str:
        texts = (handed_out(self.task), solution(self.task), [str(claim) for claim in self.task.asked])
        found = (grading(), code_of("bugzoo.grading.breaking.judge:judge"), self.task, texts)
        return hashlib.sha256(repr(found).encode()).hexdigest()

    def original(self) -> dict[str, Any]:
        return json.loads(build_breaking(self.task, "student"))

    def said(self, text: str, strict: bool) -> tuple[list[dict[str, Any]], str]:
        return [], ""

    def handed_out(self, owner: str) -> str:
        return handed_out(self.task)

    def repair(self, owner: str, source: str, records: list[dict[str, Any]], strict: bool) -> Result:
        return judge_breaking(self.task, source, strict)

    def diagnosis(self, owner: str, records: list[dict[str, Any]]) -> None:
        return None


def load(given: str) -> LineupTask | BreakingTask | None:
    """By name or number; None where it is neither a line-up nor a breaking."""
    if name := named_lineup(given):
        return LineupTask(lineups()[name])
    if name := named_breaking(given):
        return BreakingTask(breakings()[name])
    return None
