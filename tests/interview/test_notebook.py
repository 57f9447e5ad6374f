"""The interview in a notebook: a whole visit played by calls and by widgets, its clock, and nothing told too early."""

import pytest

from bugzoo import faults, record
from bugzoo.errors import UserError
from bugzoo.interview import notebook, rubric, widgets
from bugzoo.interview.deck import draw
from bugzoo.interview.session import Session
from tests.interview.seeds import first_seed

ID = "loop/stale_gradients"
SEED = first_seed(ID, "mlp")
NAMES = {part for fault in faults.catalogue() for part in (fault, fault.rsplit("/", 1)[1])}


@pytest.fixture
def desk(evidence, clock, tmp_path, monkeypatch) -> notebook.Interview:
    """A visit with the evidence of a real run and a clock that the test winds."""
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))
    monkeypatch.setattr(notebook, "collect", lambda scenario: evidence)
    desk = notebook.Interview(5, SEED)
    desk._session = Session(desk._case, evidence, desk._sheet, 5, notebook.grade, clock)
    return desk


def right(desk) -> int:
    return desk.causes().index(faults.load(ID).title) + 1


def test_nothing_done_ends_nothing_and_tells_nothing(desk, capsys):
    desk.evidence()
    desk.program()
    desk.diagnosis()
    desk.hand_in()
    desk.close()
    printed = capsys.readouterr().out
    assert printed.count("Not attempted") == 2 and "of 30 points" in printed
    assert not [
        name for name in NAMES if name in printed + repr(desk) and name not in desk._session.case.scenario.source
    ]
    assert record.interviews() == [], "a visit without a single action is not kept"


def test_a_whole_visit_by_calls(desk, clock, capsys):
    desk.ask("gradients")
    printed = capsys.readouterr().out
    assert "begin with a gradient other than 0: 1 (usual: 0 to 0.1)" in printed and "layer1.weight" in printed
    assert desk.budget().startswith("26 of 30")
    with pytest.raises(UserError, match="Did you mean gradients"):
        desk.ask("gradient")
    with pytest.raises(UserError, match="'fresh_gradient' stands in the view 'gradients'"):
        desk.ask("fresh_gradient")
    assert desk.budget().startswith("26 of 30"), "a wrong name costs nothing"
    clock.now += 60
    line = rubric.lines(desk._case)[0][0]
    assert desk.diagnose(right(desk), line=line, shows="gradients")
    assert "That is the cause" in capsys.readouterr().out
    tests = desk.tests()
    desk.tell(
        next(
            i
            for i, text in enumerate(tests, 1)
            if text in {look_alike.test for look_alike in desk._case.fault.look_alikes}
        )
    )
    desk._keep("", desk._case.scenario.base)
    assert "Saved" in capsys.readouterr().out
    desk._session._grade = lambda case, source: {"share": float("zero_grad" in source), "why": "", "checks": []}
    desk.hand_in()
    assert "is healthy" in capsys.readouterr().out
    desk.close()
    printed = capsys.readouterr().out
    assert ID in printed and desk._result["score"] == 1.0, desk._result["rows"]
    (row,) = record.interviews()
    assert row["status"] == "finished" and row["points"] == row["possible"]
    desk.close()
    assert ID in capsys.readouterr().out, "the debrief can be read again"
    assert len(record.interviews()) == 1
    with pytest.raises(UserError, match="closed"):
        desk.ask(1)


def test_when_time_is_over_only_the_score_is_left(desk, clock, capsys):
    desk.ask(1)
    clock.now += 301
    for late in (lambda: desk.ask(2), lambda: desk.diagnose(1), lambda: desk._keep("", "x = 1\n")):
        with pytest.raises(UserError, match=r"desk\.close"):
            late()
    desk.close()
    assert record.interviews()[0]["status"] == "time over"
    assert "time over" in capsys.readouterr().out


def test_a_wrong_guess_costs_and_a_wrong_number_does_not(desk, capsys):
    with pytest.raises(UserError, match="Choose from 1 to"):
        desk.diagnose(99)
    wrong = 1 + right(desk) % (len(desk.causes()) - 1)
    assert not desk.diagnose(wrong) and "Guesses left: 2" in capsys.readouterr().out
    assert desk.tests() == []


def test_a_step_is_shown_and_costs_a_further_run(desk, capsys):
    """The batch of step 7 is none that a run keeps by itself: it comes of a run that keeps it."""
    desk.ask("batch", step=7)
    printed = capsys.readouterr().out
    assert "optimizer step of the batch shown: 7\n" in printed and "20 of 30 points" in printed
    desk.ask("batch")
    printed = capsys.readouterr().out
    assert "optimizer step of the batch shown: 1\n" in printed and "20 of 30 points" in printed, (
        "the view itself was bought"
    )
    for step, message in ((217, "Choose from 1 to 216"), (0, "Choose from 1"), ("x", "is not an optimizer step")):
        with pytest.raises(UserError, match=message):
            desk.ask("batch", step=step)
    with pytest.raises(UserError, match="gradients takes no step"):
        desk.ask("gradients", step=5)
    assert desk.budget().startswith("20 of 30"), "bad input costs nothing"


def test_buttons_do_what_the_calls_do(desk, monkeypatch):
    boxes = []
    monkeypatch.setattr(widgets, "display", boxes.append)
    monkeypatch.setattr(notebook, "headless", lambda: False)
    widgets.picker(desk)
    which, step, row, answers = boxes[0].children
    ask, left = row.children
    assert which.value is None and ask.disabled and step.layout.display == "none"
    which.value = next(number for text, number in which.options if " gradients · " in text)
    assert "costs 4" in ask.description and step.layout.display == "none"
    ask.click()
    text, picture = answers.children
    assert text.value.count("usual: 0 to 0.1") and bytes(picture.value).startswith(b"\x89PNG"), (
        "the picture of an exercise"
    )
    assert "26 of 30" in left.value and ask.description == "Show again"

    which.value = next(number for text, number in which.options if " batch · " in text)
    assert "costs 4" in ask.description and step.layout.display is None
    step.value = "50"
    assert "costs 10" in ask.description
    step.value = "fifty"
    ask.click()
    assert "fifty&#x27; is not a step" in answers.children[0].value and "26 of 30" in left.value

    widgets.form(desk)
    cause, line, shows, say, message, question = boxes[1].children
    say.click()
    assert "Choose a cause" in message.value and not desk._session.diagnoses
    shows.value = "gradients"
    cause.value, line.value = right(desk), "somewhere"
    assert shows.value == "gradients"
    say.click()
    assert "not a line number" in message.value and not desk._session.diagnoses
    line.value = "60"
    say.click()
    assert "That is the cause" in message.value and say.disabled
    diagnosis = desk._session.diagnoses[-1]
    assert (diagnosis.line, diagnosis.evidence, diagnosis.test) == (60, "gradients", ""), "no test is chosen beforehand"
    question.children[1].index = 0
    assert desk._session.diagnoses[-1].test == desk.tests()[0]


def test_long_lines_are_broken_between_words():
    row = f"  {'evidence before guess':20} {10:>5g}/15  " + "looked at this and that " * 8
    lines = notebook.wrapped(row.rstrip() + "\n+    code stays as it is").split("\n")
    assert all(len(line) <= 100 for line in lines) and lines[1].startswith(" " * 35)
    reason = notebook.wrapped("  1. `loop/x`, line 3: " + "it was seen here and there " * 6).split("\n")
    assert len(reason) == 2 and len(reason[1]) - len(reason[1].lstrip()) == 4, "below its number"
    assert " ".join(" ".join(lines[:-1]).split()) == " ".join(row.split()) and lines[-1] == "+    code stays as it is"


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_real_visit(capsys):
    """Nothing replaced: a drawn case, its evidence, a half-hearted and then a real repair, graded."""
    desk = notebook.Interview(5, SEED)
    desk.ask("gradients")
    desk._keep("", desk._handed_out.replace("learning_rate = 1e-3", "learning_rate = 1e-4"))
    desk.hand_in()
    assert "Not healthy yet" in capsys.readouterr().out
    desk._keep("", draw(SEED).scenario.base)
    desk.hand_in()
    assert "is healthy" in capsys.readouterr().out
    desk.close()
    assert "repair" in capsys.readouterr().out and desk._result["points"] > 0


def test_a_record_that_cannot_be_used_is_a_remark(desk, capsys, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "a file"))
    desk.ask("gradients")
    desk.close()
    printed = capsys.readouterr().out
    assert printed.count("Your progress is not saved") == 1 and "points" in printed
