"""What a submission made unreadable is wrong and for a person. A machine's failure is not, and costs no attempt."""

import json
from tempfile import gettempdir

import numpy as np
import pytest

import bugzoo.grading.grade as room
from bugzoo.frontend import fit
from bugzoo.grading import baseline, runs
from bugzoo.grading.exercises import load
from bugzoo.grading.model import Check, Result
from bugzoo.grading.unreadable import A_PERSON
from bugzoo.instructor.gradebook import notes
from bugzoo.instructor.records import Record
from tests.grading.attempt import attempt
from tests.grading.tricks import MENDED

BREAKS = "06_knows_nothing"
TEXTS = {
    "null": (MENDED + "\0", "null bytes"),
    "half a character": (MENDED + "# \ud800\n", "no text"),
    "minus": (MENDED + f"x = {'-' * 200_000}1\n", "nested"),
    "not": (MENDED + f"x = {'not ' * 5000}1\n", "nested"),
    "sum": (MENDED + f"x = {'+'.join('1' * 20_000)}\n", "nested"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_the_parser_gives_up_on_is_wrong(name):
    text, reason = TEXTS[name]
    assert load(BREAKS).kind.name == "break"
    for result in (
        attempt(text),
        room.grade_exercise("10_restless_loss", text, {"cause": ""}),
        room.try_exercise("10_restless_loss", text),
        room.grade_exercise(BREAKS, text),
    ):
        assert result.status == "wrong" and result.share == result.points == 0
        assert reason in result.message and result.message.endswith(A_PERSON), result


def test_a_slip_of_the_hand_is_not(sandboxed):
    result = attempt(MENDED + "x = = 1\n")
    assert result.status == "cannot be graded" and "line" in result.message and A_PERSON not in result.message


LEFT = f"""
import glob, os
folder = glob.glob({gettempdir()!r} + "/bugzoo-*")[0]
open(folder + "/result-0.json", "w").write("WHAT")
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", ["[[[", '{"seconds": "now", "numbers": 3}', "[" * 90])
def test_a_result_that_cannot_be_read_is_wrong(what, sandboxed):
    result = attempt(MENDED + LEFT.replace('"WHAT"', repr(what)))
    assert result.status == "wrong" and result.message.endswith(A_PERSON), str(result)


@pytest.mark.slow
def test_so_is_one_that_the_checks_cannot_read(monkeypatch, sandboxed):
    """Weights that are text: the run's own export cannot make such, and the checks find out."""

    def spoilt(job):
        run = run_worker(job)
        run.arrays = {name: np.full(value.shape, "x") for name, value in run.arrays.items()}
        return run

    run_worker = runs.run_worker
    monkeypatch.setattr(runs, "run_worker", spoilt)
    result = attempt(MENDED)
    assert result.status == "wrong" and result.share == 0


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RuntimeError("killed"), MemoryError()])
def test_a_machine_that_fails_is_no_ones_fault(error, monkeypatch, sandboxed):
    def fails(*_):
        raise error

    monkeypatch.setattr(baseline, "twin", fails)
    result = attempt(MENDED)
    assert result.status == "cannot be graded" and result.message and A_PERSON not in result.message


NASTY = "\x1b[2J\x1b[31mPASSED\x1b]8;;http://evil\x07click\x9b1m\u202e\x00"


@pytest.mark.slow
def test_nothing_of_a_submission_moves_a_cursor(sandboxed):
    result = attempt(MENDED + f"\nraise RuntimeError({NASTY!r})\n")
    printed = str(result) + json.dumps(result.to_json(), ensure_ascii=False)
    assert result.status == "your code raised" and "PASSEDclick" in printed
    assert not [letter for letter in printed if not letter.isprintable() and letter not in "\n\t"]


def test_whatever_a_result_or_a_cell_says_is_printable():
    result = Result("wrong", message=NASTY, checks=[Check("run", "wrong", NASTY, NASTY)])
    result.message += NASTY
    for text in (str(result), fit(NASTY), *Result.from_json(result.to_json()).to_json()["checks"][0].values()):
        assert "\x1b" not in str(text) and "\x9b" not in str(text) and "\0" not in str(text)


def test_the_gradebook_has_a_note_for_the_person():
    message = f"The program cannot be read: it has null bytes. {A_PERSON}"
    assert notes(Record("ada", "wrong", 0.0, 10.0, message)) == [f"wrong: {message}"]
    assert notes(Record("ben", "wrong", 0.0, 10.0, "The symptom is gone.")) == []
