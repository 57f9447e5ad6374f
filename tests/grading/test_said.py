"""A right diagnosis is right however it is written down, and a wrong one is not told what is right."""

import pytest

from bugzoo.grading.answers import grade_diagnosis, places
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.grade import grade_exercise, handed_out

NAMES = list(exercises())


def right(name: str) -> dict:
    exercise = load(name)
    answers = exercise.answers
    place = None if exercise.trap else places(exercise)[0][0]
    step = answers.step and answers.step[0]
    return {
        "cause": answers.cause,
        "place": place,
        "step": step,
        "evidence": [answers.evidence[0]],
        "test": answers.test,
    }


@pytest.mark.parametrize("name", NAMES)
def test_spaces_capitals_quotes_and_brackets_cost_nothing(name):
    exercise, said = load(name), right(name)
    text = exercise.answers.tests["ABCD".index(exercise.answers.test)]
    ways = [
        {"cause": f"  {said['cause'].capitalize()}. "},
        {"place": said["place"] and str(said["place"])},
        {"place": said["place"] and f"line {said['place']}"},
        {"place": said["place"] and float(said["place"]), "step": said["step"] and str(said["step"])},
        {"evidence": said["evidence"][0]},
        {"evidence": (said["evidence"][0].replace("_", " ").title(), "data_inspection")},
        *(
            {"test": way}
            for way in (said["test"].lower(), f"({said['test']})", f"test {said['test']}", text, f" {text}.")
        ),
    ]
    for way in ways:
        result = grade_diagnosis(name, said | way)
        assert result.passed and result.share == 1, (way, str(result))


def test_what_is_wrong_stays_wrong():
    name = "01_flat_loss"
    said = right(name)
    wrong = {
        "place": (1, "1", "nowhere", True, None, [], -57),
        "evidence": ([], "", "the loss", None, 7),
        "test": ("A", "", None, "a loss that falls", "Z", 2),
        "cause": ("a loss", "nothing is wrong", "a learning rate"),
    }
    for field, answers in wrong.items():
        for answer in answers:
            result = grade_diagnosis(name, said | {field: answer})
            assert result.share < 1 and not next(c for c in result.checks if c.name == field).passed, (field, answer)
    partly = grade_diagnosis(name, said | {"test": "A"})
    assert partly.share == 0.85 and "cause is right" in partly.message


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_cause_is_not_told_the_right_one(name):
    answer = load(name).answers.cause
    wrong = "a learning rate"
    told = str(grade_diagnosis(name, right(name) | {"cause": wrong}))
    told += str(grade_exercise(name, handed_out(load(name)), {"cause": wrong}))
    assert answer not in told and "is healthy" not in told


@pytest.mark.parametrize("line", ["%matplotlib inline", "!nvidia-smi"])
def test_what_only_a_notebook_understands_is_named(line):
    name = "01_flat_loss"
    result = grade_exercise(name, f"{handed_out(load(name))}{line}\n")
    assert result.status == "cannot be graded" and line in result.message and "cell of its own" in result.message
