"""A right diagnosis is right however it is written down, and a wrong one is not told what is right."""

import pytest

from bugzoo import faults
from bugzoo.choices import Choices
from bugzoo.choices import choices as choices_of
from bugzoo.diagnostics.causes import cause as row_of
from bugzoo.diagnostics.causes import words
from bugzoo.grading.answers import filled, grade_diagnosis, offered
from bugzoo.grading.answers import right as right_of
from bugzoo.grading.diagnosis import ASSIGNMENT, EXERCISE, INTERVIEW, NEAR, Right, judge, worth
from bugzoo.grading.exercises import load, with_diagnosis
from bugzoo.grading.grade import grade_exercise

NAMES = [name for name, exercise in with_diagnosis().items() if exercise.kind.name != "two"]
"""Those with one form; `test_two.py` grades two findings."""


def right(name: str) -> dict:
    return filled(load(name))


@pytest.mark.parametrize("name", NAMES)
def test_spaces_capitals_quotes_and_brackets_cost_nothing(name):
    answer, choices = right(name), offered(load(name))
    asked = (
        [] if load(name).trap else [choices.texts["ABCD".index(choices.letter)]]
    )  # where nothing is wrong, no test is
    ways = [
        {"cause": f"  {answer['cause'].capitalize()}. "},
        {"place": answer["place"] and str(answer["place"])},
        {"place": answer["place"] and f"line {answer['place']}"},
        {"place": answer["place"] and float(answer["place"]), "step": answer["step"] and str(answer["step"])},
        {"evidence": answer["evidence"][0]},
        {"evidence": (answer["evidence"][0].replace("_", " ").title(), "data_inspection")},
        *(
            {"test": way}
            for text in asked
            for way in (answer["test"].lower(), f"({answer['test']})", f"test {answer['test']}", text, f" {text}.")
        ),
    ]
    for way in ways:
        result = grade_diagnosis(name, answer | way)
        assert result.passed and result.share == 1, (way, str(result))


def test_what_is_wrong_stays_wrong():
    name = "04_flat_loss"
    correct = right(name)
    other = next(letter for letter in "ABCD" if letter != correct["test"])
    wrong = {
        "place": (1, "1", "nowhere", True, None, [], -57),
        "evidence": ([], "", "the loss", None, 7),
        "test": (other, "", None, "a loss that falls", "Z", 2),
        "cause": ("nothing is wrong", "a wrong learning rate"),
    }
    for field, answers in wrong.items():
        for answer in answers:
            result = grade_diagnosis(name, correct | {field: answer})
            assert result.share < 1 and not next(c for c in result.checks if c.name == field).passed, (field, answer)
    partly = grade_diagnosis(name, correct | {"test": other})
    assert partly.share == 0.8 and "cause is right" in partly.message


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_cause_is_not_told_the_right_one(name):
    answer = right(name)["cause"]
    wrong = next(cause for cause in ("a wrong learning rate", "bad weight initialization") if cause != answer)
    message = str(grade_diagnosis(name, right(name) | {"cause": wrong}))
    message += str(grade_exercise(name, load(name).handed_out, {"cause": wrong}))
    assert answer not in message and "is healthy" not in message


@pytest.mark.parametrize("line", ["%matplotlib inline", "!nvidia-smi"])
def test_what_only_a_notebook_understands_is_named(line):
    name = "04_flat_loss"
    result = grade_exercise(name, f"{load(name).handed_out}{line}\n")
    assert result.status == "cannot be graded" and line in result.message and "its own cell" in result.message


def test_what_is_no_cause_costs_nothing_and_is_told_the_list():
    result = grade_diagnosis("04_flat_loss", right("04_flat_loss") | {"cause": "gremlins"})
    assert result.status == "not attempted" and not result.checks
    assert "'gremlins' is not a known cause" in result.message and all(word in result.message for word in words())


def test_words_that_people_use_and_every_cause_that_is_true_count():
    assert grade_diagnosis("04_flat_loss", right("04_flat_loss") | {"cause": "double softmax"}).passed
    assert len(right_of(load("07")).causes) == 2
    for cause in ("a function outside its domain, such as log or sqrt", "a dtype with too little range or precision"):
        assert grade_diagnosis("07_sudden_nan", right("07_sudden_nan") | {"cause": cause}).passed


def test_a_line_that_some_accepted_repair_changes_is_a_place():
    lines = load("04").handed_out.splitlines()
    by_hand = next(number for number, line in enumerate(lines, 1) if "return self.head" in line)
    assert "return F.log_softmax(self.head" in load("04").kind.accepted(load("04"))["the model gives log-probabilities"]
    for place, good in ((by_hand, True), (by_hand - NEAR, True), (by_hand - NEAR - 6, False)):
        assert grade_diagnosis("04_flat_loss", right("04_flat_loss") | {"place": place}).passed == good


@pytest.mark.parametrize("name", [name for name in NAMES if not load(name).trap])
def test_the_choices_are_as_long_as_each_other_and_one_tells(name):
    choices, fault = offered(load(name)), load(name).about_fault[0]
    lengths = [len(text) for text in choices.texts]
    assert len(set(choices.texts)) == 4 and max(lengths) < 1.4 * min(lengths), lengths
    # the nearest look-alike that the form does not call by the same cause
    like = next(
        look_alike
        for look_alike in fault.look_alikes
        if row_of(look_alike.other).word not in right_of(load(name)).causes
    )
    assert choices.texts["ABCD".index(choices.letter)] == like.test
    tests = {look_alike.test for look_alike in fault.look_alikes}
    assert len(tests & set(choices.texts)) == 1


def test_the_right_choice_is_neither_at_one_place_nor_the_longest():
    offers = [offered(exercise) for exercise in with_diagnosis().values() if not exercise.trap]
    longest = [max(offer.texts, key=len) == offer.texts["ABCD".index(offer.letter)] for offer in offers]
    assert len({offer.letter for offer in offers}) >= 3 and sum(longest) <= len(offers) / 2


def test_one_grader_weighs_the_same_parts_three_ways():
    solution = Right(("a wrong learning rate",), ((10, 11),), ("loss_curve",), test=Choices(("one", "two"), "B"))
    answer = {"cause": "lr", "place": 14, "evidence": ["mode_watch", "loss_curve"], "test": "two"}
    source = "\n" * 5 + "# %% Training\n" + "\n" * 50
    earned = {of: worth(judge(solution, answer, of, source), of) for of in (EXERCISE, ASSIGNMENT, INTERVIEW)}
    assert earned == pytest.approx({EXERCISE: 1.0, ASSIGNMENT: 1.0, INTERVIEW: 65.0})
    far = {of: worth(judge(solution, answer | {"place": 40}, of, source), of) for of in earned}
    assert far == pytest.approx({EXERCISE: 0.8, ASSIGNMENT: 0.7, INTERVIEW: 55.0}), (
        "the right section counts in an interview"
    )


def test_a_step_counted_from_zero_is_accepted_and_said():
    answer = right("07_sudden_nan")
    from_zero = grade_diagnosis("07", answer | {"step": answer["step"] - 1})
    assert from_zero.passed and "counted from 0; optimizer steps are counted from 1 here" in str(from_zero)
    assert not grade_diagnosis("07", answer | {"step": answer["step"] - 2}).passed


def test_every_part_is_worth_a_whole_point():
    answer = right("07_sudden_nan")
    assert grade_diagnosis("07", answer).points == 5.0
    for part in ("place", "step", "evidence", "test"):
        assert grade_diagnosis("07", answer | {part: None}).points == 4.0, part


def test_a_step_that_was_asked_for_is_not_called_unasked():
    message = str(grade_diagnosis("04", right("04_flat_loss") | {"step": 1}))
    assert "no single first step" in message and "no onset" not in message


def test_a_wrong_cause_is_told_that_one_can_go_on():
    result = grade_diagnosis("04", right("04_flat_loss") | {"cause": "a wrong learning rate"})
    assert (
        result.points == 0
        and "Look further" in result.message
        and "NO  Cause: Not “a wrong learning rate”." in str(result)
    )


def test_a_program_of_one_process_is_offered_no_test_of_ranks():
    """Everybody sees there that it is not the answer."""
    for exercise in with_diagnosis().values():
        for key in (exercise.scenario.ticket, *"abcdefgh"):
            assert "rank" not in " ".join(choices_of(exercise.about_fault[0], key).texts), exercise.name


def test_a_fault_that_is_added_moves_the_right_answer_nowhere(monkeypatch):
    letters = {exercise.name: offered(exercise).letter for exercise in with_diagnosis().values()}
    ids = {fault.id for exercise in with_diagnosis().values() for fault, _ in exercise.about_faults}
    fewer = {name: fault for at, (name, fault) in enumerate(faults.catalogue().items()) if at % 2 or name in ids}
    monkeypatch.setattr(faults, "catalogue", lambda: fewer)
    assert {exercise.name: offered(exercise).letter for exercise in with_diagnosis().values()} == letters


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"cause": "something else"}, ["NO  Cause: Not “something else”."]),
        ({"place": 3}, ["NO  Line: You named line 3. Right is the line to change, within 3 lines."]),
        ({"place": None}, ["NO  Line: You named no line."]),
        (
            {"step": None, "test": "Q"},
            ["NO  First step: You named no step.", "NO  Test: 'Q' is not one of the letters."],
        ),
        ({"evidence": []}, ["NO  Views: No view was opened. Right is a view that shows it."]),
        ({"evidence": ["loss_curve"]}, ["Views: You opened loss_curve.", "ok  Test: You chose test "]),
    ],
)
def test_each_part_is_told_in_a_sentence(answer, said):
    text = str(grade_diagnosis("07_sudden_nan", right("07_sudden_nan") | answer))
    assert all(phrase in text for phrase in said), text
