"""What the ledger lacks is told with the command to type, and a verdict that differs from the written one is noticed."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from bugzoo.proving import completeness, coverage, ledger
from bugzoo.proving.parts import told_of
from bugzoo.proving.verify import verify

FAULT = "loss/double_softmax"
PAIRS = list(coverage.pairs(coverage.catalogue.load(FAULT)))


@pytest.fixture(autouse=True)
def only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A house with one fault, two programs and one exercise."""
    single = coverage.catalogue.load(FAULT)
    monkeypatch.setattr(coverage, "catalogue", SimpleNamespace(catalogue=lambda: {FAULT: single}))
    for module in (coverage, completeness):
        monkeypatch.setattr(module, "fits", lambda fault: ("digits_cnn", "mlp"))
        monkeypatch.setattr(module, "pairs", lambda fault: PAIRS)
    monkeypatch.setattr(coverage, "programs", SimpleNamespace(names=lambda: ["digits_cnn", "mlp"]))
    name = "10_restless_loss"
    monkeypatch.setattr(coverage, "exercises", lambda real=coverage.exercises: {name: real()[name]})


@pytest.fixture
def whole(runs, proofs) -> Any:
    """A ledger that holds all of it; the submissions are made up as well."""
    verify([FAULT], ["digits_cnn", "mlp"])
    fields = {pair.look_alike.other: told_of(pair, False).entry() for pair in PAIRS}
    ledger.write("faults", FAULT, ledger.read("faults", FAULT) | {"look_alikes": fields})
    for name in coverage.exercises():
        trials: dict[str, Any] = {}
        for (_, kind, title), trial in coverage.work_of(name).items():
            passed = kind in ("solution", "correct")
            fields = {"status": "passed" if passed else "wrong", "share": float(passed), "failed": []}
            trials.setdefault(kind, {})[title] = {"key": coverage.key_of(trial), **fields}
        ledger.write("exercises", name, {"trials": trials})
    return proofs


def spoil(file: Any, *path: str, value: Any) -> None:
    entry = json.loads(file.read_text())
    part = entry
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    file.write_text(json.dumps(entry))


def test_a_whole_ledger_lacks_nothing(whole) -> None:
    assert coverage.lacking() == []


def test_an_empty_one_lacks_everything(proofs) -> None:
    lines = coverage.lacking()
    assert f"{FAULT} on mlp is not in the ledger; type `bugzoo verify {FAULT}`" in lines
    assert "healthy mlp is not in the ledger; type `bugzoo verify --program mlp`" in lines
    assert any(text.endswith("is not in the ledger; type `bugzoo check 10_restless_loss`") for text in lines)


STALE = [
    ("faults/loss/double_softmax", ("cells", "mlp", "evidence"), "0", "on mlp has changed since it was proved"),
    ("faults/loss/double_softmax", ("cells", "mlp", "full"), "0", "on mlp has changed since it was proved"),
    ("faults/loss/double_softmax", ("cells", "mlp", "problems"), ["why"], "on mlp is not proved: why"),
    ("faults/loss/double_softmax", ("cells", "gone"), {}, "no longer fits gone"),
    (
        "faults/loss/double_softmax",
        ("cells", "mlp", "graded"),
        {"made": "0", "trials": {"correct": {"by hand": ["0-0", "passed"]}}},
        "1 of its repairs and pretences have changed",
    ),
    ("faults/loss/double_softmax", ("cells", "mlp", "not_graded"), "why", "is outdated"),
    ("faults/loss/double_softmax", ("look_alikes", "gone"), {}, "no longer has the look-alike gone"),
    (
        "faults/loss/double_softmax",
        ("look_alikes", "traps/log_softmax_first", "key"),
        "0",
        "beside traps/log_softmax_first has changed",
    ),
    ("programs/mlp", ("full",), "0", "healthy mlp has changed"),
    (
        "exercises/10_restless_loss",
        ("trials", "solution", "solution", "key"),
        "0",
        "solution 'solution' has changed",
    ),
    ("exercises/10_restless_loss", ("trials", "correct", "gone"), {}, "no longer has the correct 'gone'"),
]
"""File, place in it, what is written there, and what is said of it."""


@pytest.mark.slow
def test_what_is_stale_is_told(whole) -> None:
    """One ledger, which is spoiled and mended again for each case."""
    for name, path, value, reason in STALE:
        file = whole / f"{name}.json"
        before = file.read_text()
        spoil(file, *path, value=value)
        lines = coverage.lacking()
        assert any(reason in text for text in lines), (name, path, lines)
        assert all("matrix" in text or reason in text for text in lines), (name, path, lines)
        file.write_text(before)
    assert coverage.lacking() == []


def test_what_other_code_measured_stands_until_it_is_done_again(whole, runs) -> None:
    for name in ("evidence", "full"):
        old = ledger.read("faults", FAULT)["cells"]["mlp"][name]
        spoil(whole / "faults" / "loss" / "double_softmax.json", "cells", "mlp", name, value=f"{old[:16]}-{'0' * 16}")
    assert [text for text in coverage.lacking() if "matrix" not in text] == []
    assert not verify([FAULT], ["mlp"]).cells[0].in_ledger
    assert verify([FAULT], ["mlp"]).cells[0].in_ledger, "it was done again, and written down"


def test_what_is_left_over_is_told(whole) -> None:
    (whole / "faults" / "loss" / "gone.json").write_text("{}")
    assert "proofs/faults/loss/gone.json is about something that does not exist; delete it" in coverage.lacking()
    (whole / "faults" / "loss" / "gone.json").unlink()
    (whole / "matrix.md").write_text("old")
    assert coverage.lacking() == ["proofs/matrix.md does not match the entries beside it; type `bugzoo verify`"]


@pytest.mark.slow
def test_what_waits_for_its_proof_is_not_missed_and_not_forgotten(whole) -> None:
    file = whole / "faults" / "loss" / "double_softmax.json"
    entry = json.loads(file.read_text())
    del entry["cells"]["digits_cnn"]
    file.write_text(json.dumps(entry))
    assert any(text.startswith(f"{FAULT} on digits_cnn is not in the ledger") for text in coverage.lacking())
    (whole / "waiting.txt").write_text(f"# a remark\n{FAULT} on digits_cnn\n")
    ledger.write_matrix()
    assert coverage.lacking() == []
    assert f"| {FAULT} | digits_cnn | waits for its proof | |" in ledger.matrix()
    (whole / "waiting.txt").write_text(f"{FAULT} on digits_cnn\n{FAULT} on mlp\n")
    assert [text for text in coverage.lacking() if "matrix" not in text] == [
        f"proofs/waiting.txt: {FAULT} on mlp is proved or unknown; delete the line"
    ]


def as_written(trial: Any) -> dict[str, Any]:
    entry = ledger.read("exercises", trial.exercise)["trials"][trial.kind][trial.name]
    return {**entry, "saw": [], "seconds": 0.0}


def test_a_sample_that_agrees(whole, monkeypatch) -> None:
    monkeypatch.setattr(coverage, "prove_one", as_written)
    monkeypatch.setattr(coverage.look_alikes, "judge", lambda *_: [])
    sampled, problems = coverage.sample(4, seed=3)
    assert len(sampled) == 4 and problems == []
    assert coverage.sample(4, seed=3)[0] == sampled
    assert len({tuple(coverage.sample(4, seed=seed)[0]) for seed in range(6)}) > 3
    everything, problems = coverage.sample(1000, seed=3)
    assert len(everything) > 40 and problems == []


def test_a_sample_that_differs(whole, runs, monkeypatch) -> None:
    monkeypatch.setattr(coverage, "prove_one", lambda trial: as_written(trial) | {"status": "passed", "share": 1.0})
    runs.outcome = "crashed"
    _, problems = coverage.sample(1000, seed=0)
    assert sum(FAULT in text and "ended as crashed, the ledger says finished" in text for text in problems) == 10
    assert any("unsolved 'as handed out': unsolved 'as handed out' must fail" in text for text in problems)


def test_an_instrument_that_fires_now_is_noticed(whole, monkeypatch) -> None:
    spoil(whole / "faults/loss/double_softmax.json", "cells", "mlp", "fired", value=["crash", "double_normalisation"])
    monkeypatch.setattr(coverage, "prove_one", as_written)
    monkeypatch.setattr(coverage.look_alikes, "judge", lambda *_: [])
    _, problems = coverage.sample(1000, seed=0)
    assert problems == [f"{FAULT} on mlp, seed 0: crash: fires either now or in the ledger, not in both"]
