"""Exercises with something odd in them that is harmless: it stands in the text, and neither keeping nor removing it decides."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from bugzoo.grading.answers import filled, grade_diagnosis
from bugzoo.grading.debrief import text
from bugzoo.grading.exercises import exercises
from bugzoo.grading.grade import handed_out, healthy_text, same_program
from bugzoo.grading.model import Exercise
from bugzoo.proving.trials import trials

WITH: Mapping[str, Exercise] = {name: one for name, one in exercises().items() if one.decoys}


def test_about_one_exercise_in_five_has_one_among_the_later_ones() -> None:
    assert len(WITH) >= 7 and all(int(name[:2]) > 20 for name in WITH)


@pytest.mark.parametrize("name", WITH)
def test_fault_and_decoy_stand_in_the_text_and_either_may_be_taken_out_alone(name: str) -> None:
    exercise = WITH[name]
    assert all(fault.trap for fault, _ in exercise.repaired.specs)
    made = {trial.name: trial for trial in trials(exercise)}
    texts = [handed_out(exercise), healthy_text(exercise)]
    texts += [made[told].source for told in ("all that is odd taken out", "only what is harmless taken out")]
    assert not any(same_program(a, b) for number, a in enumerate(texts) for b in texts[:number])
    assert made["all that is odd taken out"].kind == "correct"
    assert made["only what is harmless taken out"].kind == "degenerate"


@pytest.mark.parametrize("name", WITH)
def test_who_blames_it_is_wrong_and_is_told_at_the_end(name: str) -> None:
    exercise = WITH[name]
    fault, _ = exercise.repaired.specs[0]
    assert grade_diagnosis(name, filled(exercise)).share == 1
    odd = set(handed_out(exercise).splitlines()) - set(handed_out(replace(exercise, decoys=())).splitlines())
    if odd:  # of one that takes a line out there is none to blame
        place = next(number for number, line in enumerate(handed_out(exercise).splitlines(), 1) if line in odd)
        assert grade_diagnosis(name, filled(exercise) | {"place": place}).share < 1, (
            "the harmless line passes as the place"
        )
    assert f"Odd, and harmless: {fault.title}" in text(exercise)


def test_what_the_fault_asks_for_is_asked_of_the_repaired_program_too() -> None:
    for exercise in exercises().values():
        assert replace(exercise, decoys=()).repaired == exercise.scenario.healthy(), exercise.name


def test_where_several_faults_stand_one_is_diagnosed_and_all_are_repaired() -> None:
    several = [one for one in exercises().values() if one.beside]
    assert len(several) >= 2
    for exercise in several:
        made = list(trials(exercise))
        assert len({(trial.kind, trial.name) for trial in made}) == len(made), "one would write over another"
        halves = [trial for trial in made if trial.name.startswith("only fault")]
        assert len(halves) == len(exercise.scenario.faults) and {trial.kind for trial in halves} == {"half"}
        assert healthy_text(exercise) in [trial.source for trial in made if trial.kind == "solution"]
        assert grade_diagnosis(exercise.name, filled(exercise)).share == 1
        assert all(fault.title in text(exercise) for fault, _ in exercise.scenario.specs), "the debrief tells of each"
