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
    one = Combination("mlp", PAIR, known=True, **said)
    ledger.write(combinations.KIND, "mlp", {one.name: one.entry()})
    return one


def test_every_combination_of_the_list_is_one() -> None:
    for one in listed():
        assert one.key and len(one.faults) in (2, 3), one.name
        if one.decoy:
            assert one.ids == tuple(fault.id for fault, _ in (*one.decoy.specs, *one.decoy.odd))
            continue
        assert Assignment(one.program, one.faults).ids == one.ids
    names = [(one.program, frozenset(one.faults)) for one in listed()]
    assert len(names) == len(set(names)), "one stands twice"


def test_the_ledger_knows_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")  # the ledger of this checkout
    unknown = [f"{one.program}: {one.name}" for one in listed() if not one.known]
    assert unknown == [], "type `bugzoo pairs --prove`"
    for program in ledger.names(combinations.KIND):
        assert set(ledger.read(combinations.KIND, program)) == {one.name for one in listed(programs=[program])}


def test_only_what_was_asked_for() -> None:
    told: list[tuple[int, int]] = []
    assert {one.program for one in listed(programs=["digits_cnn"], progress=lambda *at: told.append(at))} == {
        "digits_cnn"
    }
    assert told and told[-1][0] == told[-1][1] == len(told)
    assert all("loss/double_softmax" in one.ids for one in listed(["loss/double_softmax"]))


def test_what_is_known_to_hide_is_refused_without_a_run(proofs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(problems=["one hides the other: 3 of 3"], hidden={PAIR[0]: [PAIR[1]]})
    monkeypatch.setattr(proof.visible, "look", lambda *_: pytest.fail("it was run"))
    done = proof.prove(Assignment("mlp", PAIR))
    with pytest.raises(proof.Refused, match=r"not every fault in it can be seen[\s\S]*one hides the other"):
        proof.refuse(done)


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
    [one] = listed(["traps/validation_not_shuffled"])
    assert one.decoy and one.name == "modes/batch_norm_tiny_batches + traps/validation_not_shuffled" and not one.known
    assert one.name in [other.name for other in listed(["modes/batch_norm_tiny_batches"])]
    ledger.write(combinations.KIND, one.program, {one.name: one.entry() | {"problems": ["it does harm"]}})
    assert one.read().problems == ["it does harm"] and hides("digits_cnn", one.faults) == []


@pytest.mark.slow
def test_one_is_measured_and_written_down(proofs: Path) -> None:
    [one] = combinations.prove([Combination("mlp", PAIR).read()])
    assert one.known and not one.problems
    again = Combination("mlp", PAIR).read()
    assert again.known and again.entry() == one.entry()
