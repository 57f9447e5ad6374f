"""Write the edit that gives this symptom and no other: what is shown names no edit, and only what was asked for earns points."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from bugzoo import guide, record
from bugzoo.errors import UserError
from bugzoo.grading import breaking, files
from bugzoo.grading.breaking import notebook
from bugzoo.grading.breaking.cell import text
from bugzoo.grading.breaking.judge import handed_out, judge, solution
from bugzoo.grading.breaking.model import Breaking
from bugzoo.grading.declared import everything
from bugzoo.grading.workbench import Program
from bugzoo.proving import broken, leaks, ledger

NAMES = list(breaking.breakings())
ROOT = Path(__file__).resolve().parents[2]
FIRST = "39"
"""On the quickest program."""


@pytest.fixture(autouse=True)
def _own_record(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["student", "solution", "instructor"])
def test_every_kind_is_a_valid_notebook(name: str, kind: str) -> None:
    made = nbformat.reads(notebook.build(breaking.load(name), kind), as_version=4)
    nbformat.validate(made)
    MetadataValidator().validate_nb(made)
    points = {
        one.id: one.metadata.nbgrader.points for one in made.cells if "points" in one.metadata.get("nbgrader", {})
    }
    assert points == {"graded": 10.0}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_asked_for_is_shown_and_the_edit_is_not(name: str) -> None:
    task = breaking.load(name)
    shown = notebook.build(task)
    assert all(str(claim) in shown for claim in task.asked)
    stem = task.about.id.split("/")[1]
    for secret in (task.about.id, stem, stem.replace("_", " "), task.about.title.lower()):
        assert secret not in shown.lower(), secret
    before, after = set(handed_out(task).splitlines()), solution(task).splitlines()
    new = [line.strip() for line in after if line not in before]
    assert not any(line in json.loads(shown)["cells"][0]["source"] for line in new)


def test_all_stand_in_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")
    assert set(ledger.names(broken.KIND)) == set(NAMES)
    for name in NAMES:
        entry = ledger.read(broken.KIND, name)
        assert set(entry["right"].values()) == {1.0} and len(entry["right"]) >= broken.LEAST[0]
        assert max(entry["wrong"].values()) < 1 and len(entry["wrong"]) >= broken.LEAST[1]


def test_the_symptom_alone_earns_everything_beside_another_one_half_and_without_it_nothing() -> None:
    task = breaking.load(FIRST)
    assert judge(task, handed_out(task)).status == "not attempted"
    whole = judge(task, solution(task))
    assert whole.passed and whole.points == 10, whole
    tried = dict(broken.wrong(task))
    both = judge(task, tried[f"{broken.BOTH}loop/stale_gradients"])
    assert both.points == 5 and "fresh_gradient" in str(both) and "what is marked NO" in both.message
    assert judge(task, tried["another fault: loop/stale_gradients"]).points == 0
    assert judge(task, tried["attack: instruments replaced"]).points == 0
    assert judge(task, solution(task).replace("seed = 0", "seed = 1 - 1")).passed
    lost = judge(task, solution(task).replace("seed = 0\n", "number = 0\n").replace("seed", "number"))
    assert lost.points == 0 and "`seed`" in lost.message, lost


def test_a_slip_is_told_and_costs_nothing() -> None:
    task = breaking.load(FIRST)
    found = judge(task, solution(task).replace("loss.backward()", "loss.backward("))
    assert found.status == "cannot be graded" and "not valid Python" in found.message
    raised = judge(task, solution(task).replace("loss.backward()", "los.backward()"))
    assert raised.status == "your code raised" and "NameError" in str(raised)


def test_a_proof_that_others_pass_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    task = breaking.load(FIRST)
    texts = {"our own": solution(task)}
    monkeypatch.setattr(broken, "right", lambda task: {"nothing of it": handed_out(task)})
    monkeypatch.setattr(broken, "wrong", lambda task: iter(texts.items()))
    said = " ".join(broken.prove(task).problems)
    assert "nothing of it must pass" in said and "our own must not pass and earns 100%" in said
    assert "1 edits that pass and 1 that do not" in said and "does not fit" in said


def test_what_cannot_be_asked_for_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be asked for"):
        Breaking("t", "s", "mlp", "traps/log_softmax_first")
    with pytest.raises(UserError, match="27_a_quiet_change"):
        breaking.load("27_a_quiet_chang")


def test_the_notebook_s_program_says_what_it_thinks(capsys: pytest.CaptureFixture) -> None:
    program = Program()
    program.begin(FIRST)
    assert program.diagnosed and program.source == handed_out(breaking.load(FIRST))
    before, after = "losses.append(loss.item())", "losses.append(loss)"
    assert before in program.sections["Training"]
    program._keep("Training", "", program.sections["Training"].replace(before, after))
    program.instrument("memory_audit")
    assert "holds on to them" in capsys.readouterr().out
    assert breaking.graded(FIRST, program) == 10
    assert record.standing()["39_it_grows"]["passed"]
    [mine] = [one for one in guide.standing().exercises if one.name == "39_it_grows"]
    assert mine.state == "done" and mine.lesson == 13


def test_it_is_told_at_the_end_only(capsys: pytest.CaptureFixture) -> None:
    breaking.debrief(FIRST)
    assert "give_up=True" in capsys.readouterr().out
    breaking.debrief(FIRST, give_up=True)
    assert "```diff" in capsys.readouterr().out
    assert "### Next" in text(breaking.load(FIRST))


def test_numbers_are_shared_and_one_is_put_back(tmp_path: Path) -> None:
    numbers = [name.split("_")[0] for name in everything()]
    assert len(set(numbers)) == len(numbers)
    (tmp_path / "exercises").mkdir()
    path, before = files.reset(FIRST, tmp_path)
    assert before is None and path.name == "39_it_grows.ipynb"


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["exercises", "solutions"])
def test_a_whole_notebook_runs_and_says_what_it_is_worth(folder: str) -> None:
    book = (ROOT / folder / "39_it_grows.ipynb").read_text()
    shown = {one["cell"]: one["text"] for one in leaks.run_notebook(book)}
    assert re.search(r"not attempted" if folder == "exercises" else r"10 of 10", shown["graded"]), shown["graded"]
