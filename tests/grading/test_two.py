"""Two faults in one program: two findings in any order, half of the points for one repair, and a proof that can fail."""

from dataclasses import replace
from typing import Any

import pytest

import bugzoo.grading.grade as room
from bugzoo.diagnostics.causes import NOTHING, OTHER
from bugzoo.grading import against, partial_credit
from bugzoo.grading.answers import causes, filled, grade_diagnosis, pairs, right
from bugzoo.grading.debrief import text as debriefed
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.grade import HALF, grade_exercise
from bugzoo.grading.halves import PLAIN, half, halves
from bugzoo.grading.kinds import Repair, Two
from bugzoo.grading.kinds.two import IN_TWO, ONE_OF_TWO, findings, proof
from bugzoo.grading.kinds.two.findings import KEY
from bugzoo.grading.model import Check, Result
from bugzoo.grading.texts import healthy_text, same_program
from bugzoo.grading.trials import AT_MOST, Trial, verdict
from bugzoo.grading.trials import HALF as HALF_TRIAL
from bugzoo.instructor.combinations import listed
from bugzoo.instructor.tasks import ExerciseTask
from bugzoo.proving import check
from bugzoo.running import Reading
from bugzoo.scenario import parse_spec

NAME = "18_one_behind_the_other"
TWO = [name for name, exercise in exercises().items() if exercise.kind.name == "two"]
ONE, OTHER_ONE = (filled(load(NAME), of) for of in (0, 1))


def graded(*given: Any) -> Result:
    return grade_diagnosis(NAME, {KEY: list(given)})


def test_its_kind_has_two_faults_two_forms_and_hints_that_take_turns() -> None:
    exercise = load(NAME)
    assert TWO == [NAME] and exercise.kind.name == "two" and len(exercise.faults) == 2
    assert exercise.forms == tuple(f"{exercise.scenario.ticket}/{number}" for number in (1, 2))
    first, second = (fault.hints for fault, _ in exercise.about_faults)
    assert exercise.hints == (first[0], second[0], first[1], second[1], first[2], second[2])
    alone = replace(exercise, kind=Repair())
    assert alone.kind.name == "repair" and alone.forms == (alone.scenario.ticket,) and alone.hints == first


@pytest.mark.parametrize("name", [one.name for name in TWO for one in (load(name), *check.another.ends(load(name)))])
def test_each_pair_is_proved_to_show_side_by_side(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS", raising=False)  # the ledger of this checkout
    exercise = load(name)
    ids = tuple(parse_spec(spec)[0] for spec in exercise.faults)
    [entry] = [one for one in listed(ids, [exercise.program]) if set(one.ids) == set(ids)]
    assert entry.known and entry.problems == []


@pytest.mark.parametrize("given", [(ONE, OTHER_ONE), (OTHER_ONE, ONE)])
def test_both_orders_earn_all_points(given: tuple[dict[str, Any], ...]) -> None:
    result = graded(*given)
    assert result.passed and result.points == 10.0 and len(result.checks) == 10, str(result)
    less = graded(given[0], given[1] | {"test": "Z"})
    assert less.points == 9.0 and "Both causes are right" in less.message
    assert [failure.name for failure in less.checks if not failure.passed] == ["Finding 2, test"]


@pytest.mark.parametrize(
    ("given", "points", "said"),
    [
        ((ONE, {}), 5.0, "Finding 2: The form was left open."),
        (({}, ONE), 5.0, "Finding 1: The form was left open."),
        ((OTHER_ONE,), 5.0, "One cause is right. Look further for the other one."),
        ((ONE, ONE), 5.0, "The other finding names this cause too. It counts once."),
        ((ONE, OTHER_ONE | {"cause": NOTHING}), 5.0, f"NO  Finding 2, cause: Not “{NOTHING}”."),
        ((ONE | {"cause": OTHER}, OTHER_ONE | {"sure": 80}), 5.0, "You were 80 % sure of finding 2."),
        ((ONE | {"cause": NOTHING}, OTHER_ONE | {"cause": NOTHING}), 0.0, "Look further."),
        (
            (ONE | {"place": OTHER_ONE["place"]}, OTHER_ONE | {"place": ONE["place"]}),
            8.0,
            "Finding 1, line: You named line",
        ),
    ],
)
def test_what_is_missing_or_wrong_costs_its_own_finding(given: Any, points: float, said: str) -> None:
    result = graded(*given)
    assert (result.status, result.points) == ("wrong", points) and said in str(result), str(result)


@pytest.mark.parametrize("record", [None, {}, {KEY: []}, {KEY: "first"}, {KEY: [1, None]}, {KEY: [{"place": 3}, {}]}])
def test_without_a_cause_nothing_is_graded(record: Any) -> None:
    result = grade_diagnosis(NAME, record)
    assert (result.status, result.message, result.checks) == ("not attempted", "The diagnosis is empty.", [])


def test_an_unknown_cause_names_its_finding_and_a_single_record_is_the_first_form() -> None:
    result = graded(ONE, {"cause": "gremlins"})
    assert result.status == "not attempted" and result.message.startswith("Finding 2: 'gremlins' is not a known cause")
    assert grade_diagnosis(NAME, OTHER_ONE).points == 5.0


def test_both_forms_offer_both_causes_and_no_test_tells_one_from_the_other() -> None:
    exercise = load(NAME)
    choices, true = causes(exercise), [right(exercise, of).causes[0] for of in (0, 1)]
    assert set(true) < set(choices) and NOTHING in choices and len(choices) == 8
    for of in (0, 1):
        pair = pairs(exercise)[true[of]]
        assert pair.other not in true and pair.tests == right(exercise, of).test
        assert pair.fault == exercise.about_faults[of][0].id


def test_each_wrong_finding_is_answered_and_a_repeated_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against, "measured", lambda names, *_: {name: Reading({}) for name in names})
    answers = [ONE | {"cause": "bad weight initialization"}, OTHER_ONE]
    message = load(NAME).kind.answered(load(NAME), {KEY: answers}, graded(*answers)).message
    assert (
        message.startswith("Finding 1: ")
        and against.MENDED in message
        and message.endswith("Look further for the other one.")
    )
    vague = [ONE | {"cause": OTHER}, OTHER_ONE | {"cause": OTHER}]
    message = load(NAME).kind.answered(load(NAME), {KEY: vague}, graded(*vague)).message
    assert message == f"Finding 1: {against.NOTHING_SPEAKS} Finding 2: {against.NOTHING_SPEAKS} Look further."
    for answers in ([ONE, ONE], [ONE, {}], [ONE, OTHER_ONE | {"place": 1}]):
        assert "Finding" not in load(NAME).kind.answered(load(NAME), {KEY: answers}, graded(*answers)).message


def test_typed_calls_of_a_class_count_for_both() -> None:
    task = ExerciseTask(load(NAME))
    assert task.diagnosis("ada", [OTHER_ONE, ONE, {}, {}]).points == 10.0
    assert task.diagnosis("ada", [ONE, {"cause": ""}, OTHER_ONE, {}]).points == 5.0, "there is no third form"


def test_one_repair_is_half_of_an_exercise_and_less_of_an_assignment(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []

    def grade(source: str, case: Any, *, partly: float = HALF, **how: Any) -> Result:
        shares.append(partly)
        return Result("wrong", partly / 2, [Check("symptom", "wrong", "It still shows.", group="gone")])

    monkeypatch.setattr(room, "grade", grade)
    result = grade_exercise(NAME, half(load(NAME), 0))
    assert (result.points, result.max_points, result.message) == (5.0, 10.0, ONE_OF_TWO)
    assert shares == [IN_TWO] and HALF == 0.6, "an assignment does not say how many faults it has"


def test_texts_with_one_repair_lack_one_fault_and_those_with_both_lack_both() -> None:
    exercise = load(NAME)
    broken, healthy = exercise.handed_out, healthy_text(exercise)
    for of in (0, 1):
        fault = exercise.about_faults[of][0]
        own_line = "cross-entropy by torch"  # the solution's
        assert list(halves(exercise, of)) == [PLAIN, *(name for name in fault.repairs if name != own_line)]
        mended = partial_credit.without(exercise.scenario, (fault.id,))
        assert [left.id for left, _ in mended.specs] == [exercise.about_faults[1 - of][0].id]
    texts = exercise.kind.accepted(exercise)
    assert len(texts) == 12 and texts["solution"] == healthy
    partly = [text for of in (0, 1) for text in halves(exercise, of).values()]
    every = [broken, *partly, *texts.values()]
    assert not any(same_program(first, other) for place, first in enumerate(every) for other in every[:place])


@pytest.mark.slow
def test_the_proof_tries_each_repair_alone_and_every_combination() -> None:
    trials = list(load(NAME).kind.trials(load(NAME)))
    count = {kind: sum(trial.kind == kind for trial in trials) for kind in (HALF_TRIAL, AT_MOST, "correct", "attack")}
    assert count[HALF_TRIAL] == 7 and count["correct"] == 11 and count[AT_MOST] >= 5 and count["attack"] >= 15
    assert load(NAME).kind.thin(load(NAME), trials) == []
    few = [trial for trial in trials if trial.kind != HALF_TRIAL]
    assert [text.rpartition(": ")[2] for text in load(NAME).kind.thin(load(NAME), few)] == [
        "0 correct repairs; at least 3 are needed"
    ] * 2
    for end in check.another.ends(load(NAME)):
        assert sum(trial.kind == HALF_TRIAL for trial in end.kind.of_an_end(end)) == 2


@pytest.mark.parametrize(
    ("kind", "status", "share", "good"),
    [
        (HALF_TRIAL, "wrong", 0.5, True),
        (HALF_TRIAL, "wrong", 0.3, False),
        (HALF_TRIAL, "wrong", 0.0, False),
        (HALF_TRIAL, "passed", 1.0, False),
        (AT_MOST, "wrong", 0.5, True),
        (AT_MOST, "wrong", 0.0, True),
        (AT_MOST, "passed", 1.0, False),
        ("degenerate", "wrong", 0.5, False),
    ],
)
def test_a_wrong_share_is_noticed(kind: str, status: str, share: float, good: bool) -> None:
    problems = verdict(
        Trial(NAME, kind, "a text", ""), {"status": status, "share": share, "saw": ["why"], "seconds": 0.0}
    )
    assert (problems == []) == good and all("a text" in text for text in problems)


def test_findings_that_pay_wrongly_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    count, problems = proof.diagnoses(load(NAME))
    assert count > 100 and problems == []
    monkeypatch.setattr(Two, "grade_diagnosis", lambda *_: Result("passed", 1.0))
    assert len(proof.diagnoses(load(NAME))[1]) == count - 2
    monkeypatch.undo()
    monkeypatch.setattr(findings, "matched", lambda exercise, given: (0, 1))
    assert proof.diagnoses(load(NAME))[1], "only one order counts"


def test_the_debrief_shows_both_and_no_look_alike_that_is_the_other_one() -> None:
    exercise = load(NAME)
    text = debriefed(exercise)
    titles = [fault.title for fault, _ in exercise.about_faults]
    assert all(f"### {title}" in text for title in titles) and text.count("**Repair.**") == 2
    assert not any(f"**{title}.**" in text for title in titles) and text.count("```diff") == 1


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("of", [0, 1])
def test_a_real_repair_of_one_earns_half(of: int) -> None:
    result = grade_exercise(NAME, half(load(NAME), of), seeds=(0,))
    assert (result.status, result.points) == ("wrong", 5.0), str(result)
    assert ONE_OF_TWO in str(result)


@pytest.mark.slow
@pytest.mark.sampled(0)
@pytest.mark.parametrize("of", [0, 1])
def test_a_pretence_beside_it_earns_no_more_and_the_second_repair_the_rest(of: int) -> None:
    exercise = load(NAME)
    for trial in exercise.kind.trials(exercise):
        if trial.kind == AT_MOST and trial.name.startswith(exercise.about_faults[of][0].id):
            assert grade_exercise(NAME, trial.source, seeds=(0,)).share <= 0.5, trial.name
    assert grade_exercise(NAME, healthy_text(exercise), seeds=(0,)).points == 10.0
    assert grade_exercise(NAME, exercise.handed_out, seeds=(0,)).points == 0.0
