"""What stands together in one program: the list, the ledger's word on it, and what `assign` makes of that word."""

import json
from pathlib import Path
from typing import Any

import pytest

from bugzoo.instructor import combinations, proof
from bugzoo.instructor.combinations import Combination, hides, listed
from bugzoo.instructor.model import Assignment
from bugzoo.proving import ledger

PAIR = ("loop/stale_gradients", "loss/double_softmax")


@pytest.fixture
def proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BUGZOO_PROOFS", str(tmp_path / "proofs"))
    return tmp_path / "proofs"


def known(**said: Any) -> Combination:
    combination = Combination("mlp", PAIR, known=True, **said)
    ledger.write(combinations.KIND, "mlp", {combination.name: combination.entry()})
    return combination


def test_every_combination_of_the_list_is_one() -> None:
    for combination in listed():
        assert combination.key and len(combination.faults) in (2, 3), combination.name
        if combination.decoy:
            assert combination.ids == tuple(fault.id for fault, _ in (*combination.decoy.specs, *combination.decoy.odd))
            continue
        assert Assignment(combination.program, combination.faults).ids == combination.ids
    names = [(combination.program, frozenset(combination.faults)) for combination in listed()]
    assert len(names) == len(set(names)), "one stands twice"


def test_the_ledger_knows_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")  # the ledger of this checkout
    unknown = [f"{combination.program}: {combination.name}" for combination in listed() if not combination.known]
    assert unknown == [], "type `bugzoo pairs --prove`"
    for program in ledger.names(combinations.KIND):
        assert set(ledger.read(combinations.KIND, program)) == {
            combination.name for combination in listed(programs=[program])
        }


def test_only_what_was_asked_for() -> None:
    calls: list[tuple[int, int]] = []
    assert {
        combination.program for combination in listed(programs=["digits_cnn"], progress=lambda *at: calls.append(at))
    } == {"digits_cnn"}
    assert calls and calls[-1][0] == calls[-1][1] == len(calls)
    assert all("loss/double_softmax" in combination.ids for combination in listed(["loss/double_softmax"]))


def test_what_is_known_to_hide_is_refused_without_a_run(proofs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(problems=["one hides the other: 3 of 3"], hidden={PAIR[0]: [PAIR[1]]})
    monkeypatch.setattr(proof.visible, "look", lambda *_: pytest.fail("it was run"))
    outcome = proof.prove(Assignment("mlp", PAIR))
    with pytest.raises(proof.Refused, match=r"not every fault in it can be seen[\s\S]*one hides the other"):
        proof.refuse(outcome)


def test_hidden_is_said_of_those_parameters_on_that_program_alone(proofs: Path) -> None:
    assert hides("mlp", PAIR) == []
    known(problems=["hidden"], hidden={})
    assert hides("mlp", PAIR) == ["hidden"] == hides("mlp", (*PAIR, "freezing/frozen_layers"))
    assert hides("digits_cnn", PAIR) == [] == hides("mlp", PAIR[:1])


def test_a_changed_text_is_not_known(proofs: Path) -> None:
    known()
    assert Combination("mlp", PAIR).read().known
    file = proofs / "combinations" / "mlp.json"
    entries = json.loads(file.read_text())
    for entry in entries.values():
        entry["key"] = "0" * 16 + entry["key"][16:]
    file.write_text(json.dumps(entries))
    assert not Combination("mlp", PAIR).read().known


def test_a_decoy_is_listed_by_either_name_and_does_not_keep_faults_apart(proofs: Path) -> None:
    [combination] = listed(["traps/validation_not_shuffled"])
    assert (
        combination.decoy
        and combination.name == "modes/batch_norm_tiny_batches + traps/validation_not_shuffled"
        and not combination.known
    )
    assert combination.name in [other.name for other in listed(["modes/batch_norm_tiny_batches"])]
    ledger.write(
        combinations.KIND, combination.program, {combination.name: combination.entry() | {"problems": ["it does harm"]}}
    )
    assert combination.read().problems == ["it does harm"] and hides("digits_cnn", combination.faults) == []


@pytest.mark.slow
def test_one_is_measured_and_written_down(proofs: Path) -> None:
    [combination] = combinations.prove([Combination("mlp", PAIR).read()])
    assert combination.known and not combination.problems
    again = Combination("mlp", PAIR).read()
    assert again.known and again.entry() == combination.entry()
