"""Before the diagnosis a repair is told by its groups: what they say, and that they say nothing else."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest

from bugzoo import grading
from bugzoo.grading import lines
from bugzoo.grading.exercises import load, with_diagnosis
from bugzoo.grading.grade import try_exercise
from bugzoo.grading.groups import GROUPS, in_groups, of_a_trap, sealed, state
from bugzoo.grading.model import UNCHANGED, Check, Result
from bugzoo.grading.repairs import pretences
from bugzoo.grading.texts import healthy_text
from bugzoo.proving import leaks
from bugzoo.scenario import Scenario
from tests.exercises.course import ROOT
from tests.grading.attempt import attempt, must_pass
from tests.grading.tricks import BROKEN, MENDED
from tests.sampling import only_in_prove

TRAP = "17_second_opinion"
FOLDER = Path(grading.__file__).parent
DIAGNOSIS = {"answers.py", "findings.py"}
"""Graders of a diagnosis, whose checks have no group."""


def states(result: Result) -> list[str]:
    return [state(result, group) for group in GROUPS]  # of a wrong one and of a crash: test_states.py


def made(status: str, **failed: str) -> Result:
    """A result with a passed check of the first four groups, and a failed one for each `name=group`."""
    passed = [("run", "runs"), ("symptom", "gone"), ("loss", "new_data"), ("budget", "unchanged")]
    checks = [Check(name, "passed", "It passed.", group=group) for name, group in passed if name not in failed]
    wrong = [
        Check(name, "wrong", "It was done. It is 0.31.", "0 passes.", group=group) for name, group in failed.items()
    ]
    return Result(status, checks=[*checks, *wrong])


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.py")), ids=lambda file: file.stem)
def test_each_check_of_a_repair_says_its_group(file):
    if file.name in DIAGNOSIS:
        return
    calls = [
        node
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Check"
        if all(word.arg for word in node.keywords)  # not one that is read from JSON
    ]
    for call in calls:
        groups = [word.value for word in call.keywords if word.arg == "group"]
        assert groups, f"{file.name}:{call.lineno}: this check has no group"
        assert not isinstance(groups[0], ast.Constant) or groups[0].value in GROUPS


def test_a_group_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="'news' is not a group of checks; use one of runs, gone"):
        Check("loss", "wrong", "too high", group="news")


def test_results_of_before_are_still_read():
    old = {"name": "loss", "status": "wrong", "saw": "too high", "expected": "less", "number": 1.0}
    whole = {"status": "wrong", "share": 0, "message": "", "seconds": 1, "points": 0, "max_points": 5, "checks": [old]}
    assert Result.from_json(whole).checks == [Check("loss", "wrong", "too high", "less", 1.0)]
    assert "NO  Loss on new data: too high; what passes: less" in str(Result.from_json(whole))


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "last"), [only_in_prove((0, 1), "passed"), ((0,), "not asked")])
def test_a_right_repair_passes_every_group(seeds, last):
    assert states(must_pass(MENDED, seeds=seeds)) == ["passed"] * 4 + [last]


def test_a_program_that_is_unchanged_reaches_none():
    result = attempt(BROKEN, attempted=False)
    assert sealed(result).message == UNCHANGED and states(result) == ["not reached"] * 5


def test_what_a_learner_is_told_is_in_order_and_says_no_more():
    text = in_groups(made("wrong", loss="new_data", clip_rate="gone"))
    assert text.splitlines() == [
        "passed       It runs and trains",
        "failed       What was wrong is gone",
        "failed       It holds on new data",
        "passed       Nothing else was changed",
        "not reached  The same on every run",
    ]


def test_what_is_sealed_holds_nothing_but_the_groups():
    full = replace(
        made("wrong", clip_rate="gone"), share=0.3, points=1.5, max_points=5.0, message="The symptom is gone."
    )
    left = sealed(full)
    assert states(left) == states(full) and sealed(left) == left
    text = json.dumps(left.to_json())
    assert "clip" not in text and "0.31" not in text and "symptom" not in text and (left.share, left.points) == (0, 0)
    unseen = Result(
        "cannot be graded", checks=[Check("model", "cannot be graded", "No model.", "Keep it.", group="runs")]
    )
    assert sealed(unseen).message == "No model. Keep it.", "this is about the file, and the learner needs it"


@pytest.mark.parametrize("name", with_diagnosis())
def test_no_submission_of_a_proof_says_a_cause_a_name_or_a_number(name):
    """Every submission in the ledger, also each pretence of the fault: with the checks that failed on it."""
    trials = json.loads((ROOT / "proofs" / "exercises" / f"{name}.json").read_text(encoding="utf-8"))["trials"]
    forbidden = " ".join(leaks.names(load(name)))
    entries = [entry for kind in trials.values() for entry in kind.values() if entry.get("failed")]
    assert len(entries) > 20
    for entry in entries:
        failed = [Check(word, "wrong", f"{forbidden} 0.31", forbidden, 0.31, "gone") for word in entry["failed"]]
        sealed_result = sealed(Result("wrong", checks=[*failed, *made("").checks], message=forbidden))
        text = f"{sealed_result.status} {sealed_result.message}\n{in_groups(sealed_result)}"
        assert leaks.in_groups(text) == [] and not [word for word in leaks.names(load(name)) if word in text.lower()]


def test_the_search_for_numbers_and_names_can_fail():
    text = in_groups(made("wrong"))
    assert leaks.in_groups(text) == []
    assert leaks.in_groups(text.replace("It holds on new data", "")) != []
    for more in ("0.31", "clip_rate", "Limit of the gradients", "Training loss"):
        assert len(leaks.in_groups(f"{text}\n{more}")) == 1, more


def test_a_changed_trap_looks_like_a_fault_that_was_not_found():
    changed, harmless = made("wrong", agreement="unchanged"), made("passed")
    broken = made("wrong", symptom="gone")
    for result in (changed, harmless):
        assert states(of_a_trap(result)) == states(broken) and of_a_trap(result).status == "wrong"
    crashed = Result("your code raised", checks=[Check("run", "your code raised", "", group="runs")])
    assert of_a_trap(crashed) == crashed


@pytest.mark.slow
def test_before_the_diagnosis_a_trap_answers_like_any_exercise():
    trap, other = load(TRAP), load("04_flat_loss")
    for exercise in (trap, other):
        assert sealed(try_exercise(exercise.name, exercise.handed_out)).message == UNCHANGED
    result = try_exercise(TRAP, trap.handed_out + "\nunused = 1\n", seconds=30)  # of another exercise: test_stages.py
    assert (result.status, state(result, "gone"), state(result, "every_run")) == ("wrong", "failed", "not reached")
    assert try_exercise(TRAP, healthy_text(trap)).status == "wrong", "removing what does no harm"


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_before_the_diagnosis_a_right_repair_is_told_so_and_earns_nothing():
    right = try_exercise("04_flat_loss", healthy_text(load("04_flat_loss")), seeds=(0, 1))
    assert (
        right.passed and states(right) == ["passed"] * 5 and (right.points, right.max_points, right.share) == (0, 0, 0)
    )
    assert not any(check.saw or check.number is not None for check in right.checks)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_repair_that_hides_the_symptom_is_told_so():
    from bugzoo.grading.grade import grade
    from bugzoo.grading.texts import tidy

    case = Scenario("digits_cnn", ("numerics/log_at_step?step=44&eps=1e-50",), {"epochs": 12})
    hiding = pretences(tidy(case.source), *case.specs[0])["an eps"]
    result = grade(hiding, case)
    assert result.message.startswith(
        "No NaN or infinity is left, but the cause is not: the program still computes something else"
    )
    assert "The other examples of a batch were changed. An example's output moves by" in result.message
    assert states(result) == ["failed", "failed", "failed", "passed", "not reached"]


CASE, NAN, HEALTHY = (
    Scenario("mlp", ("loop/stale_gradients",)),
    Scenario("digits_cnn", ("numerics/log_at_step?step=44",)),
    Scenario("mlp", ("traps/log_softmax_first",)),
)


@pytest.mark.parametrize(
    ("case", "failed", "said"),
    [
        (
            CASE,
            {"loss": "new_data"},
            "The symptom is gone, but the cause is not: the program still computes something else",
        ),
        (NAN, {"loss": "new_data"}, "No NaN or infinity is left, but the cause is not: "),
        (CASE, {"training loss": "runs"}, "The symptom is gone, but the cause is not: "),
        (CASE, {"clip_rate": "gone"}, "The symptom is gone, but the cause is not: "),
        (
            CASE,
            {"budget": "unchanged"},
            "The symptom is gone, but the repair also changed what has to stay as it was. It is",
        ),
        (
            CASE,
            {"later steps": "every_run"},
            "The fault is gone in the first run, but the repair does not pass in every run.",
        ),
        (CASE, {"symptom": "gone", "loss": "new_data"}, ""),  # it still shows
        (CASE, {"run": "runs", "loss": "new_data"}, ""),  # nothing was measured
        (HEALTHY, {"agreement": "unchanged"}, ""),  # there was nothing to hide
        (Scenario("mlp"), {"loss": "new_data"}, ""),
    ],
)
def test_what_is_said_of_a_hidden_symptom_follows_from_the_groups(case, failed, said):
    text = lines.hidden(made("wrong", **failed).checks, case)
    assert text.startswith(said) and bool(text) == bool(said)
    assert not [sentence for sentence in text.split(": ") if len(sentence.split()) > 25]
