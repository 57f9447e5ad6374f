"""The kinds of exercises: each exercise declares its own, and a new one is one class."""

import json
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from bugzoo.grading import another
from bugzoo.grading.answers import grade_diagnosis
from bugzoo.grading.exercises import exercises, load, with_diagnosis
from bugzoo.grading.grade import grade_exercise, try_exercise
from bugzoo.grading.kinds import Nothing, Repair
from bugzoo.grading.model import Exercise, Result
from bugzoo.grading.notebook import build
from bugzoo.proving import check
from bugzoo.proving.check import key_of, work_of

NAME = "10_restless_loss"


@dataclass(frozen=True)
class Short(Repair):
    """A kind that no other file knows: the program only has to be short."""

    lines: int
    name: ClassVar[str] = "short"

    def open_cells(self, exercise: Exercise, answer: str) -> dict[str, str]:
        return super().open_cells(exercise, answer) | {"how": f"At most {self.lines} lines."}

    def graded(self, exercise: Exercise, source: str, options: Any) -> Result:
        good = len(source.splitlines()) <= self.lines
        return Result("passed" if good else "wrong", float(good))

    def claims(self, exercise: Exercise) -> tuple[object, ...]:
        return (self.lines,)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Exercise:
    exercise = replace(load(NAME), kind=Short(3))
    monkeypatch.setitem(exercises(), NAME, exercise)
    return exercise


def test_a_new_kind_is_one_class(short: Exercise) -> None:
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(build(short))["cells"]}
    assert "At most 3 lines." in cells["title"] and "cell.repair" in cells["repair"]
    assert grade_exercise(NAME, "one = 1").points == 5.0 and try_exercise(NAME, "one = 1\n" * 9).status == "wrong"
    assert grade_diagnosis(NAME, {"cause": "something else"}).points == 0
    assert all(case.kind == short.kind for case in another.ends(load(NAME)))
    solution = next(trial for trial in work_of(NAME).values() if trial.kind == "solution")
    keys = {key_of(solution)}
    exercises()[NAME] = replace(short, kind=Short(4))
    assert len(keys | {key_of(solution)}) == 2 and check.prove_one(solution)["status"] == "wrong"


@pytest.mark.parametrize("name", list(with_diagnosis()))
def test_where_nothing_is_wrong_the_kind_says_so(name: str) -> None:
    for case in (load(name), *another.ends(load(name))):
        assert isinstance(case.kind, Nothing) == case.trap, case.name
