"""`verify` with nothing to do makes no text; before it does something it says what and why; other code alone changes nothing."""

import json
from dataclasses import replace
from typing import Any

import pytest

import bugzoo.faults as faults
from bugzoo.cli import proof
from bugzoo.proving import ledger, measured, parts, standing
from bugzoo.proving.verify import Plan, verify
from tests.cli.conftest import bugzoo  # noqa: F401

FAULT = "loss/double_softmax"


def entry() -> dict[str, Any]:
    return ledger.read("faults", FAULT)["cells"]["mlp"]


def test_nothing_changed_compares_hashes_alone(bugzoo: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """On the committed ledger, as in a fresh clone: no text of a cell is made, nothing is run, nothing is written."""
    monkeypatch.delenv("BUGZOO_PROOFS")
    for module, name in ((parts, "keys_of"), (measured, "measured"), (ledger, "write"), (standing, "write_atomic")):
        monkeypatch.setattr(module, name, lambda *_, name=name: pytest.fail(f"{name} was called"))
    called = bugzoo("verify")
    assert called.code == 0 and "0 runs" in called.out and "Nothing has changed" in called.out, called.out + called.err
    held, of = called.out.split(" results are taken from the ledger")[0].split("\n")[-1].split(" of ")
    assert held == of and int(held) > 1000


def test_a_row_stands_until_the_ledger_the_fault_or_a_program_changes(runs, proofs, monkeypatch) -> None:
    fault = faults.load(FAULT)
    assert not standing.stands(fault)
    verify([FAULT], ["mlp"])
    standing.write({FAULT: standing.row(fault)}, {FAULT})
    assert standing.stands(fault)
    file = proofs / "faults" / f"{FAULT}.json"
    text = file.read_text()
    file.write_text(text.replace('"problems": []', '"problems": ["why"]'))
    assert not standing.stands(fault)
    old = json.loads(text)["cells"]["mlp"]["full"]
    file.write_text(text.replace(old, f"{old[:16]}-{'0' * 16}"))
    assert standing.stands(fault), "which code measured it is not part of the row"
    monkeypatch.setattr(standing, "_common", lambda: "other programs")
    assert not standing.stands(fault)
    standing.write({}, set())
    assert standing.rows() == {}


def test_what_other_code_measured_is_measured_again_only_when_asked(runs, proofs) -> None:
    verify([FAULT], ["mlp"])
    file, before = proofs / "faults" / f"{FAULT}.json", entry()
    old = {name: f"{before[name][:16]}-{'0' * 16}" for name in ("evidence", "full")}
    text = file.read_text()
    for name, key in old.items():
        text = text.replace(before[name], key)
    file.write_text(text)
    runs.asked.clear()
    assert verify([FAULT], ["mlp"], backlog=False).cells[0].in_ledger and not runs.asked
    assert {name: entry()[name] for name in old} == old, "it keeps the name of the code that measured it"
    assert not verify([FAULT], ["mlp"]).cells[0].in_ledger and entry() == before


@pytest.mark.parametrize(("threshold", "proved"), [(0.7, True), (5.0, False)])
def test_a_threshold_is_judged_on_the_numbers_of_the_ledger(runs, proofs, monkeypatch, threshold, proved) -> None:
    verify([FAULT], ["mlp"])
    fault = faults.load(FAULT)
    left = fault.evidence[0].split(" ")[0]
    moved = replace(fault, evidence=(f"{left} > {threshold}", *fault.evidence[1:]))
    assert moved.evidence != fault.evidence
    monkeypatch.setattr(faults, "load", lambda name: moved if name == FAULT else fault)
    runs.asked.clear()
    report = verify([FAULT], ["mlp"])
    assert not [call for call in runs.asked if "F.softmax(" in call[0]], "no run of the cell"
    problems = [text for text in report.cells[0].problems if "of its" not in text]
    assert (problems == []) == proved, problems
    assert proved or problems[0].startswith(f"`{left} > 5.0` holds on 0 of 5 broken runs")


def test_it_says_what_it_would_run_and_why_before_it_does(runs, proofs) -> None:
    plans: list[Plan] = []

    def no(plan: Plan) -> None:
        plans.append(plan)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify([FAULT], ["mlp"], ask=no)
    [plan] = plans
    assert plan.runs == 10 and plan.gradings > 10 and plan.minutes > 0 and not runs.asked
    assert plan.by_reason()["not in the ledger, or not trusted"] == [f"{FAULT} on mlp", "healthy mlp"]
    assert ledger.read("faults", FAULT) == {}
    verify([FAULT], ["mlp"])
    verify([FAULT], ["mlp"], ask=lambda plan: pytest.fail(f"{plan} where nothing is to do"))


def test_long_work_needs_a_yes(bugzoo: Any, runs, proofs, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setattr(proof, "LONG", 0.0)
    called = bugzoo("verify", FAULT, "--program", "mlp")
    assert called.code == 2 and "Add --yes to start" in called.err and not runs.asked
    assert "10 runs" in called.err and "because not in the ledger" in called.err
    assert bugzoo("verify", FAULT, "--program", "mlp", "--yes").code == 0 and runs.asked


@pytest.mark.parametrize("given", [FAULT, "--fresh", "--backlog"])
def test_a_sample_takes_nothing_else(bugzoo: Any, given: str) -> None:  # noqa: F811
    called = bugzoo("verify", given, "--sample", "3")
    assert called.code == 2 and f"Leave out {given}" in called.err
