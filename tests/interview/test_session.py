"""Prices, guesses, points, the clock and the folder."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from bugzoo import faults
from bugzoo.diagnostics.causes import right as right_words
from bugzoo.errors import UserError
from bugzoo.grading.diagnosis import NEAR
from bugzoo.interview import rubric
from bugzoo.interview.deck import draw
from bugzoo.interview.evidence import BUDGET
from bugzoo.interview.play import counted
from bugzoo.interview.session import GUESSES, Session, open_folder
from bugzoo.sittings import HELP

RIGHT = "loop/stale_gradients"


def ask(session, *names):
    requests = {request.name: request for request in session.evidence.requests()}
    return [session.ask(requests[name]) for name in names]


def points(result):
    return {row["name"]: row["points"] for row in result["rows"]}


def test_evidence_is_real_and_has_a_price(session):
    (text,) = ask(session, "fresh_gradient")
    share = float(next(line for line in text.splitlines() if "stale_share" in line).split("=")[1])
    assert share > 0.5
    spent = session.evidence.spent
    assert spent > 0
    ask(session, "fresh_gradient")
    assert session.evidence.spent == spent, "what was seen is free"


def test_the_budget_is_a_budget(session):
    answers = ask(session, *[request.name for request in session.evidence.requests()])
    spent = session.evidence.spent
    assert spent > BUDGET and f"You are {spent - BUDGET} points over the budget of {BUDGET}" in answers[-1]
    assert points(session.close("finished"))["evidence spent"] <= -rubric.OVER * (spent - BUDGET)


def test_a_perfect_session_gets_everything(session, clock):
    ask(session, "fresh_gradient")
    clock.now += 30
    assert session.guess("a gradient that is older than its batch", 100)
    line = rubric.lines(session.case)[0][0]
    session.support(line, "fresh_gradient", session.case.fault.look_alikes[0].test)
    session.script.write_text(session.case.scenario.base)
    session.submit()
    result = session.close("finished")
    assert result["points"] == result["of"], result["rows"]
    assert result["score"] == 1.0
    assert result["debrief"]["cause"] == RIGHT
    assert "zero_grad" in result["debrief"]["diff"]
    assert "+++ handed in/train.py" in result["diff"] and "+        optimizer.zero_grad()" in result["diff"]
    assert result["events"][-1]["diff"] == result["diff"] and result["brier"] == 0 and result["sure"] == 100


def test_nothing_done_gets_nothing(session):
    assert session.close("given up")["points"] == 0


def test_guessing_without_looking_has_no_evidence(session):
    session.guess(faults.load(RIGHT))
    session.support(None, "", "")
    got = points(session.close("finished"))
    assert got["cause"] == rubric.CAUSE and got["evidence before guess"] == 0 and got["place"] == 0


def test_guessing_against_what_was_seen_costs_more(session, evidence, clock, tmp_path):
    wrong = faults.load("freezing/frozen_layers")
    session.guess(wrong)
    early = points(session.close("finished"))["wrong guess"]
    case = session.case
    second = Session(case, evidence, open_folder(case, tmp_path / "two", 5), 5, session._grade, clock)
    ask(second, "parameter_audit")  # shows that nothing is frozen
    second.guess(wrong)
    late = points(second.close("finished"))["wrong guess"]
    assert late == -rubric.AGAINST < early == -rubric.EARLY < 0


def test_words_are_held_against_everything_that_they_stand_for(session):
    ask(session, "parameter_audit")  # shows that nothing is frozen
    assert not session.guess("parameters that do not learn", 50)
    still = [one for one in session.causes() if one and "parameters that do not learn" in right_words(one.id)]
    assert session.diagnoses[0].against == all(session.evidence.contradicts(one.evidence) for one in still)
    assert len(still) > 1


def test_repair_leads_and_a_wrong_guess_against_what_was_seen_costs_most(session):
    of = {row["name"]: row["of"] for row in session.close("finished")["rows"]}
    assert of["repair"] > max(value for name, value in of.items() if name != "repair") and sum(of.values()) == 100
    assert of["repair"] > of["cause"] + of["place"] + of["evidence before guess"] > rubric.AGAINST
    assert rubric.AGAINST > max(rubric.EARLY, *HELP.values())


def test_a_cause_from_the_list_is_worth_half(session):
    assert session.show_list() == session.causes()
    assert session.guess(faults.load(RIGHT), 100)
    assert points(session.close("finished"))["cause"] == rubric.LISTED * rubric.CAUSE
    assert [one["event"] for one in session.events] == ["list", "guess"]


@pytest.mark.parametrize(("sure", "score"), [(100, 4), (50, 0), (0, -12), (None, 0)])
def test_confidence_is_scored_by_brier(session, sure, score):
    session.guess(faults.load(RIGHT), sure)
    result = session.close("finished")
    assert points(result)["confidence"] == score
    assert result["brier"] == (None if sure is None else (1 - sure / 100) ** 2)


def test_sure_is_a_share_of_a_hundred(session):
    for sure in (-1, 101):
        with pytest.raises(UserError, match="a whole number from 0"):
            session.guess(None, sure)
    assert not session.diagnoses


def test_the_less_a_look_was_needed_the_more_it_costs(session, evidence, clock, tmp_path):
    def spent(*names, outside=()):
        case = session.case
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        one = Session(
            case,
            replace(evidence, seen=[], spent=0, outside=[]),
            open_folder(case, folder, 5),
            5,
            session._grade,
            clock,
        )
        ask(one, *names)
        one.evidence.asked_outside(list(outside))
        row = next(row for row in one.close("given up")["rows"] if row["name"] == "evidence spent")
        return row["points"]

    twin = next(one.price for one in evidence.requests() if one.name == "healthy_twin")
    assert spent("fresh_gradient") == 0, "it shows the cause"
    assert spent("healthy_twin", "fresh_gradient") == 0, "a little looking around is free"
    assert spent("fresh_gradient", "healthy_twin") == -rubric.NEEDLESS * twin, "the cause had been shown"
    around = (
        "healthy_twin",
        "terminal",
        "mode_watch",
        "gradient_health",
        "parameter_audit",
        "scale_watch",
        "loss_curve",
    )
    assert -10 <= spent(*around) < 0, "much looking around is not"
    assert spent("fresh_gradient", outside=["show", "checkup"]) == -(HELP["show"] + HELP["checkup"])


def test_a_session_is_taken_up_where_it_stopped(session, evidence, clock, tmp_path):
    ask(session, "fresh_gradient", "healthy_twin")
    clock.now += 30
    session.show_list()
    assert not session.guess("a mode that was not set", 60)
    session.support(3, "fresh_gradient", "")
    session.script.write_text(session.case.scenario.base)
    session.submit()
    told = json.loads(json.dumps(session.events))
    fresh = replace(evidence, seen=[], spent=0)
    second = Session(session.case, fresh, session.script, 5, session._grade, clock)
    second.again(told, 90.0)
    assert second.left() == pytest.approx(210) and second.listed and second.before == session.before
    assert second.diagnoses == session.diagnoses and second.repair == session.repair
    assert (fresh.seen, fresh.spent) == (evidence.seen, evidence.spent)
    one, two = (each.close("finished") for each in (session, second))
    assert one["rows"] == two["rows"] and one["diff"] == two["diff"]


def test_saying_that_nothing_is_wrong_against_an_alarm(session):
    ask(session, "fresh_gradient")
    assert not session.guess(None)
    assert session.diagnoses[0].against


def test_guesses_run_out(session):
    for _ in range(GUESSES):
        session.guess(None)
    with pytest.raises(UserError, match="used"):
        session.guess(faults.load(RIGHT))


def test_a_healthy_case_wants_to_be_left_alone(evidence, clock, tmp_path):
    case = draw(1, "traps/accumulation_on_purpose", "mlp")
    script = open_folder(case, tmp_path / "trap", 5)
    session = Session(case, evidence, script, 5, lambda case, source: {"share": 1.0, "why": "healthy"}, clock)
    ask(session, "gradient_health")
    assert session.guess("nothing is wrong", 90)
    session.support(None, "gradient_health", "")
    got = points(session.close("finished"))
    assert got["cause"] == rubric.CAUSE and got["place"] == rubric.PLACE and got["repair"] == rubric.REPAIR


def test_time_counts_and_grading_does_not(session, clock):
    grade = session._grade

    def slow(case, source):
        clock.now += 1000
        return grade(case, source)

    session._grade = slow
    clock.now += 60
    session.submit()
    assert session.left() == pytest.approx(240)
    assert session.close("finished")["seconds"] == 60


def test_a_file_saved_in_time_counts_when_time_is_over(session, clock):
    session.script.write_text(session.case.scenario.base)
    clock.now += 301
    assert points(session.close("time over"))["repair"] == rubric.REPAIR


def test_an_untouched_file_is_not_handed_in(session):
    assert points(session.close("time over"))["repair"] == 0
    assert session.repair is None


def test_the_place_may_be_off_by_little(session):
    (first, last) = rubric.lines(session.case)[0]
    broken = session.case.scenario.source.splitlines()
    assert "for inputs, targets in train_loader" in "\n".join(broken[first - 4 : last + 3])
    wanted = rubric.right(session.case)
    # what zeroes the gradients may stand anywhere in the loop: the lines of all accepted repairs count
    for line, share in ((last + NEAR, 1.0), (1, 0.0)):
        given = rubric.Diagnosis(RIGHT, line=line, right=True)
        assert rubric._place(session.case, wanted, given).points == rubric.PLACE * share


def test_a_folder_that_exists_is_left_alone(session, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "train.py").write_text("mine")
    with pytest.raises(UserError, match="exists"):
        open_folder(session.case, mine, 5)
    assert (mine / "train.py").read_text() == "mine"


def test_a_file_that_cannot_be_read_is_a_message(session, tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        session.submit(tmp_path / "nowhere.py")
    assert session.repair is None


def test_a_disk_that_fills_up_leaves_no_empty_ticket(session, tmp_path, monkeypatch):
    from bugzoo.interview import session as module

    def full(path, text):
        if path.name == "train.py":
            raise UserError("no room")
        path.write_text(text)

    monkeypatch.setattr(module, "write_atomic", full)
    with pytest.raises(UserError, match="no room"):
        open_folder(session.case, tmp_path / "another", 5)
    assert not (tmp_path / "another").exists()


@pytest.mark.parametrize("typed", ["²", "٣", "1" * 5000, "-1", "1.5", "0x1", "", "nan"])
def test_what_is_no_number_is_none(typed):
    assert counted(typed) is None and counted("12") == 12


@pytest.mark.parametrize("name", ["a\0b", ".", "nowhere.py", "~nobody-of-this-name/x.py", "x" * 5000])
def test_a_file_that_cannot_be_handed_in_is_a_message(session, name):
    with pytest.raises(UserError, match="cannot be read"):
        session.submit(Path(os.path.expanduser(name)))
    assert session.repair is None
