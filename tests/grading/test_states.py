"""What a grade can answer, each on a real run."""

import json
import math

import pytest

from bugzoo.grading import runs, stages
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import grade_exercise
from bugzoo.grading.groups import GROUPS, sealed, state
from bugzoo.grading.model import Check, Result
from tests.grading.attempt import attempt, failed, must_fail, must_pass, ran
from tests.grading.tricks import BROKEN, LAZY, MENDED, SINGLE


def test_not_attempted_runs_nothing(monkeypatch):
    monkeypatch.delattr(runs, "run_worker")
    result = attempt(BROKEN.replace("step = 0", "step = 0  # I looked at this"), attempted=False)
    assert result.status == "not attempted" and result.share == 0 and not result.checks


@pytest.mark.slow
def test_wrong_names_what_was_seen_what_was_expected_and_the_number():
    result = must_fail(LAZY["as it was"](BROKEN))
    assert result.status == "wrong" and {"fresh_gradient", "symptom", "accuracy", "loss"} <= failed(result)
    accuracy = next(check for check in result.checks if check.name == "accuracy")
    assert f"{accuracy.number:.3f}" in accuracy.saw and "At least 0." in accuracy.expected and accuracy.number < 0.8
    assert [state(result, group) for group in GROUPS] == ["failed", "failed", "failed", "passed", "not reached"]
    assert not result.message


@pytest.mark.slow
def test_your_code_raised_names_error_and_line():
    result = must_fail(SINGLE["an error at the end"][1](BROKEN))
    assert result.status == "your code raised"
    assert "Nothing else was graded" in str(result)
    assert "AssertionError" in result.checks[0].saw and f"line {len(MENDED.splitlines()) + 1}" in result.checks[0].saw
    assert [state(result, group) for group in GROUPS] == ["failed", *["not reached"] * 4]
    assert "program.numbers() prints the error" in sealed(result).message and "line" not in sealed(result).message


@pytest.mark.parametrize(
    ("source", "said"),
    [("for step in range(3)\n", "not valid Python"), (MENDED.replace("seed = 0", "", 1), "seed"), ("", "seed")],
    ids=["a syntax error", "no seed", "nothing"],
)
def test_cannot_be_graded_says_why(source, said):
    result = attempt(source)
    assert result.status == "cannot be graded" and said in result.message and result.share == 0


@pytest.mark.slow
def test_passed_on_every_seed_and_as_json():
    lines: list[str] = []
    with stages.told(lines.append):
        result = must_pass(MENDED, seeds=(0, 1))
    told_before = sealed(result)  # the diagnosis
    assert [state(told_before, group) for group in GROUPS] == ["passed"] * 5
    assert not told_before.share and not any(check.saw or check.number is not None for check in told_before.checks)
    assert "training with seed 1" in lines and "which is drawn now" in "".join(lines), lines
    document = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert document["status"] == "passed" and document["share"] == 1.0 and document["seconds"] > 0
    measured = {
        "run",
        "training",
        "training loss",
        "answers",
        "accuracy",
        "loss",
        "data at steps",
        "order",
        "gradient",
        "update",
        "answers at steps",
        "budget",
        "model size",
        "data",
        "report",
    }
    assert measured == {check["name"] for check in document["checks"] if check["number"] is not None}
    assert "symptom" in {check["name"] for check in document["checks"]}
    assert Result.from_json(document).to_json() == document


def test_numbers_that_are_not_finite_become_text():
    document = Result("wrong", checks=[Check("loss", "wrong", "nan", "less", math.nan)]).to_json()
    assert document["checks"][0]["number"] == "NaN"


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_one_bad_seed_is_enough():
    worse = MENDED.replace("learning_rate, eps=1e-8", "learning_rate").replace(
        "step = 0\n", "step = 0\nlearning = 1e-5 if seed == 1 else learning_rate\n", 1
    )
    worse = worse.replace("losses = []\n", "losses = []\noptimizer.param_groups[0]['lr'] = learning\n", 1)
    result = must_fail(worse, seeds=(0, 1))
    assert all(check.saw.startswith("With seed 1: ") for check in result.checks if not check.passed)


@pytest.mark.slow
def test_a_healthy_case_needs_the_right_verdict():
    name = "17_second_opinion"
    text = load(name).handed_out
    assert grade_exercise(name, text).status == "not attempted"
    blamed = grade_exercise(name, text, {"cause": "a learning rate that is too high"})
    assert blamed.status == "wrong" and blamed.points == 0
    right = grade_exercise(name, text, {"cause": "nothing is wrong"}, seeds=(0,))
    assert right.passed and right.points == right.max_points


LOOK = """
import json, os, socket
def attempt(action):
    try:
        action()
    except (OSError, ImportError) as error:
        return type(error).__name__
    return "done"
def catalogue():
    import bugzoo.faults
    import bugzoo.grading.exercises
def leave_a_file(path):
    return attempt(lambda: open(path, "w").close())
print("LOOK" + json.dumps({
    "network": attempt(lambda: socket.create_connection(("1.1.1.1", 53), 2)),
    "catalogue": attempt(catalogue),
    "home": leave_a_file(HOME + "/left"),
    "package": leave_a_file(PACKAGE + "/left"),
    "root": leave_a_file("/left"),
    "own": leave_a_file("left"),
    "others": [name for name in os.listdir("/proc") if name.isdigit() and name != str(os.getpid())],
}))
"""


@pytest.mark.slow
def test_a_submission_reaches_nothing_outside_its_folder(sandboxed, tmp_path):
    import bugzoo

    names = f"HOME, PACKAGE = {str(tmp_path)!r}, {next(iter(bugzoo.__path__))!r}\n"
    run = ran(MENDED + names + LOOK)
    outcomes = json.loads(next(line for line in run.stdout.splitlines() if line.startswith("LOOK"))[4:])
    assert outcomes.pop("own") == "done" and outcomes.pop("others") == []
    assert "done" not in outcomes.values(), outcomes
    assert not list(tmp_path.iterdir())
