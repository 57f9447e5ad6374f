"""The test that tells two faults apart is run on both, one seed each, and stands in the ledger; a sample of it runs here."""

from dataclasses import replace

import pytest

from bugzoo import faults
from bugzoo.proving import ledger, look_alikes
from bugzoo.proving.look_alikes import Pair, pairs
from bugzoo.proving.measured import measured
from bugzoo.proving.parts import told_of
from bugzoo.proving.verify import verify
from tests.waiting import WAITING

PAIRS = [pair for fault in faults.catalogue().values() for pair in pairs(fault)]
FAULT, OTHER = "loss/double_softmax", "traps/log_softmax_first"


def named(pair: Pair) -> str:
    """As `proofs/waiting.txt` names it."""
    return f"{pair.fault.id} beside {pair.look_alike.other}"


def prove(pair: Pair) -> list[str]:
    return look_alikes.judge(pair, measured(look_alikes.wanted(pair))[0])


def test_every_look_alike_with_a_number_has_a_program() -> None:
    expected = [(f.id, like.other) for f in faults.catalogue().values() for like in f.look_alikes if like.claims[0]]
    assert [(pair.fault.id, pair.look_alike.other) for pair in PAIRS] == expected and len(PAIRS) >= 8


@pytest.mark.sampled(0)
@pytest.mark.slow
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if named(pair) not in WAITING], ids=str)
def test_it_tells_them_apart(pair: Pair) -> None:
    assert prove(pair) == []


@pytest.mark.slow
def test_one_that_tells_nothing_is_noticed() -> None:
    pair = next(
        p for p in PAIRS if (p.fault.id, p.look_alike.other) == ("loop/stale_gradients", "optimizer/lr_too_high")
    )
    same = replace(pair.look_alike, there=pair.look_alike.here)
    assert "`fresh_gradient.stale_share > 0.5` does not hold (saw" in prove(replace(pair, look_alike=same))[0]


def test_verify_runs_both_and_writes_it_down(runs, proofs, monkeypatch) -> None:
    monkeypatch.setattr(look_alikes, "judge", lambda pair, results: [] if len(results) == 2 else ["half"])
    pair = next(pair for pair in PAIRS if (pair.fault.id, pair.look_alike.other) == (FAULT, OTHER))
    report = verify([FAULT], [pair.program])
    assert [(entry.fault, entry.other, entry.problems) for entry in report.look_alikes] == [(FAULT, OTHER, [])]
    assert ledger.read("faults", FAULT)["look_alikes"][OTHER] == ledger.plain(told_of(pair, False).entry())
    assert verify([FAULT], [pair.program]).look_alikes[0].in_ledger
    assert verify([FAULT], ["mlp"]).look_alikes == [] and OTHER in ledger.read("faults", FAULT)["look_alikes"]


def test_one_that_does_not_hold_is_no_proof(runs, proofs, monkeypatch) -> None:
    monkeypatch.setattr(look_alikes, "judge", lambda *_: ["they are the same"])
    report = verify([FAULT], ["amp_transformer"])
    assert report.look_alikes[0].problems == ["they are the same"]
    assert not replace(report, cells=[], controls=[]).ok and replace(report, cells=[], controls=[], look_alikes=[]).ok
    assert not verify([FAULT], ["amp_transformer"]).look_alikes[0].in_ledger


def test_a_claim_that_changes_is_another_key() -> None:
    pair = PAIRS[0]
    other = replace(pair, look_alike=replace(pair.look_alike, here="It is more: `mode_watch.toggles > 0.9`."))
    assert look_alikes.key_of(pair) != look_alikes.key_of(other)
