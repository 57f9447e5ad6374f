"""Prices, guesses, points, the clock and the folder."""

import os
from pathlib import Path

import pytest

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.grading.diagnosis import NEAR, telling
from bugzoo.interview import measure, rubric
from bugzoo.interview.deck import draw
from bugzoo.interview.play import counted
from bugzoo.interview.requests import BUDGET, find, listed
from bugzoo.interview.session import GUESSES, Session, open_folder

RIGHT = "loop/stale_gradients"


def ask(session, *names):
    return [session.ask(find(name)) for name in names]


def points(result):
    return {row["name"]: row["points"] for row in result["rows"]}


def test_the_budget_is_a_budget(session):
    answers = ask(session, *[request.name for request in listed() if request.name != "repeat"])
    assert session.evidence.spent <= BUDGET
    refused = [answer for answer in answers if f"of {BUDGET} are left" in answer]
    assert refused and len(session.evidence.seen) == len(answers) - len(refused)
    before = session.evidence.spent
    ask(session, session.evidence.seen[0])
    assert session.evidence.spent == before, "what was seen is free"


def test_about_seven_requests_are_in_the_budget():
    """As many as when instruments were for sale, whose median price was 4, too."""
    prices = sorted(request.price for request in listed())
    assert prices[len(prices) // 2] == 4 and 7 <= BUDGET / (sum(prices) / len(prices)) <= 8


def test_a_perfect_session_gets_everything(session, clock):
    ask(session, "gradients")
    clock.now += 30
    assert session.guess(faults.load(RIGHT))
    line = rubric.lines(session.case)[0][0]
    session.support(line, "gradients", session.case.fault.look_alikes[0].test)
    session.script.write_text(session.case.scenario.base)
    session.submit()
    result = session.close("finished")
    assert result["points"] == result["of"], result["rows"]
    assert result["score"] == 1.0
    assert result["debrief"]["cause"] == RIGHT
    assert "zero_grad" in result["debrief"]["diff"]


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
    ask(second, "weights")  # shows that nothing is frozen
    second.guess(wrong)
    late = points(second.close("finished"))["wrong guess"]
    assert late < early < 0


def test_saying_that_nothing_is_wrong_against_an_alarm(session):
    ask(session, "gradients")
    assert not session.guess(None)
    assert session.diagnoses[0].against


def test_saying_that_nothing_is_wrong_after_looking_elsewhere(session):
    ask(session, "modes", "memory")
    assert not session.guess(None)
    assert not session.diagnoses[0].against, "these views show nothing unusual"


@pytest.mark.parametrize(("name", "share"), [("gradients", 1.0), ("modes", 1 / 3)])
def test_the_view_that_shows_it_gives_the_points(session, name, share):
    """loop/stale_gradients shows in `gradients` by its evidence; `modes` has none of its numbers."""
    ask(session, name)
    session.guess(faults.load(RIGHT))
    session.support(None, name, "")
    result = session.close("finished")
    assert points(result)["evidence before guess"] == round(rubric.EVIDENCE * share, 1)
    (view,) = [row for row in result["debrief"]["shown_by"] if row["view"] == "gradients"]
    assert view["opened"] == (name == "gradients")
    assert "share of steps that begin with a gradient other than 0: 1 (usual: 0 to 0.1)" in view["outside"]
    assert any(RIGHT in line for line in result["debrief"]["checkup"]), "checkup would have named it"


def test_the_table_says_which_views_count(session):
    """The same function as in exercises and assignments."""
    assert rubric.right(session.case, session.evidence).evidence == telling(session.case.fault)


def test_guesses_run_out(session):
    for _ in range(GUESSES):
        session.guess(None)
    with pytest.raises(UserError, match="used"):
        session.guess(faults.load(RIGHT))


def test_a_healthy_case_wants_to_be_left_alone(evidence, clock, tmp_path):
    case = draw(1, "traps/accumulation_on_purpose", "mlp")
    script = open_folder(case, tmp_path / "trap", 5)
    session = Session(case, evidence, script, 5, lambda case, source: {"share": 1.0, "why": "healthy"}, clock)
    ask(session, "gradients")
    assert session.guess(None)
    session.support(None, "gradients", "")
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


def test_a_further_run_is_not_the_candidate_s_time(session, clock, monkeypatch):
    reading = session.evidence.readings["batch"]

    def slow(scenario, name, step):
        clock.now += 1000
        return reading

    monkeypatch.setattr(measure, "at_step", slow)
    clock.now += 60
    session.ask(find("batch"), 50)
    assert session.left() == pytest.approx(240)


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
    answer = rubric.right(session.case)
    # what zeroes the gradients may stand anywhere in the loop: the lines of all accepted repairs count
    for line, share in ((last + NEAR, 1.0), (1, 0.0)):
        diagnosis = rubric.Diagnosis(RIGHT, line=line, right=True)
        assert rubric._place(session.case, answer, diagnosis).points == rubric.PLACE * share


def test_a_folder_that_exists_is_left_alone(session, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "train.py").write_text("mine")
    with pytest.raises(UserError, match="exists"):
        open_folder(session.case, folder, 5)
    assert (folder / "train.py").read_text() == "mine"


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
