"""Every cell's repairs and pretences are graded, kept and written down; what does not come out as it must is noticed."""

from dataclasses import replace
from typing import Any

import pytest

from bugzoo import faults, programs
from bugzoo.faults import Swap
from bugzoo.grading import quick
from bugzoo.grading.model import Check, Result
from bugzoo.grading.trials import MUST_PASS
from bugzoo.proving import code, completeness, ledger, tried
from bugzoo.proving.verify import verify
from bugzoo.scenario import Scenario, fits, plainest
from tests.sampling import only_in_prove

FAULT = "loss/double_softmax"


def prove(program: str = "mlp", **more: Any) -> Any:
    return verify([FAULT], [program], **more)


def entry(program: str = "mlp") -> dict[str, Any]:
    return ledger.read("faults", FAULT)["cells"][program]


def kinds(program: str) -> dict[str, int]:
    sequence = [trial.kind for trial in tried.of_cell(Scenario(program, (FAULT,)))]
    return {kind: sequence.count(kind) for kind in sequence}


def test_what_is_tried() -> None:
    count = len(faults.load(FAULT).pretences)
    whole, usual = kinds("mlp"), kinds("digits_cnn")
    assert plainest(faults.load(FAULT)) == "mlp"
    assert usual["solution"] == usual["unsolved"] == 1 and usual["correct"] >= 3 and 2 <= usual["degenerate"] <= count
    assert "attack" not in usual and whole["attack"] == tried.ATTACKS and whole["degenerate"] >= count + 4


@pytest.mark.slow
@pytest.mark.parametrize("share", [4, only_in_prove(1)], ids=["a quarter", "all"])
def test_together_the_faults_meet_many_attacks(share: int) -> None:
    met: set[str] = set()
    for fault in list(faults.catalogue().values())[::share]:
        if ledger.ours(fault.id):
            trials = tried.of_cell(Scenario(plainest(fault), (fault.id,)))
            met |= {trial.name for trial in trials if trial.kind == "attack"}
    assert len(met) >= 14


def test_what_is_graded_is_written_and_believed(runs, proofs, tmp_path) -> None:
    report = prove()
    assert report.ok and report.cells[0].graded == report.graded == len(runs.graded) == sum(kinds("mlp").values())
    written = entry()["graded"]["trials"]
    key, status, *failed = written["degenerate"]["clipping"]
    assert (
        len(key) == 33 and (status, failed) == ("wrong", ["loss"]) and written["solution"]["solution"][1:] == ["passed"]
    )
    for file in (tmp_path / "cache").iterdir():
        file.unlink()
    again = prove()
    assert again.ok and again.graded == 0 and again.cells[0].in_ledger and again.cells[0].graded == report.graded
    assert prove(fresh=True).graded == report.graded


@pytest.mark.parametrize("kind", ["repairs", "pretences"])
def test_a_cell_without_repairs_is_not_proved(runs, proofs, monkeypatch, kind: str) -> None:
    fault = faults.load(FAULT)
    first = next(iter(getattr(fault, kind)))
    monkeypatch.setitem(faults.catalogue(), FAULT, replace(fault, **{kind: {first: getattr(fault, kind)[first]}}))
    report = prove()
    assert (
        not report.ok and f"1 of its {kind} fit and differ here ({first}); a proof needs 2" in report.cells[0].problems
    )
    assert prove("digits_cnn").cells[0].problems, "nor on a program where they are not graded"


def test_other_seeds_grade_nothing(runs, proofs) -> None:
    assert verify([FAULT], ["mlp"], seeds=(0, 1)).graded == 0 and not runs.graded


@pytest.mark.parametrize(
    ("kind", "said"), [("degenerate", "must fail but earns 100%"), ("correct", "must pass but is wrong")]
)
def test_a_wrong_grader_is_noticed_and_only_that_is_tried_again(runs, proofs, tmp_path, kind: str, said: str) -> None:
    runs.spares = (kind,)
    report = prove()
    assert not report.ok and sum(said in text for text in report.cells[0].problems) == kinds("mlp")[kind]
    assert entry()["problems"] and kind not in entry()["graded"]["trials"]
    lacking = completeness.of_fault(faults.load(FAULT))
    assert any("on mlp is not proved" in text for text in lacking), "as `bugzoo verify` and the gate are told"
    assert prove().graded == 0 and not prove().ok  # what came of it is kept
    for file in (tmp_path / "cache").iterdir():
        file.unlink()
    runs.spares = ()
    assert prove().graded == kinds("mlp")[kind] and prove().ok


def test_what_cannot_be_graded_is_no_proof_and_not_kept(runs, proofs, monkeypatch) -> None:
    trouble = {"status": "cannot be graded", "share": 0.0, "failed": [], "saw": ["no sandbox"]}
    with monkeypatch.context() as patch:
        patch.setattr(tried, "grade_one", lambda asked: trouble)
        assert "'solution' cannot be graded: no sandbox" in prove().cells[0].problems[0]
    report = prove()
    assert report.ok and report.graded >= sum(kinds("mlp").values()) - 2


def test_a_repair_that_is_added_costs_its_own_run(runs, proofs, monkeypatch) -> None:
    prove()
    fault = faults.load(FAULT)
    more = replace(fault, pretences={**fault.pretences, "another": Swap("seed = 0", "seed = 0 + 0")})
    monkeypatch.setattr(faults, "load", lambda name: more)
    report = prove()
    assert report.graded == 1 and report.runs == 0 and runs.graded[-1] == ("mlp", "degenerate", "another")


@pytest.mark.parametrize("part", ["room", "own_forward", "ignore"])
def test_what_a_repair_may_need_is_part_of_the_key(runs, proofs, monkeypatch, part: str) -> None:
    prove()
    other = replace(faults.load(FAULT), **{part: {"room": 3.0, "own_forward": True, "ignore": ("crash",)}[part]})
    monkeypatch.setattr(faults, "load", lambda name: other)
    assert prove().graded == sum(kinds("mlp").values())


def test_another_grader_grades_again(runs, proofs, monkeypatch) -> None:
    prove()
    monkeypatch.setattr(code, "grading", lambda: "another grader")
    assert tried.lacks(faults.load(FAULT), "mlp", entry()) == "", (
        "what another grader said stands until it is asked again"
    )
    report = prove()
    assert report.runs == 0 and report.graded == sum(kinds("mlp").values())


def test_ctrl_c_loses_only_what_was_being_graded(runs, proofs) -> None:
    def interrupt(done: int, of: int) -> None:
        if of and done == of - sum(kinds("mlp").values()) + 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prove(progress=interrupt)
    written = entry()
    assert sum(map(len, written["graded"]["trials"].values())) == 5 and written["graded"]["made"] == ""
    assert len(written["outcomes"]) == 5 and "| proved |" in ledger.matrix(), "the numbers are whole"
    report = prove()
    assert report.ok and report.graded == sum(kinds("mlp").values()) - 5


def test_progress_counts_runs_and_submissions(runs) -> None:
    calls: list[tuple[int, int]] = []
    report = prove(progress=lambda *now: calls.append(now))
    assert calls[0][0] == 0 and calls[-1] == (report.runs + report.graded,) * 2
    assert {of for _, of in calls} == {report.runs + report.graded} and calls == sorted(calls)


def test_where_nothing_can_be_graded_it_says_why(runs, proofs, monkeypatch) -> None:
    load = programs.load

    def bare(name: str) -> Any:
        program = load(name)
        return replace(program, facts={k: v for k, v in program.facts.items() if k != "held_out"})

    monkeypatch.setattr(programs, "load", bare)
    report = prove()
    assert "the facts of mlp lack held_out" in report.cells[0].not_graded and not runs.graded
    assert "held_out" in entry()["not_graded"] and "| proved, not graded |" in ledger.matrix()
    assert tried.lacks(faults.load(FAULT), "mlp", entry()) == ""
    monkeypatch.setattr(programs, "load", load)
    assert "is outdated" in tried.lacks(faults.load(FAULT), "mlp", entry())


@pytest.mark.parametrize(
    ("failed", "asked"),
    [
        ((), [(4,)]),
        (("loss",), [(4,), (4, 5, 6)]),
        (("accuracy", "training loss"), [(4,), (4, 5, 6)]),
        (("loss", "symptom"), [(4,)]),
    ],
)
def test_three_seeds_where_one_leaves_it_open(monkeypatch, failed: tuple[str, ...], asked: list[Any]) -> None:
    calls = []

    def grade(source: str, scenario: Scenario, *, seeds: Any) -> Result:
        calls.append(seeds)
        return Result("wrong" if failed else "passed", checks=[Check(name, "wrong", "") for name in failed])

    monkeypatch.setattr(quick, "grade", grade)
    quick.quick("", Scenario("mlp", (FAULT,), seed=4))
    assert calls == asked


@pytest.mark.slow
@pytest.mark.parametrize("name", [only_in_prove("solution"), only_in_prove("as handed out")])
def test_a_real_grading(name: str) -> None:
    trial = next(candidate for candidate in tried.of_cell(Scenario("mlp", (FAULT,))) if candidate.name == name)
    assert (tried.grade_one((FAULT, "mlp", trial))["status"] == "passed") == (trial.kind in MUST_PASS)


def test_every_cell_says_what_is_tried_on_it() -> None:
    for fault in faults.catalogue().values():
        texts = {tried.impossible(fault, program) for program in fits(fault) if ledger.ours(fault.id)}
        assert all(bool(why) == fault.needs.cuda for why in texts), (fault.id, texts)  # the grader runs on a processor
