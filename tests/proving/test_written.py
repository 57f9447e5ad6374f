"""The ledger: what is written into it, what of it is believed, and what makes it stale."""

import json

import pytest

from bugzoo import faults
from bugzoo.proving import cells, code, ledger
from bugzoo.proving.verify import verify

FAULT = "loss/double_softmax"


def prove(**more):
    return verify([FAULT], ["mlp"], **more)


def entry():
    return ledger.read("faults", FAULT)["cells"]["mlp"]


def other_code(monkeypatch: pytest.MonkeyPatch, which: str, *names: str) -> None:
    real = getattr(code, which)
    monkeypatch.setattr(code, which, lambda *given: real(*given) + ("!" if not names or given[0] in names else ""))


def test_what_is_written(runs, proofs) -> None:
    report = prove()
    assert report.ok and (report.runs, report.cached, report.believed) == (10, 0, 0)
    stored = entry()
    assert stored["outcomes"] == ["finished"] * 5 and stored["agreeing"] == 5 and stored["problems"] == []
    assert stored["numbers"]["loss_curve.final_loss"] == {"broken": [1.2] * 5, "healthy": [0.2] * 5}
    assert stored["fired"] == ["double_normalisation"]
    assert ledger.read("programs", "mlp")["metrics"] == {"accuracy": [0.95] * 5, "loss": [0.2] * 5}
    assert "| loss/double_softmax | mlp | proved, with " in (proofs / "matrix.md").read_text()


def test_five_seeds_measure_what_is_named_and_one_everything(runs) -> None:
    prove()
    broken = [names for source, names in runs.asked if "F.softmax(" in source]
    healthy = [names for source, names in runs.asked if "F.softmax(" not in source]
    everything = tuple(sorted(code.everything()))
    assert sorted(broken, key=len) == [("double_normalisation", "loss_curve")] * 4 + [everything]
    assert healthy == [everything] * 5
    assert "determinism" not in everything and "overfit_one_batch" in everything


def test_what_the_ledger_holds_is_believed(runs, proofs, tmp_path) -> None:
    first = prove()
    for file in (tmp_path / "cache").iterdir():
        file.unlink()
    again = prove()
    assert again.ok and (again.runs, again.believed) == (0, 2) and len(runs.asked) == 10
    assert again.cells[0].fired == first.cells[0].fired and again.cells[0].agreeing == 5
    assert prove(fresh=True).runs == 10 and len(runs.asked) == 20


def test_nothing_is_rewritten_without_a_change(runs, proofs) -> None:
    prove()
    before = {file: file.read_bytes() for file in proofs.rglob("*.*")}
    assert len(before) == 3
    prove(fresh=True)
    assert {file: file.read_bytes() for file in proofs.rglob("*.*")} == before


@pytest.mark.parametrize(
    ("which", "names", "asked"),
    [
        ("measuring", ["double_normalisation"], 10),  # the evidence: every seed
        ("measuring", ["crash"], 6),  # no part of the evidence: the first seed, and the healthy program on all
        ("judging", ["double_normalisation"], 10),
        ("core", [], 10),
    ],
)
def test_what_makes_it_stale(runs, proofs, monkeypatch, which: str, names: list[str], asked: int) -> None:
    prove()
    other_code(monkeypatch, which, *names)
    assert prove().runs == asked
    assert prove().runs == 0


def test_a_change_to_the_fault_makes_it_stale(runs, proofs, monkeypatch) -> None:
    from dataclasses import replace

    prove()
    sound = faults.load(FAULT)
    monkeypatch.setattr(faults, "load", lambda name: replace(sound, why="Another sentence."))
    assert prove().runs == 0
    monkeypatch.setattr(faults, "load", lambda name: replace(sound, evidence=("loss_curve.final_loss > 1.0",)))
    assert prove().runs == 10


def test_what_is_not_proved_is_written_and_not_believed(runs, proofs, tmp_path) -> None:
    runs.outcome = "crashed"
    report = prove()
    assert not report.ok and entry()["problems"] and "**not proved**" in (proofs / "matrix.md").read_text()
    runs.outcome = "finished"
    assert prove().believed == 0 and prove(fresh=True).ok and prove().believed == 2


def test_other_cells_of_a_fault_stay(runs, proofs) -> None:
    prove()
    verify([FAULT], ["digits_cnn"])
    assert list(ledger.read("faults", FAULT)["cells"]) == ["digits_cnn", "mlp"]
    assert prove().runs == 0


def test_other_seeds_and_a_fault_of_a_pack_are_not_written(runs, proofs) -> None:
    prove(seeds=(0, 1))
    assert not proofs.exists()
    assert ledger.ours("loss/double_softmax") and not ledger.ours("sample:loss/other")


def test_without_a_ledger_the_cache_does(runs, tmp_path) -> None:
    assert prove().cached == 0 and prove().cached == 10
    assert not list(tmp_path.rglob("*.md"))


def test_how_it_is_written() -> None:
    sample = {"a": {"b": [1.23456789, float("inf"), float("nan"), None]}, "c": [], "d": ["x" * 70, "é"], "e": {}}
    text = ledger.to_text(ledger.plain(sample))
    assert json.loads(text) == {
        "a": {"b": [1.23457, "Infinity", "NaN", None]}, "c": [], "d": ["x" * 70, "é"], "e": {}
    }  # fmt: skip
    assert text.splitlines()[1:4] == ['  "a": {', '    "b": [1.23457, "Infinity", "NaN", null]', "  },"]
    assert text.endswith("}\n") and "é" in text


def test_a_trap_is_measured_whole_on_all_seeds(runs, proofs) -> None:
    verify(["traps/log_softmax_first"], ["mlp"])
    assert len(runs.asked) == 10 and {names for _, names in runs.asked} == {tuple(sorted(code.everything()))}


def test_keys_know_what_is_named() -> None:
    assert cells.named(faults.load(FAULT)) == {"double_normalisation", "loss_curve"}
    assert cells.named(faults.load("graph/inplace_activation")) == set()
    assert "determinism" in cells.named(faults.load("reproducibility/unseeded"))
