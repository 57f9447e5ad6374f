"""A *break* exercise: the verdict on an edit from recorded numbers, the parts that stay, the notebook, one real grading."""

import json
from pathlib import Path
from typing import Any

import pytest

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.grading import cell, debrief
from bugzoo.grading.answers import grade_diagnosis
from bugzoo.grading.exercises import exercises, load, with_diagnosis
from bugzoo.grading.grade import grade_exercise
from bugzoo.grading.kinds.break_ import verdict as breaking
from bugzoo.grading.kinds.break_.lazy import LAZY_BREAKS
from bugzoo.grading.model import Check
from bugzoo.grading.notebook import build
from bugzoo.grading.repairs import all_made
from bugzoo.grading.texts import broken_text, same_program
from bugzoo.grading.unchanged_parts import PARTS, changed
from bugzoo.instructor import submission
from bugzoo.instructor.tasks import ExerciseTask
from bugzoo.lab.hints import TRY
from bugzoo.running import Reading, Run

NAME = "06_knows_nothing"
EXERCISE = load(NAME)
ASKED = EXERCISE.kind
assert ASKED is not None
TEXT = EXERCISE.handed_out
RECORDED = {
    "metrics": {"accuracy": 0.105},
    "numbers": {
        "overfit_one_batch": {"ratio": 0.095},
        "loss_curve": {"final_loss": 2.36},
        "grader": {"accuracy": 0.105},
    },
}
"""Numbers of the fault's edit with seed 0."""


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))


def recorded(**other: float | None) -> dict[str, Any]:
    """The recorded numbers with some of them replaced: `grader__accuracy=0.9`; None takes one away."""
    readings = json.loads(json.dumps(RECORDED))
    for name, value in other.items():
        group, key = name.split("__")
        place = readings["metrics"] if group == "metrics" else readings["numbers"].get(group, {})
        place.pop(key) if value is None else place.update({key: value})
    return readings


def failed(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks if not check.passed}


def test_what_the_fault_measures_passes() -> None:
    checks = breaking.claims(ASKED, recorded())
    assert len(checks) == len(ASKED.must) and not failed(checks)
    assert not failed(breaking.averaged(ASKED, [recorded()] * 3, (0, 1, 2)))


@pytest.mark.parametrize(
    ("numbers", "name", "said"),
    [
        ({"overfit_one_batch__ratio": 0.62}, "overfit_one_batch.ratio", "“lowest loss over the first” 0.62."),
        ({"overfit_one_batch__ratio": None}, "overfit_one_batch.ratio", "was not measured."),
        (
            {"loss_curve__final_loss": 0.57},
            "loss_curve.final_loss",
            "View `loss_curve`, “loss at the end, mean of the last finite tenth” 0.57.",
        ),
        ({"metrics__accuracy": 0.94}, "metrics.accuracy", "The program reports its validation accuracy 0.94."),
        ({"metrics__accuracy": 0.94, "grader__accuracy": 0.94}, "grader.accuracy", "accuracy 0.94."),
        ({"grader__accuracy": float("nan")}, "evaluation", "accuracy inf."),
    ],
)
def test_a_symptom_that_is_not_there_is_told_with_its_number(numbers: Any, name: str, said: str) -> None:
    check = failed(breaking.claims(ASKED, recorded(**numbers)))[name]
    assert check.saw.startswith(said) or said in check.saw
    assert check.expected.endswith(" passes.") and check.expected.split()[0] in ("Below", "Above")


def test_an_evaluation_that_was_changed_is_told_with_both_numbers() -> None:
    [check] = failed(breaking.claims(ASKED, recorded(grader__accuracy=0.937))).values()
    assert check.name == "evaluation" and check.group == "unchanged"
    assert "accuracy 0.937. The program reports 0.105: its evaluation was changed" in check.saw


def test_luck_with_every_seed_is_no_guess() -> None:
    lucky = [recorded(grader__accuracy=0.3)] * 3
    assert not failed(breaking.claims(ASKED, lucky[0])), "one seed may be lucky"
    [check] = failed(breaking.averaged(ASKED, lucky, (0, 1, 2))).values()
    assert "with 3 seeds (0, 1, 2). On average:" in check.saw and check.expected == "Below 0.2 passes."


def test_another_alarm_is_told_with_its_view_and_without_a_cause() -> None:
    run = Run(
        None, readings={"generalisation": Reading({"train_accuracy": 0.94, "validation_accuracy": 0.1, "gap": 0.84})}
    )
    [check] = breaking.alarms([Check("generalisation", "wrong", "x", group="gone")], run)
    assert check.saw.startswith("Another alarm, in the view `evaluation`. ") and "94%" in check.saw and check.expected
    [quiet] = breaking.alarms([Check("instruments", "passed", "None of them raises an alarm.", group="gone")], run)
    assert quiet.passed and "foreign to the symptom" in quiet.saw, "those of the symptom may fire"


RENAMED = (
    TEXT.replace("class Net(nn.Module):", "class Digits(nn.Module):  # my name")
    .replace("Net()", "Digits()")
    .replace("optimizer", "adam")
    .replace("hidden", "h")
    .replace("loss = F.cross_entropy(logits, targets)", "objective = F.cross_entropy(\n            logits, targets\n        )")
    .replace("loss.backward()", "objective.backward()")
    .replace("loss.item()", "objective.item()")
    .replace("learning_rate = 2e-3", "learning_rate = 0.002")
)  # fmt: skip


def test_names_comments_and_layout_may_change() -> None:
    assert not same_program(RENAMED, TEXT)
    assert {part: changed(part, RENAMED, TEXT) for part in PARTS} == dict.fromkeys(PARTS, "")


@pytest.mark.parametrize(
    ("part", "before", "after"),
    [
        ("optimizer", "learning_rate = 2e-3", "learning_rate = 0"),
        ("optimizer", "torch.optim.Adam(", "torch.optim.SGD("),
        (
            "optimizer",
            "        optimizer.step()",
            "        optimizer.step()\n        optimizer.param_groups[0]['lr'] = 0",
        ),
        ("model", "dropout = 0.4", "dropout = 0.99"),
        ("model", "return self.head(", "return 0 * self.head("),
        ("model", "model.eval()", "model.eval()\nmodel.forward = lambda inputs: torch.zeros(len(inputs), 10)"),
        ("model", "model.eval()", "model = Net()\nmodel.eval()"),
        ("model", "model.eval()", "model.eval()\nother = model"),
        ("loss", "F.cross_entropy(logits, targets)\n", "F.cross_entropy(0 * logits, targets)\n"),
        ("loss", "        loss.backward()", "        loss *= 0\n        loss.backward()"),
        ("loss", "loss.backward()", "loss.backward(torch.tensor(-1.0))"),
        ("loss", "        loss.backward()\n", ""),
    ],
)
def test_a_part_that_has_to_stay_is_watched(part: str, before: str, after: str) -> None:
    assert before in TEXT
    edited = TEXT.replace(before, after, 1)
    [check] = failed(breaking.unchanged(ASKED, edited, TEXT)).values()
    assert check.name == f"unchanged {part}"
    assert "is not as it was: `" in check.saw or "This line is gone: `" in check.saw


def test_edits_that_count_touch_none_of_these_parts() -> None:
    texts = EXERCISE.kind.accepted(EXERCISE)
    assert len(texts) >= 5 and texts["solution"] == broken_text(EXERCISE)
    for name, text in texts.items():
        assert not same_program(text, TEXT) and not failed(breaking.unchanged(ASKED, text, TEXT)), name


def test_every_lazy_edit_fits_and_changes_the_program() -> None:
    lazy = all_made(TEXT, {**ASKED.lazy, **LAZY_BREAKS}, {})
    assert lazy.keys() == {*ASKED.lazy, *LAZY_BREAKS}
    assert not [name for name, text in lazy.items() if same_program(text, TEXT)]


def test_unchanged_is_no_attempt_and_costs_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaking.runs, "run_of", lambda job: pytest.fail("it ran"))
    result = grade_exercise(NAME, f"# mine\n{TEXT}\n")
    assert (result.status, result.points, result.max_points) == ("not attempted", 0, 10)
    slip = grade_exercise(NAME, TEXT + "x = (")
    assert slip.status == "cannot be graded" and "line" in slip.message
    no_seed = grade_exercise(NAME, TEXT.replace("seed = 0", "start = 0").replace("(seed)", "(start)"))
    assert no_seed.status == "cannot be graded" and "`seed`" in no_seed.message


@pytest.mark.slow
def test_there_is_no_diagnosis(capsys: pytest.CaptureFixture) -> None:
    assert NAME in exercises() and NAME not in with_diagnosis()
    with pytest.raises(UserError, match=r"has no diagnosis. Hand in your edit with cell.edit"):
        cell.form(NAME)
    assert grade_diagnosis(NAME, {"cause": "a wrong learning rate"}).points == 0
    assert cell.diagnosis(NAME) == 0 and "has no diagnosis" in capsys.readouterr().out
    ids = [part["id"] for part in json.loads(build(EXERCISE))["cells"]]
    assert not {"form", "diagnosis", "diagnosis-answer", "hypothesis"} & set(ids) and "repair" in ids


def judged(status: str, program: str) -> None:
    note = {"passed": False, "points": 0.0, "status": status, "program": program}
    record.note(EXERCISE.scenario.ticket, "repair", note)


def test_hints_cost_nothing_and_open_by_tries(capsys: pytest.CaptureFixture) -> None:
    hints = cell.hints(NAME)
    assert f"Each opens after one more try. {TRY}" in capsys.readouterr().out
    assert hints.next() == f"Hint 1 opens after 1 try. You have made 0. {TRY}"
    judged("not attempted", "a")
    assert hints.opened == 0 and "made 0" in hints.next()
    judged("wrong", "b")
    assert hints.next() == ASKED.hints[0] and "Hint 2 opens after 2" in hints.next()
    judged("wrong", "b")
    assert "made 1" in hints.next(), "the same program again"
    judged("wrong", "c")
    judged("your code raised", "d")
    assert [hints.next(), hints.next(), hints.next()] == [*ASKED.hints[1:], "There are no more hints."]
    assert hints.cost == 0 and cell.hints(NAME).opened == 3, "what was read stays read"


def test_the_debrief_waits_for_the_edit_or_for_giving_up(capsys: pytest.CaptureFixture) -> None:
    title = EXERCISE.about_fault[0].title
    cell.debrief(NAME)
    closed = capsys.readouterr().out
    assert "opens once your edit passes. Or give up" in closed and title not in closed
    cell.debrief(NAME, give_up=True)
    printed = capsys.readouterr().out
    assert title in printed and ASKED.moral in printed
    added = [line[1:].strip() for line in printed.splitlines() if line.startswith("+")]
    assert added and all(line in broken_text(EXERCISE) and line not in TEXT for line in added), (
        "the edit, not its repair"
    )
    record.note(EXERCISE.scenario.ticket, "repair", {"passed": True, "points": 10.0})
    cell.debrief(NAME)
    assert title in capsys.readouterr().out
    assert debrief.after(EXERCISE).startswith("`exercises/07_sudden_nan.ipynb`")


def test_a_class_hands_it_in_without_a_diagnosis(tmp_path: Path) -> None:
    task = ExerciseTask(EXERCISE)
    assert task.max_points == 10 and task.diagnosis("", []).points == 0 and task.fingerprint()
    file = tmp_path / "someone.ipynb"
    file.write_text(build(EXERCISE, "solution"))
    [notebook] = submission.find(tmp_path, task.name)
    read = submission.read(notebook, task.original())
    assert read.problem == "" and read.notes == () and "sort()" in "".join(read.sections.values())
    assert task.repair("", TEXT, [], strict=True, draw=3).status == "not attempted"


@pytest.mark.slow
def test_the_faults_edit_passes_and_a_lazy_one_is_told_why() -> None:
    passed = grade_exercise(NAME, broken_text(EXERCISE), seeds=(0, 1))
    assert passed.status == "passed" and passed.points == 10, str(passed)
    assert "2 seeds (0, 1)" in str(passed) and not [check for check in passed.checks if not check.passed]
    lazy = all_made(TEXT, LAZY_BREAKS, {})
    result = grade_exercise(NAME, lazy["validation targets alone shuffled"], seeds=(0,))
    assert (
        result.status == "wrong"
        and result.points == 0
        and {"evaluation", "generalisation"} <= failed(result.checks).keys()
    )
    crashed = grade_exercise(NAME, TEXT.replace("model.eval()", "raise ValueError('mine')"), seeds=(0,))
    assert crashed.status == "your code raised" and "ValueError in line" in str(crashed)
