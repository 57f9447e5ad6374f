"""Twenty-one hand-ins that a grader once judged wrongly: nine wrong ones that passed, two right ones, ten attacks.

They are kept as they were handed in, so their programs are those of that time.
"""

from pathlib import Path

import pytest

from bugzoo.grading import set_aside
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import grade
from bugzoo.grading.model import FOR_A_PERSON, Result
from bugzoo.grading.texts import tidy
from bugzoo.scenario import Scenario
from tests.sampling import only_in_prove

HANDINS = Path(__file__).parent / "handins"
NOW = {"01": "04", "02": "10", "04": "35", "05": "28", "06": "31", "07": "17"}
"""Number of an exercise when they were handed in -> today's."""
LOG = Scenario("digits_cnn", ("numerics/log_at_step?step=44&eps=1e-50",), {"epochs": 12})
"""What exercise 03 was then."""

WRONG = {
    "01_middle_softmax": ("01", "gradient"),
    "01_scaled_5": ("01", "gradient"),
    "02_clear_random": ("02", "gradient"),
    "03_no_augment": ("03", "order"),
    "04_first_half": ("04", "gradient"),
    "05_eval_only": ("05", "gradient"),
    "05_values_zero_train_only": ("05", "gradient"),
    "06_norm_eval": ("06", "gradient"),
    "07_lr_after_epoch": ("07", "update"),
}
"""Name -> (exercise, the check that refuses it)."""
WAITS = {"attack_put_off_text_03": "03"}
"""Those that pass every check, and decide something by a counter."""
RIGHT = {"02_two_optimizers": "02", "02_func_grad": "02"}
ASIDE = {
    "attack_forge_files_good_weights": "01",
    "attack_recorder_losses_01": "01",
    "attack_doors_01": "01",
    "attack_patched_after_the_look_01": "01",
    "attack_genuine_writer_02": "02",
}
"""Attacks that are outside plain PyTorch: a class's grader does not run them."""
TRAINED = {
    "attack_decoy_losses": "01",
    "attack_sampled_steps_01": "01",
    "attack_test_between_01": "01",
}
"""Attacks in plain PyTorch that train on something else."""


def scenario(number: str) -> Scenario:
    return LOG if number == "03" else next(load(now).scenario for old, now in NOW.items() if old == number)


def graded(name: str, number: str, **options) -> Result:
    return grade((HANDINS / f"{name}.txt").read_text(), scenario(number), strict_isolation=True, **options)


def failed(result: Result) -> set[str]:
    return {check.name for check in result.checks if not check.passed}


def some(names, kept):
    return [name if name in kept else only_in_prove(name) for name in names]


@pytest.mark.slow
@pytest.mark.parametrize("name", some(WRONG, ("07_lr_after_epoch",)))
def test_what_is_wrong_now_and_then_is_refused(sandboxed, name):
    number, by = WRONG[name]
    result = graded(name, number)
    assert result.status == "wrong" and result.share == 0.0 and by in failed(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(WAITS, ()))
def test_what_waits_is_for_a_person(sandboxed, name):
    result = graded(name, WAITS[name])
    assert result.status == FOR_A_PERSON and result.share == 0.0 and not failed(result), str(result)
    assert "`if int(" in result.message


@pytest.mark.slow
@pytest.mark.parametrize("name", some(RIGHT, tuple(RIGHT)[:1]))
def test_right_repairs_of_other_forms_pass(sandboxed, name):
    result = graded(name, RIGHT[name])
    assert result.passed, str(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(TRAINED, ("attack_sampled_steps_01",)))
def test_attacks_in_plain_words_are_refused(sandboxed, name):
    result = graded(name, TRAINED[name])
    assert result.status == "wrong" and result.share == 0.0, str(result)


@pytest.mark.parametrize("name", ASIDE)
def test_attacks_on_the_process_are_set_aside(name):
    case = scenario(ASIDE[name])
    aside = set_aside.set_aside((HANDINS / f"{name}.txt").read_text(), tidy(case.source))
    assert aside is not None and aside.status == FOR_A_PERSON


@pytest.mark.slow
@pytest.mark.parametrize("name", some(ASIDE, ("attack_forge_files_good_weights",)))
def test_they_earn_nothing_where_they_run_all_the_same(sandboxed, name):
    result = graded(name, ASIDE[name])
    assert not result.passed and result.share == 0.0, str(result)


@pytest.mark.slow
def test_an_error_with_control_characters_is_shown_without_them(sandboxed):
    result = graded("attack_ansi_error", "01")
    assert result.status == "your code raised" and "\x1b" not in str(result)


def test_every_hand_in_has_its_test():
    names = {*WRONG, *WAITS, *RIGHT, *ASIDE, *TRAINED, "attack_ansi_error"}
    assert names == {path.stem for path in HANDINS.glob("*.txt")}
    assert load("04").handed_out and len(names) == 21
