"""check can fail: a grader that always passes, one that always fails, and every kind of leak are noticed."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import bugzoo.proving.check as room
from bugzoo.diagnostics.causes import words
from bugzoo.errors import UserError
from bugzoo.faults import Swap
from bugzoo.grading.another import ends
from bugzoo.grading.answers import filled, offered
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.kinds import Repair
from bugzoo.grading.model import FOR_A_PERSON, Check, Exercise, Result
from bugzoo.grading.trials import LEAKS, MUST_PASS, VIEWS, curious
from bugzoo.proving import leaks, ledger, shown
from bugzoo.proving.check import CheckReport, Proof, check
from bugzoo.running import Reading
from tests.sampling import only_in_prove

NAME = "10_restless_loss"


@pytest.fixture
def grader(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Another grader in place of the real one, and no notebook executed: what is tested is what check makes of it."""

    def use(grade: Callable[..., Result]) -> None:
        monkeypatch.setattr(room, "grade_exercise", grade)
        quiet = {
            LEAKS: lambda exercise: {"problems": [], "cells": 1, "letters": 1},
            VIEWS: lambda exercise: {"problems": [], "outside": ["gradients: a norm"]},
        }
        for kind, prove in quiet.items():
            monkeypatch.setitem(room.SEEN, kind, (prove, room.SEEN[kind][1]))

    return use


@cache
def _passing(name: str) -> dict[str, str]:
    """Return text -> status of what is right: a repair that decides by a counter is for a person."""
    passing = [trial for trial in load(name).kind.trials(load(name)) if trial.kind in MUST_PASS]
    return {trial.source: FOR_A_PERSON if trial.by_counter else "passed" for trial in passing}


def _right(name: str, source: str, diagnosis: Any, **_: Any) -> Result:
    """Gives what every submission deserves, by looking it up."""
    status = _passing(name).get(source, "")
    blamed = load(name).kind.name != "break" and (
        diagnosis is None or diagnosis["cause"] != filled(load(name))["cause"]
    )
    return Result(status, float(status == "passed")) if status and not blamed else Result("wrong", 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", [NAME, only_in_prove("06_knows_nothing"), "17_second_opinion"])
def test_a_right_grader_is_proved_and_kept(grader: Any, name: str) -> None:
    grader(_right)
    calls = []
    report = check([name], progress=lambda done, of: calls.append((done, of)))
    assert report.ok, report.proofs[0].problems
    proof = report.proofs[0]
    assert proof.count("correct")[0] >= 3 and proof.count("degenerate")[0] >= 5 and proof.count("attack")[0] >= 15
    assert calls[0] == (0, report.runs) and calls[-1] == (report.runs, report.runs)
    again = check([name])
    assert again.cached == again.runs == report.runs and again.to_json()["proofs"] == report.to_json()["proofs"]
    assert check([name], fresh=True).cached == 0


@pytest.mark.slow
def test_what_the_ledger_holds_is_believed(grader: Any, proofs: Any, tmp_path: Any, monkeypatch: Any) -> None:
    grader(_right)
    first = check([NAME])
    before = (proofs / "exercises" / f"{NAME}.json").read_bytes()
    for file in (tmp_path / "cache").iterdir():
        file.unlink()
    again = check([NAME])
    assert again.ok and again.cached == again.runs == first.runs
    assert [again.proofs[0].count(kind) for kind in room.ORDER] == [first.proofs[0].count(kind) for kind in room.ORDER]
    monkeypatch.setattr(room.code, "grading", lambda: "another grader")
    report = check([NAME], backlog=False)
    assert report.cached == report.runs and report.older == report.runs - 2 - len(ends(load(NAME)))
    assert (proofs / "exercises" / f"{NAME}.json").read_bytes() == before, "the entries say which code graded them"
    assert check([NAME]).cached == 2 + len(ends(load(NAME)))  # the search for names in its notebook, and views
    assert check([NAME], fresh=True).ok
    assert (proofs / "exercises" / f"{NAME}.json").read_bytes() != before


def test_what_is_not_as_it_must_be_is_not_believed(grader: Any, proofs: Any) -> None:
    grader(lambda *_, **__: Result("passed", 1.0))
    check([NAME])
    written = ledger.read("exercises", NAME)["trials"]
    assert "attack" not in written and len(written["correct"]) >= 3
    grader(_right)
    assert check([NAME], fresh=True).ok and len(ledger.read("exercises", NAME)["trials"]["attack"]) >= 15


def test_a_repair_that_is_added_costs_its_own_run(grader: Any, proofs: Any, monkeypatch: Any) -> None:
    grader(_right)
    check([NAME])
    fault = load(NAME).about_fault[0]
    more = replace(fault, pretences={**fault.pretences, "another": Swap("seed = 0", "seed = 0 + 0")})
    monkeypatch.setattr(Exercise, "about_fault", property(lambda self: (more, {})))
    report = check([NAME])
    assert report.ok and report.runs == report.cached + 1


def test_a_grader_that_always_passes_is_noticed(grader: Any) -> None:
    grader(lambda *_, **__: Result("passed", 1.0))
    proof = check([NAME]).proofs[0]
    wrong = len(proof.trials) - proof.count("correct")[1] - proof.count("solution")[1]
    assert len(proof.problems) == wrong and all("must fail but earns 100%" in text for text in proof.problems)


def test_a_grader_that_always_fails_is_noticed(grader: Any) -> None:
    grader(lambda *_, **__: Result("wrong", 0.0, [Check("loss", "wrong", "too high")]))
    proof = check([NAME]).proofs[0]
    assert len(proof.problems) == proof.count("correct")[1] + proof.count("solution")[1]
    assert all("must pass but is wrong: loss: too high" in text for text in proof.problems)


@pytest.mark.parametrize(
    ("name", "numbers", "said"),
    [
        ("10", {"fresh_gradient.leftover": 0.9}, ""),
        ("10", {"fresh_gradient.leftover": 0.0}, "no number of gradients is outside its usual range"),
        ("17", {"fresh_gradient.leftover": 0.9}, "nothing is wrong, and 'gradients: norm left before backward()"),
        ("17", {"fresh_gradient.leftover": 0.0}, ""),
        ("06", {"fresh_gradient.leftover": 0.9}, "nothing is wrong, and 'gradients: norm left before backward()"),
        ("06", {"fresh_gradient.leftover": 0.0}, "no number of batch is outside its usual range"),
    ],
)
def test_what_shows_nothing_is_noticed(name: str, numbers: dict[str, float], said: str, monkeypatch: Any) -> None:
    def measured(names: list[str], *_: Any) -> dict[str, Reading]:
        return {view: Reading(numbers if view == "gradients" else {}) for view in names}

    monkeypatch.setattr(shown, "measured", measured)
    problems = shown.prove(load(name))["problems"]
    assert said in " ".join(problems) if said else problems == []


def test_points_for_what_is_wrong_are_noticed(grader: Any) -> None:
    grader(lambda *a, **_: replace(result := _right(*a), share=result.share or 0.1))
    assert any("must fail but earns 10%" in text for text in check([NAME]).proofs[0].problems)


def test_what_cannot_be_graded_is_noticed_and_not_kept(grader: Any) -> None:
    grader(lambda *_, **__: Result("cannot be graded", message="no sandbox"))
    assert "cannot be graded: no sandbox" in check([NAME]).proofs[0].problems[0]
    grader(_right)
    report = check([NAME])
    # the notebook's search for names, its views, and the attacks that leave nothing to grade
    assert report.ok and report.cached == 4 + len(ends(load(NAME)))


@pytest.mark.slow
def test_a_trap_that_pays_for_blame_is_noticed(grader: Any) -> None:
    grader(lambda name, source, diagnosis, **_: _right(name, source, {"cause": filled(load(name))["cause"]}))
    proof = check(["17"]).proofs[0]
    assert any("as handed out, blamed" in text and "must fail" in text for text in proof.problems)


@pytest.mark.parametrize(
    ("change", "word"),
    [({"repairs": {}}, "0 correct repairs"), ({"pretences": {}}, "0 pretences of its own")],
)
def test_a_thin_fault_is_noticed(grader: Any, monkeypatch: Any, change: dict[str, Any], word: str) -> None:
    grader(_right)
    thin = replace(load(NAME).about_fault[0], **change)
    monkeypatch.setattr(Exercise, "about_fault", property(lambda self: (thin, {})))
    assert word in "\n".join(check([NAME]).proofs[0].problems)


@pytest.mark.parametrize(
    ("change", "word"), [({"counts": {}}, "0 other edits that count"), ({"lazy": {}}, "0 lazy edits of its own")]
)
def test_a_thin_break_is_noticed(change: dict[str, Any], word: str) -> None:
    exercise = load("06")
    assert exercise.kind.thin(exercise, list(exercise.kind.trials(exercise))) == []
    thin = replace(exercise.kind, **change)
    assert word in "\n".join(thin.thin(exercise, list(thin.trials(exercise))))


def test_answers_that_pay_twice_are_noticed(monkeypatch: Any) -> None:
    exercise = load(NAME)
    assert exercise.kind.diagnoses(exercise) == (len(words()), [])
    monkeypatch.setattr(Repair, "grade_diagnosis", lambda *_: Result("passed", 1.0))
    count, problems = exercise.kind.diagnoses(exercise)
    assert len(problems) == count - 1 and "earns 100%" in problems[0]


@pytest.mark.parametrize("name", list(exercises()))
def test_no_file_tells(name: str) -> None:
    assert leaks.in_files(load(name)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Gradients that are stale"},
        {"story": "Somebody forgot zero_grad, so there are stale gradients."},
        {"name": "02_stale_gradients"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_leak_is_noticed(change: dict[str, Any]) -> None:
    assert leaks.in_files(replace(load(NAME), **change))


@pytest.mark.parametrize("name", list(exercises()))
def test_no_hint_and_no_test_tells(name: str) -> None:
    exercise = load(name)
    findings = () if exercise.kind.name == "break" else range(len(exercise.faults))
    tests = [text for of in findings for text in offered(exercise, of).texts]
    outputs = [{"cell": "hints", "text": "\n".join([*exercise.hints, *tests])}]
    assert leaks.in_outputs(exercise, outputs) == []
    leaking = [{"cell": "hints", "text": f"Perhaps {filled(load(NAME))['cause']}?"}]
    assert leaks.in_outputs(load(NAME), leaking)


def test_a_leak_in_metadata_is_noticed(monkeypatch: Any) -> None:
    def told(*arguments: Any) -> str:
        notebook = json.loads(real(*arguments))
        notebook["cells"][0]["metadata"]["case"] = "stale"
        return json.dumps(notebook)

    real = leaks.build
    monkeypatch.setattr(leaks, "build", told)
    assert leaks.in_files(load(NAME)) == ["the metadata says 'stale'"]


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_an_executed_notebook_that_tells_is_noticed(monkeypatch: Any) -> None:
    tells = "print(repr(type('Case', (), {'__repr__': lambda self: 'loop/stale_gradients'})()))"
    monkeypatch.setattr(curious, "PROBES", (tells, *curious.PROBES))  # the last one changes the program
    entry = leaks.prove(load(NAME))
    assert entry["letters"] > 1000 and len(entry["problems"]) >= 1
    assert all(text.startswith("cell probe-0 shows") for text in entry["problems"])


def test_unknown_names() -> None:
    with pytest.raises(UserError, match="10_restless_loss"):
        check(["02_restles_loss"])


def test_a_report_says_what_is_not_proved() -> None:
    report = CheckReport([Proof("a", False), Proof("b", False, problems=["why"])], 1.0, 2, 0)
    assert not report.ok and report.to_json()["proofs"][1]["problems"] == ["why"]
