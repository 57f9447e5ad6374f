"""Which run is ill: what is shown names no cause, the right answer earns everything, and another run nothing."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from bugzoo import guide, record
from bugzoo.errors import UserError
from bugzoo.grading import files, lineup
from bugzoo.grading.exercises import exercises
from bugzoo.grading.lineup import notebook
from bugzoo.grading.lineup.answer import filled, judge
from bugzoo.grading.lineup.cell import text
from bugzoo.grading.lineup.five import Board
from bugzoo.grading.lineup.model import LETTERS, NONE, Candidate, Lineup
from bugzoo.proving import identified, leaks, ledger

NAMES = list(lineup.lineups())
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _own_record(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))


def secrets(one: Lineup) -> set[str]:
    """Texts, in lower case, that may stand nowhere before the answer: ids, stems, titles of what is in the runs."""
    found = set()
    for candidate in one.candidates:
        if about := candidate.about_fault:
            stem = about[0].id.split("/")[1]
            found |= {about[0].id, stem, stem.replace("_", " "), about[0].title.lower()}
    return found | {word.lower() for word in one.causes if one.ill != NONE}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["student", "solution", "instructor"])
def test_every_kind_is_a_valid_notebook(name: str, kind: str) -> None:
    made = nbformat.reads(notebook.build(lineup.load(name), kind), as_version=4)
    nbformat.validate(made)
    MetadataValidator().validate_nb(made)
    points = {
        one.id: one.metadata.nbgrader.points for one in made.cells if "points" in one.metadata.get("nbgrader", {})
    }
    assert points == {"graded": 10.0}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_is_shown_names_what_is_wrong(name: str, capsys: pytest.CaptureFixture) -> None:
    one = lineup.load(name)
    handed_out = notebook.build(one).lower()
    board = Board(name)
    held = repr([vars(board), dir(board), repr(board)]).lower()
    offered = " ".join(one.offered).lower()
    for secret in secrets(one):
        assert secret not in handed_out, secret
        assert secret not in held or secret in offered, secret
    assert "scenario" not in handed_out and "faults" not in handed_out
    assert set(one.causes) <= set(one.offered)


@pytest.mark.parametrize("name", NAMES)
def test_answers_earn_what_they_should(name: str) -> None:
    assert identified.answers(lineup.load(name)) == []


def test_a_wrong_run_earns_nothing_and_a_right_one_without_more_half() -> None:
    one = lineup.load("12")
    right = filled(one)
    wrong = next(letter for letter in LETTERS if letter != one.ill)
    assert judge(one, right | {"run": wrong}).points == 0 and judge(one, right | {"run": NONE}).points == 0
    half = judge(one, {"run": one.ill.lower()})
    assert half.points == 5 and half.status == "wrong" and "NO" in str(half)
    assert judge(one, right | {"evidence": ["loss_curve", *one.evidence]}).points == 10
    assert judge(one, right | {"cause": "something else"}).points == 7
    assert judge(one, {"run": "Q"}).status == judge(one, {}).status == judge(one, None).status == "not attempted"


def test_nothing_is_ill_is_an_answer_and_blaming_earns_nothing() -> None:
    one = lineup.load("15")
    assert one.ill == NONE and judge(one, {"run": "none"}).points == 10
    assert all(judge(one, {"run": letter, "cause": cause}).points == 0 for letter in LETTERS for cause in one.offered)


def test_all_stand_in_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")
    assert set(ledger.names(identified.KIND)) == set(NAMES)


def test_a_declaration_that_cannot_be_asked_is_refused() -> None:
    ill = Candidate("mlp", "loop/stale_gradients")
    with pytest.raises(ValueError, match="one is ill or none"):
        Lineup("t", "s", (ill, ill, Candidate("mlp"), Candidate("mlp", seed=1), Candidate("mlp", seed=2)))
    with pytest.raises(ValueError, match="has 5 candidates"):
        Lineup("t", "s", (ill,))


def test_a_healthy_run_that_is_blamed_and_an_ill_one_that_hides_are_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    one = lineup.load("12")

    def swapped(wanted, **_):
        quiet = {"outcome": "finished", "metrics": {}, "numbers": {}, "error": {}}
        return [quiet for _ in wanted], 5, 5

    monkeypatch.setattr(identified, "measured", swapped)
    assert any("does not show it" in said for said in identified.prove(one).problems)
    monkeypatch.setattr(identified, "fired", lambda result: {"loss_curve": "it is flat"})
    said = identified.prove(one).problems
    assert sum("is well, and loss_curve fires" in text for text in said) == 4


def test_what_each_was_is_told_afterwards_only(capsys: pytest.CaptureFixture) -> None:
    lineup.debrief("12")
    assert "opens when an answer is handed in" in capsys.readouterr().out
    one = lineup.load("12")
    Board("12").hand_in(one.ill)
    lineup.debrief("12")
    said = capsys.readouterr().out
    assert f"### {one.ill}: " in said and said.count(" is well.**") == 4 and "```diff" in said
    assert "Nothing is wrong" in text(lineup.load("15"))


def test_the_first_cell_may_be_run_twice(capsys: pytest.CaptureFixture) -> None:
    for _ in range(2):
        assert isinstance(lineup.board("12"), Board)


def test_bad_answers_are_told() -> None:
    board = Board("12")
    for call in (lambda: board.hand_in("F"), lambda: board.instrument("F", "loss_curve"), lambda: board.numbers("Z")):
        with pytest.raises(UserError, match="is no run"):
            call()
    with pytest.raises(UserError, match="loss_curve"):
        board.instrument("A", "loss_curv")
    with pytest.raises(UserError):
        board.hand_in("A", cause="gremlins")


def test_numbers_are_shared_with_the_exercises_and_no_name_is_taken_twice() -> None:
    numbers = [name.split("_")[0] for name in (*exercises(), *NAMES)]
    assert len(set(numbers)) == len(numbers)
    assert lineup.named("12") == lineup.named("12_five_losses") == "12_five_losses"
    assert lineup.named("16") == lineup.named("") == ""


def test_one_is_put_back(tmp_path: Path) -> None:
    (tmp_path / "exercises").mkdir()
    path, before = files.reset("12", tmp_path)
    assert before is None and path.name == "12_five_losses.ipynb"
    path.write_text("{}")
    assert files.reset("12", tmp_path)[1].name == "12_five_losses.before.ipynb"


def test_what_was_named_counts_as_an_attempt_and_on_the_map(capsys: pytest.CaptureFixture) -> None:
    one = lineup.load("12")
    Board("12").hand_in("none")
    assert lineup.graded("12") == 0 and record.standing()[one.name] == {"attempts": 1, "best": 0.0, "passed": False}
    Board("12").hand_in(**filled(one))
    assert lineup.graded("12") == 10 and record.standing()[one.name]["passed"]
    [mine] = [task for task in guide.standing().exercises if task.name == one.name]
    assert mine.state == "done" and mine.lesson == 4


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["exercises", "solutions"])
def test_a_whole_notebook_runs_and_says_what_it_is_worth(folder: str) -> None:
    book = (ROOT / folder / "12_five_losses.ipynb").read_text()
    shown = {one["cell"]: one["text"] for one in leaks.run_notebook(book)}
    assert re.search(r"run E\n +steps", shown["look"]) and "healthy" not in shown["look"]
    assert ("10 of 10" if folder == "solutions" else "not attempted") in shown["graded"]
    told = json.dumps([shown[name] for name in shown if name not in ("debrief",)]).lower()
    if folder == "exercises":
        assert not any(secret in told for secret in secrets(lineup.load("12")))
