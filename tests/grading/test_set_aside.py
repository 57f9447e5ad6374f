"""A hand-in outside plain PyTorch is not run in a graded class; a self-check only mentions it."""

import json

import pytest

from bugzoo.frontend import WIDE, fit
from bugzoo.grading import cell, set_aside
from bugzoo.grading.__main__ import answer
from bugzoo.grading.exercises import load
from bugzoo.grading.model import FOR_A_PERSON, STATES, Result
from bugzoo.grading.notebook import build
from bugzoo.instructor import cell as assignment_cell
from bugzoo.instructor import grade_class, handout, tasks
from bugzoo.instructor.gradebook import notes
from bugzoo.instructor.model import Assignment
from tests.instructor.class_of import cell as cell_of
from tests.instructor.class_of import hand_in

NAME = "16_another_size"


@pytest.fixture
def given() -> str:
    return load(NAME).handed_out


def test_a_hand_in_for_a_person_is_not_run(given: str, tmp_path) -> None:
    mark = tmp_path / "it ran"
    text = given + f"\nimport shutil\nopen({str(mark)!r}, 'w')\n"
    result = set_aside.set_aside(text, given)
    assert result is not None and result.status == FOR_A_PERSON and FOR_A_PERSON in STATES
    assert (result.share, result.points, result.checks) == (0.0, 0.0, []) and not mark.exists()
    line = given.count("\n") + 2
    assert result.message == (
        f"Nothing was run. Line {line}, `import shutil`: `shutil` is not among the modules that a repair may use. "
        "1 more line is outside plain PyTorch. To grade it as it is: `--allow shutil --allow open`."
    )


@pytest.mark.parametrize("text", ["", "\nx = (", "\n\0", "\nscale = 2.0\n"])
def test_what_is_plain_or_no_python_is_graded(given: str, text: str) -> None:
    assert set_aside.set_aside(given + text, given) is None
    assert set_aside.mention(given + text, given) == ""


def test_what_is_nested_too_deeply_to_be_read_is_for_a_person(given: str) -> None:
    """Else one long sum would hide whatever stands beside it."""
    result = set_aside.set_aside(f"{given}\nimport os\ndeep = {'-' * 3000}1\n", given)
    assert result is not None and result.status == FOR_A_PERSON and "nested too deeply" in result.message


def test_nbgrader_gives_nothing_and_says_why(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    result = answer(NAME, {"kind": "repair", "source": given + "\nimport os\n"})
    assert (result.status, result.points, result.max_points) == (
        FOR_A_PERSON,
        0.0,
        10.0 if result.max_points == 10 else 5.0,
    )
    assert "for a person: 0 of" in str(result) and "`import os`" in str(result)


def test_an_instructor_allows_a_module_in_nbgrader(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(set_aside.ALLOW, "csv, __doc__,")
    assert set_aside.allowed() == ["csv", "__doc__"]
    assert set_aside.set_aside(given + "\nimport csv\nprint(__doc__)\n", given, set_aside.allowed()) is None


def test_a_self_check_mentions_it_and_gives_the_points(given: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(cell, "ask", lambda *_: Result("passed", 1.0, points=5.0, max_points=5.0))
    text = given + "\nimport os\n"
    assert cell._answer(NAME, {"kind": "repair", "source": text}) == 5.0
    printed = " ".join(capsys.readouterr().out.split())
    assert "passed: 5 of 5 points" in printed and "a person would look at this program before it runs. Line" in printed
    assert "`import os`" in printed and "Instead: leave it out;" in printed and "allow `os`." in printed
    cell._answer(NAME, {"kind": "repair", "source": given})
    assert "person" not in capsys.readouterr().out


def test_a_try_before_the_diagnosis_mentions_it_too(given: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(cell, "ask", lambda *_: Result("wrong"))
    cell._tried(NAME, given + "\nopen('kept', 'w')\n")
    assert "Instead: print it, or keep tensors with `torch.save`." in " ".join(capsys.readouterr().out.split())


def test_the_cells_of_an_assignment_mention_it(given: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(assignment_cell, "_points", lambda *_: 1.0)
    monkeypatch.setattr(assignment_cell, "_handed_out", lambda: given)
    assert assignment_cell.repair("week", given + "\nF.relu = None\n", given) == 1.0
    assert "a function or a class of your own" in " ".join(capsys.readouterr().out.split())
    assignment_cell.repair("week", given, given)
    assert "person" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["F.relu = None", "tools = more = torch", "torch.hub.list('')", "import csv", "F.__name__"]
)
def test_each_reason_says_what_to_write_instead(given: str, text: str) -> None:
    message = set_aside.mention(f"{given}\nimport torch.nn.functional as F\nimport torch\n{text}\n", given)
    assert "Instead: " in message and "another way" not in message


def test_the_notebooks_say_what_a_person_looks_at() -> None:
    assignment = Assignment("mlp", ("loop/stale_gradients",))
    assert "opens files" not in build(load(NAME), "student")
    for text in (build(load(NAME), "instructor"), handout.build(assignment, "student", [])):
        for phrase in ("opens files", "`bugzoo grade --allow NAME`", f"`{set_aside.ALLOW}=NAME`"):
            assert phrase in text


def test_a_class_sets_it_aside_without_a_run_and_grades_it_once_it_is_allowed(given: str, tmp_path) -> None:
    """The program does not run, and its diagnosis is graded. The record says what to allow, and is kept until that changes."""
    task, mark = tasks.load(NAME), tmp_path / "it ran"
    notebook = json.loads(build(load(NAME), "student"))
    cell_of(notebook, "program-settings")["source"] += [f"\nimport os\nos.mkdir({str(mark)!r})"]
    cell_of(notebook, "diagnosis-answer")["source"] = [f"form.hand_in(cause='{load(NAME).about_fault[0].id}')"]
    hand_in(tmp_path / "in", "eve", notebook, task.name)
    calls: list[str] = []
    task.repair = lambda owner, source, records, strict, draw: calls.append(source) or Result("wrong", max_points=5.0)  # type: ignore[method-assign]
    for allow, state in (
        ((), FOR_A_PERSON),
        ((), FOR_A_PERSON),
        (["os"], "wrong"),
        ((), "wrong"),
        (["os", "csv"], "wrong"),
    ):
        [record] = grade_class(tmp_path / "in", task, tmp_path / "kept", allow=allow, trust=True)
        assert record.state == state and (record.points is None) == (state == FOR_A_PERSON), record
        assert record.diagnosis is not None and record.diagnosis["points"] > 0
        assert len(calls) == (state == "wrong") and not mark.exists()
        remarks = "; ".join(notes(record))
        assert ("`--allow os`" in remarks and "the diagnosis earned" in remarks) == (state == FOR_A_PERSON), remarks
        assert ("graded as allowed: Line" in remarks) == (state == "wrong"), remarks


def test_a_program_of_two_mebibytes_loses_its_repair_and_keeps_its_diagnosis(given: str, tmp_path) -> None:
    task = tasks.load(NAME)
    notebook = json.loads(build(load(NAME), "student"))
    cell_of(notebook, "program-settings")["source"] += [f"\n# {'x' * 2**21}"]
    cell_of(notebook, "diagnosis-answer")["source"] = [f"form.hand_in(cause='{load(NAME).about_fault[0].id}')"]
    hand_in(tmp_path / "in", "gus", notebook, task.name)
    [record] = grade_class(tmp_path / "in", task, tmp_path / "kept", trust=True)
    assert record.diagnosis and record.diagnosis["points"] == record.points > 0 and record.state == "wrong", record
    assert "longer than 1 MiB" in record.message and "Leave out" in record.message


def test_nbgrader_tells_the_student_what_to_write_instead(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    result = set_aside.set_aside(f"import os\n{given}", given)
    assert result is not None and "Instead: leave it out" in result.message and "--allow" not in result.message
    assert all(len(line) <= WIDE for line in fit(result.message).splitlines()), "its feedback is a page"
