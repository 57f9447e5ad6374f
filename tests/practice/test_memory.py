"""What is due: FSRS over everything that was answered, whatever it was answered in."""

from pathlib import Path

import pytest

from bugzoo import faults, record
from bugzoo.cards import card as one_card
from bugzoo.errors import UserError
from bugzoo.practice import answers, standing
from bugzoo.practice.memory import DAY
from tests.practice.conftest import START
from tests.test_events import REPORT

STALE, SOFTMAX = "loop/stale_gradients", "loss/double_softmax"


def on(day: float, *family: str):
    return standing(family, START + day * DAY)


def test_at_first_everything_is_new_and_nothing_is_due() -> None:
    now = standing()
    assert now.due == [] and now.new == list(now.causes) and len(now.causes) > 100
    assert not any(name.startswith("traps/") for name in now.causes)
    assert {one.split("/")[0] for one in standing(["loss"]).causes} == {"loss"}
    assert not record.path().exists(), "asking makes no file"


def test_what_was_missed_comes_back_today_and_what_was_found_later(said) -> None:
    said(STALE, False, 0)
    said(SOFTMAX, True, 0)
    assert on(0).due == [] and [one.cause for one in on(0.02).due] == [STALE]
    assert on(0.02).due[0].recall(START) == 0.0
    assert {one.cause for one in on(4).due} == {STALE, SOFTMAX}
    assert [one.cause for one in on(4, "loss").due] == [SOFTMAX]


def test_each_time_that_it_is_found_it_stays_away_for_longer(said) -> None:
    day, waits = 0.0, []
    for _ in range(5):
        said(STALE, True, day)
        memory = on(day).memories[STALE]
        waits.append(memory.due / DAY - START / DAY - day)
        day += waits[-1] + 0.01
    assert waits == sorted(waits) and waits[0] >= 1 and waits[-1] > 10 * waits[0]
    said(STALE, False, day)
    assert on(day).memories[STALE].stability < waits[-1] / 2


def test_who_doubts_sees_it_sooner(said) -> None:
    for day in (0, 5):
        said(STALE, True, day, 90)
        said(SOFTMAX, True, day, 30)
    found = on(5).memories
    assert found[SOFTMAX].stability < found[STALE].stability


def test_a_clock_set_back_breaks_nothing(said) -> None:
    for day in (0, 3, -4000, 10, 5000, 11):
        said(STALE, True, day)
    now = on(12)
    assert [round((one.at - START) / DAY) for one in now.answers] == [0, 3, 3, 10, 10, 11]
    assert now.memories[STALE].due > START + 11 * DAY
    assert on(-300).due == [] and on(-300).memories[STALE].recall(START - 300 * DAY) > 0.99, "now itself is set back"


def test_cards_drills_exercises_and_hunts_are_one_memory(monkeypatch) -> None:
    monkeypatch.setattr(record.time, "time", lambda: START)
    ill = one_card.make(STALE, "mlp")
    assert ill and ill.answer(ill.wrong[0], 4.0, 90)[0]
    well = one_card.make(SOFTMAX, "mlp", healthy=True)
    assert well and well.answer(0, 4.0, 60)[0]
    number = record.start_interview("Z-1", 3, 5, Path("case"))
    record.end_interview(number, "finished", REPORT | {"sure": 70})
    record.attempt("01_standing_still", "repair", "wrong", 0, 7)
    record.attempt("01_standing_still", "diagnosis", "passed", 3, 3)
    record.event("hunt", "H-1/1", {"cause": "attention/mask_after_softmax", "right": True, "seconds": 300.0})
    found = answers(START + 1)
    kinds = [(one.kind, one.fault, one.family, one.right, one.sure) for one in found]
    exercise = kinds.pop(3)
    assert exercise[0] == "exercise" and exercise[1] in faults.catalogue() and exercise[3] is False
    assert kinds == [
        ("card", STALE, "loop", True, 90.0), ("card", SOFTMAX, "nothing is wrong", True, 60.0),
        ("drill", STALE, "loop", False, 70.0), ("hunt", "attention/mask_after_softmax", "attention", True, None),
    ]  # fmt: skip
    drill = found[2]
    assert drill.named and drill.brier == pytest.approx(0.09), (
        "how sure is about the cause, right about the repair as well"
    )
    now = standing(now=START + 1)
    assert len(now.memories[STALE].answers) == 2
    assert SOFTMAX not in now.memories or exercise[1] == SOFTMAX, "lines that are well say nothing about their fault"
    record.forget("01_standing_still")
    assert len(answers(START + 1)) == 4, "what was forgotten there is forgotten here"


def test_what_nobody_knows_is_passed_over() -> None:
    record.event("hunt", "H-1", {"cause": "gone/long_ago", "right": True, "sure": 400, "seconds": "many"})
    record.event("hunt", "H-2", {"what": "says nothing"})
    record.attempt("99_of_another_bugzoo", "repair", "passed", 7, 7)
    (only,) = answers()
    assert only.fault == "gone/long_ago" and only.sure is None and only.seconds is None and only.brier is None
    assert standing(now=only.at + 100 * DAY).due == []


@pytest.mark.parametrize(("family", "text"), [("los", "Did you mean loss"), ("traps", "by themselves")])
def test_bad_families(family, text) -> None:
    with pytest.raises(UserError, match=text):
        standing([family])
