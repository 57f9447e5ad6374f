"""After each cause a form asks which test tells it from another; a wrong cause is answered by what the run shows."""

from dataclasses import replace
from typing import Any

import pytest

from bugzoo import faults, views
from bugzoo.diagnostics.causes import NOTHING, OTHER, cause
from bugzoo.faults.evidence import parse
from bugzoo.grading import against, cell
from bugzoo.grading.answers import causes, grade_diagnosis, pairs, right
from bugzoo.grading.exercises import load, with_diagnosis
from bugzoo.lab.healthy_twin import Curve
from bugzoo.running import Reading
from bugzoo.scenario import misfit


@pytest.mark.parametrize("name", list(with_diagnosis()))
def test_every_offered_cause_has_its_question(name: str) -> None:
    exercise = load(name)
    questions = pairs(exercise)
    assert set(questions) == set(causes(exercise)) - {OTHER, NOTHING}, "none can be ruled out by what is asked"
    for word, pair in questions.items():
        fault = faults.load(pair.fault)
        assert word in right(exercise).causes or cause(fault.id).word == word
        assert pair.other != word and pair.other in causes(exercise) and len(pair.tests.texts) == 4
        tests = {like.test for like in fault.look_alikes}
        chosen = dict(zip("ABCD", pair.tests.texts, strict=True))
        assert chosen[pair.tests.letter] in tests and not tests & {
            text for letter, text in chosen.items() if letter != pair.tests.letter
        }, "every test that the debrief lists for a cause is right"


@pytest.mark.slow
def test_a_case_of_one_process_is_offered_no_cause_of_ranks() -> None:
    for name in ("17", "28", "30"):
        for seed in range(12):
            case = replace(load(name), seed=seed)
            assert set(pairs(case)) == set(causes(case)) - {OTHER, NOTHING} and "rank" not in " ".join(causes(case))


@pytest.mark.parametrize("name", list(with_diagnosis()))
def test_the_program_can_have_each_cause_of_the_menu(name: str) -> None:
    exercise = load(name)
    if exercise.kind.program:
        for word in set(causes(exercise)) - {OTHER, NOTHING, *exercise.kind.suspected(exercise)}:
            suspects = [fault for fault_id, fault in faults.catalogue().items() if cause(fault_id).word == word]
            assert any(not misfit(fault, exercise.program) for fault in suspects), word


def test_the_right_cause_stands_anywhere_in_the_menu() -> None:
    cases = [replace(load("10"), seed=seed) for seed in range(40)]
    places = [causes(case).index(right(case).causes[0]) for case in cases]
    assert len(set(places)) >= 6 and places.count(0) <= 13 and all(causes(case)[-1] == OTHER for case in cases)


@pytest.mark.parametrize("name", list(with_diagnosis()))
def test_the_form_does_not_hold_the_letter(name: str) -> None:
    form = cell.form(name)
    assert {cause: len(texts) for cause, (_, texts) in form.pairs.items()} == dict.fromkeys(form.pairs, 4)
    assert set(vars(form)) >= {"pairs"} and "letter" not in repr(vars(form))


def seen(monkeypatch: Any, numbers: dict[str, float]) -> None:
    monkeypatch.setattr(against, "measured", lambda names, *_: {name: Reading(numbers) for name in names})


def test_a_wrong_cause_is_answered_by_what_was_seen(monkeypatch: Any) -> None:
    seen(monkeypatch, {"fresh_gradient.stale_share": 0.0})
    message = against.answer(load("07"), "gradients from earlier batches", ["gradients"])
    assert message.startswith("You saw it: in the view `gradients`, share of steps that begin with a gradient")
    assert "is 0 (usual: 0 to 0.1)" in message and "it would be above 0.5" in message
    message = against.answer(load("07"), "gradients from earlier batches", ["loss_curve"])
    assert message.startswith("You did not open the view that speaks against it: in the view `gradients`")


def test_nothing_is_wrong_is_answered_by_how_the_run_ends(monkeypatch: Any) -> None:
    healthy = against.healthy_text(load("10"))
    good = Curve((1, 2), (2.0, 0.5), (1, 1), {"accuracy": 0.9})
    poor = Curve((1, 2), (2.0, 1.5), (1, 1), {"accuracy": 0.3})
    monkeypatch.setattr(against, "recorded", lambda text, ranks: good if text == healthy else poor)
    assert against.answer(load("10"), NOTHING, []) == (
        "Something is: its training loss in the last tenth is 1.5, and that of a healthy run 0.5."
    )
    lost = Curve((1, 2), (2.0, float("nan")), (1, 1), {"accuracy": 0.3})
    monkeypatch.setattr(against, "recorded", lambda text, ranks: good if text == healthy else lost)
    assert "its training loss in the last tenth is nan" in against.answer(load("10"), NOTHING, [])


def test_a_number_that_speaks_against_a_cause_does_so_in_each_of_its_meanings(monkeypatch: Any) -> None:
    """Over all exercises and causes: whatever the number, no fault with this cause explains it, or the sentence names one."""
    told = 0
    for exercise in with_diagnosis().values():
        for word in set(causes(exercise)) - {OTHER, NOTHING, *right(exercise).causes} if exercise.kind.program else ():
            kin = [fault for fault_id, fault in faults.catalogue().items() if cause(fault_id).word == word]
            claims = [parse(text) for fault in kin for text in fault.evidence]
            for value in (0.0, 0.01, 0.1, 0.8, 1.0, 1e6):
                seen(monkeypatch, {claim.left: value for claim in claims})
                for suspect in kin:
                    sentence = against._number(exercise, word, suspect, [])
                    if not sentence:
                        continue
                    told += 1
                    row = next(
                        row for view in views.names() for row in views.rows(view) if f", {row.label} is " in sentence
                    )
                    about = [claim for claim in claims if claim.left == row.source]
                    numbers = against._as_numbers(about[0], value)
                    assert not any(claim.holds({"numbers": numbers, "outcome": "", "metrics": {}}) for claim in about)
                    silent = [fault for fault in kin if row.source not in [parse(text).left for text in fault.evidence]]
                    assert not silent or suspect.title in sentence, (exercise.name, word, sentence)
    assert told > 300


def test_where_no_number_speaks_the_look_alike_does(monkeypatch: Any) -> None:
    seen(monkeypatch, {})
    like = load("10").about_fault[0].look_alikes[0]
    message = against.answer(load("10"), cause(like.other).word, [])
    assert message.startswith(like.test) and "If it were that: " in message and "Here: " in message
    assert against.answer(load("10"), "tensors on different devices", []) == against.NOTHING_SPEAKS
    assert against.answer(load("10"), OTHER, []) == against.NOTHING_SPEAKS


def test_the_answer_stands_before_the_certainty(monkeypatch: Any) -> None:
    seen(monkeypatch, {})
    record = {"cause": OTHER, "place": 1, "sure": 80}
    result = against.answered(load("10"), record, grade_diagnosis("10", record))
    assert result.message == f"{against.NOTHING_SPEAKS} Look further. You were 80 % sure of this cause."
    good = {"cause": right(load("10")).causes[0], "sure": 30}
    assert against.answered(load("10"), good, grade_diagnosis("10", good)).message.startswith("The cause is right.")


def test_of_two_true_causes_the_other_is_said() -> None:
    first, second = right(load("07")).causes
    assert f"ok  Cause: You named “{second}”. Also right: {first}." in str(grade_diagnosis("07", {"cause": second}))
