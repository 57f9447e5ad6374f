"""A hand-in outside plain PyTorch is not run in a graded class; a self-check only mentions it."""

import json

import pytest

from bugzoo.grading import cell, set_aside
from bugzoo.grading.__main__ import answer
from bugzoo.grading.exercises import load
from bugzoo.grading.model import FOR_A_PERSON, STATES, Result
from bugzoo.grading.notebook import build
from bugzoo.grading.texts import handed_out
from bugzoo.instructor import grade_class, tasks
from bugzoo.instructor.gradebook import notes
from tests.instructor.class_of import cell as cell_of
from tests.instructor.class_of import hand_in

NAME = "16_thirty_times"


@pytest.fixture
def given() -> str:
    return handed_out(load(NAME))


def test_a_hand_in_for_a_person_is_not_run(given: str, tmp_path) -> None:
    mark = tmp_path / "it ran"
    text = given + f"\nimport pathlib\npathlib.Path({str(mark)!r}).touch()\nopen('x')\n"
    found = set_aside.set_aside(text, given)
    assert found is not None and found.status == FOR_A_PERSON and FOR_A_PERSON in STATES
    assert (found.share, found.points, found.checks) == (0.0, 0.0, []) and not mark.exists()
    line = given.count("\n") + 2
    assert found.message == (
        f"Nothing was run. Line {line}, `import pathlib`: `pathlib` is not among the modules that a repair may import. "
        "1 more line is outside plain PyTorch."
    )


@pytest.mark.parametrize("text", ["", "\nx = (", "\n\0", "\nscale = 2.0\n"])
def test_what_is_plain_or_no_python_is_graded(given: str, text: str) -> None:
    assert set_aside.set_aside(given + text, given) is None
    assert set_aside.mention(given + text, given) == ""


def test_what_is_nested_too_deeply_to_be_read_is_for_a_person(given: str) -> None:
    """Else one long sum would hide whatever stands beside it."""
    found = set_aside.set_aside(f"{given}\nimport os\ndeep = {'-' * 3000}1\n", given)
    assert found is not None and found.status == FOR_A_PERSON and "nested too deeply" in found.message


def test_nbgrader_gives_nothing_and_says_why(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    found = answer(NAME, {"kind": "repair", "source": given + "\nimport json\n"})
    assert (found.status, found.points, found.max_points) == (
        FOR_A_PERSON,
        0.0,
        10.0 if found.max_points == 10 else 5.0,
    )
    assert "for a person: 0 of" in str(found) and "`import json`" in str(found)


def test_an_instructor_allows_a_module_in_nbgrader(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(set_aside.ALLOW, "json, _cache,")
    assert set_aside.allowed() == ["json", "_cache"]
    assert set_aside.set_aside(given + "\nimport json\n_cache = 1\n", given, set_aside.allowed()) is None


def test_a_self_check_mentions_it_and_gives_the_points(given: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(cell, "ask", lambda *_: Result("passed", 1.0, points=5.0, max_points=5.0))
    text = given + "\nimport json\n"
    assert cell._answer(NAME, {"kind": "repair", "source": text}) == 5.0
    said = " ".join(capsys.readouterr().out.split())
    assert "passed: 5 of 5 points" in said and "a person would look at this program before it runs. Line" in said
    cell._answer(NAME, {"kind": "repair", "source": given})
    assert "person" not in capsys.readouterr().out


def test_a_class_sets_it_aside_without_a_run_and_grades_it_once_it_is_allowed(given: str, tmp_path) -> None:
    """Neither the program nor the cell of typed answers runs; the record says what to allow, and is kept until that changes."""
    task, mark = tasks.load(NAME), tmp_path / "it ran"
    made = json.loads(build(load(NAME), "student"))
    cell_of(made, "program-settings")["source"] += [f"\nimport pathlib\npathlib.Path({str(mark)!r}).touch()"]
    cell_of(made, "diagnosis-answer")["source"] = [f"open({str(mark)!r}, 'w')"]
    hand_in(tmp_path / "in", "eve", made, task.name)
    calls: list[str] = []
    task.repair = lambda owner, source, records, strict, draw: calls.append(source) or Result("wrong", max_points=5.0)  # type: ignore[method-assign]
    for allow, state in (((), FOR_A_PERSON), ((), FOR_A_PERSON), (["pathlib"], "wrong")):
        [record] = grade_class(tmp_path / "in", task, tmp_path / "kept", allow=allow, trust=True)
        assert record.state == state and (record.points is None) == (state == FOR_A_PERSON), record
        assert len(calls) == (state == "wrong") and not mark.exists()
        assert ("pathlib" in "; ".join(notes(record))) == (state == FOR_A_PERSON)
