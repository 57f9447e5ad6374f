"""A *crash*: its traceback stands in the place of the curve, and the diagnosis asks for two lines."""

import json
from dataclasses import replace
from typing import Any

import pytest

from bugzoo import record
from bugzoo.grading import against, another, cell
from bugzoo.grading.answers import filled, grade_diagnosis, right
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.healthy import Stop
from bugzoo.grading.kinds import Crash
from bugzoo.grading.notebook import build
from bugzoo.grading.workbench import Program
from bugzoo.lab import view_widgets
from bugzoo.running import run_here
from bugzoo.scenario import Scenario

NAME = "40_first_batch"
EXERCISE = load(NAME)
ANSWER = filled(EXERCISE)
CASES = (EXERCISE, *another.ends(EXERCISE))


@pytest.fixture(autouse=True)
def own_record(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_line_that_raised_is_not_the_line_to_change(case: Any) -> None:
    answer, stop = filled(case), case.kind.stop(case)
    assert answer["raised"] == stop.line and abs(answer["raised"] - answer["place"]) > 3 and stop.step == 1
    assert another.told(case).story.count("{") == 0
    assert case.kind.grade_diagnosis(case, answer).points == case.points[1] == 5


@pytest.mark.parametrize(
    ("changes", "points", "wrong"),
    [
        ({}, 5, []),
        ({"step": None}, 5, []),
        ({"evidence": []}, 5, []),
        ({"step": 2}, 4, ["step"]),
        ({"raised": ANSWER["raised"] + 1}, 4, ["raised"]),
        ({"raised": None}, 4, ["raised"]),
        ({"raised": ANSWER["place"], "place": ANSWER["raised"]}, 3, ["place", "raised"]),
        ({"cause": "nothing is wrong"}, 0, ["cause"]),
    ],
)
def test_each_part_is_worth_a_point(changes: dict[str, Any], points: int, wrong: list[str]) -> None:
    result = grade_diagnosis(NAME, ANSWER | changes)
    assert result.points == points and [check.name for check in result.checks if not check.passed] == wrong


def test_nothing_is_wrong_is_answered_with_the_error() -> None:
    said = against.answer(EXERCISE, "nothing is wrong", [])
    message = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (16x32 and 16x32)"
    assert said == f"Something is. The run stops at step 1 with {message}"


def test_the_notebook_shows_the_traceback_and_no_curve(capsys: Any) -> None:
    program = Program()
    program.begin(NAME)
    capsys.readouterr()
    view = program.run()
    printed = capsys.readouterr().out
    assert f'File "program.py", line {ANSWER["raised"]}, in forward' in printed and "crashed after 0 steps" in printed
    assert printed.count("Traceback") == 1 and "/bugzoo/" not in printed and "grad norm" not in printed
    assert set(view._bundle()) == {"text/plain"}
    cells = {part["id"]: "".join(part["source"]) for part in json.loads(build(EXERCISE))["cells"]}
    assert cells["look-first"] == 'numbers = program.look("layers")' and "It may also be healthy" not in cells["title"]
    assert "raised=" not in "".join(cells.values()) and "Name two lines" in cells["diagnosis-text"]
    assert "raised=<line that raised>" in json.dumps(json.loads(build(EXERCISE, "instructor")))


def test_no_frame_of_the_watch_stands_in_a_traceback() -> None:
    run = run_here(Scenario("mlp", ("graph/inplace_activation",)).source, "program.py")
    files = [line for line in run.trace.error["traceback"].splitlines() if line.startswith("  File ")]
    assert "torch/_tensor.py" in files[1] and not [line for line in files if "watching" in line]


def test_the_form_asks_for_both_lines_and_for_no_view(capsys: Any) -> None:
    Program().begin(NAME)
    form = cell.form(NAME)
    form.line()
    assert "raised=<line that raised>" in capsys.readouterr().out
    form.hand_in(**{name: value for name, value in ANSWER.items() if name not in ("raised", "evidence")})
    assert form.lacks() == ["the line that raised"] and record.first_diagnoses([EXERCISE.scenario.ticket]) is None
    form.hand_in(raised=ANSWER["raised"])
    assert form.lacks() == [] and f"raised by line {ANSWER['raised']}" in form.diagnosis.text()
    [counted] = record.first_diagnoses([EXERCISE.scenario.ticket]) or [{}]
    assert grade_diagnosis(NAME, counted).points == 5
    assert cell.form("04_flat_loss").lacks() == ["a cause", "a line"], "no other form asks for it"


def test_the_widgets_ask_for_both_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    form = cell.form(NAME)
    form.keep(ANSWER["cause"], 80, ANSWER["test"])
    form.line()
    form.last.controls["place"].value = ANSWER["place"]
    form.last.controls["raised"].value = ANSWER["raised"]
    assert "Saved in" in form.last.press({name: control.value for name, control in form.last.controls.items()})
    assert form.diagnosis.raised == ANSWER["raised"]
    program = Program()
    program.begin(NAME)
    view = program.run()
    view.wait()
    assert view_widgets.NO_CURVE in view.widgets.box._dom_classes and "layer2(hidden)" in view.widgets.status.value


def test_a_run_that_ends_otherwise_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    assert EXERCISE.kind.ended(EXERCISE) == []
    assert [healthy for _, healthy in EXERCISE.kind.sights(EXERCISE)] == [False] * 3
    together = replace(EXERCISE, program="digits_cnn", fault="shape/flatten_eats_batch")
    assert "counts as the line to change" in "".join(together.kind.ended(together))
    stops = iter([Stop("RuntimeError", "", 43, 1), Stop("RuntimeError", "", 43, 1), Stop("ValueError", "", 43, 1)])
    right(EXERCISE)
    monkeypatch.setattr(Crash, "stop", lambda kind, case: next(stops, Stop("RuntimeError", "", 43, 1)))
    assert "ends otherwise" in "".join(EXERCISE.kind.ended(EXERCISE))


def test_the_debrief_explains_the_line_that_raised() -> None:
    text = "\n".join(EXERCISE.kind.why(EXERCISE))
    assert f"line {ANSWER['raised']}:" in text and f"line {ANSWER['place']}:" in text
    assert text.index("### Two lines") < text.index("### nn.Linear") and EXERCISE.kind.compared(EXERCISE, "x") == []


def test_every_crash_begins_with_an_error() -> None:
    crashes = [name for name, exercise in exercises().items() if exercise.kind.name == "crash"]
    assert crashes == [NAME]
    assert all(exercises()[name].kind.stop(exercises()[name]) is None for name in exercises() if name not in crashes)
