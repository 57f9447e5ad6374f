"""The way from a symptom to what it can be: it asks what tells most for its price, and leads every proved run home."""

import pytest

from bugzoo import faults as catalogue
from bugzoo.pages import tree
from bugzoo.pages.entries import by_symptom
from bugzoo.pages.tree import Fork, grow
from bugzoo.proving import ledger

TOY = {"a": {"x": 1.0, "y": 1.0}, "b": {"x": 1.0}, "c": {"z": 1.0}, "d": {}}


def leaf(fork: Fork, fired: set[str]) -> tuple[str, ...]:
    """Where somebody ends who goes through the tree with these instruments firing."""
    while fork.instrument:
        side = fork.fires if fork.instrument in fired else fork.silent
        assert side is not None
        fork = side
    return fork.faults


def test_what_tells_most_is_asked_first() -> None:
    fork = grow(TOY, {"x": 1.0, "y": 1.0, "z": 1.0})
    assert fork.instrument == "x", "it halves them; the others cut one off"
    for name, fired in TOY.items():
        assert leaf(fork, set(fired)) == (name,)


def test_a_dear_instrument_comes_later() -> None:
    assert grow(TOY, {"x": 5.0, "y": 1.0, "z": 1.0}).instrument != "x"


def test_a_fault_on_which_an_instrument_wavers_stands_on_both_sides() -> None:
    fork = grow({"a": {"x": 0.5}, "b": {"x": 1.0}, "c": {}}, {"x": 1.0})
    assert leaf(fork, {"x"}) == ("a", "b") and leaf(fork, set()) == ("a", "c")


def test_what_nothing_divides_is_an_end() -> None:
    assert grow({"a": {"x": 1.0}, "b": {"x": 1.0}}, {"x": 1.0}) == Fork(("a", "b"))


@pytest.mark.parametrize("symptom", [name for name in by_symptom() if name != "none"])
def test_every_proved_run_is_led_to_its_fault(symptom: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where an instrument fires on some programs only: up to the quarter that `SURE` gives away."""
    monkeypatch.delenv("BUGZOO_PROOFS")  # the ledger of this checkout
    faults = by_symptom()[symptom]
    shares = tree.fired(faults)
    fork = grow(shares, tree.prices())
    total = led = 0
    for fault_id in shares:
        for cell in ledger.read("faults", fault_id)["cells"].values():
            total += 1
            led += fault_id in leaf(fork, set(cell["fired"]))
    assert led >= tree.SURE * total > 0 or not shares


def test_a_fault_that_is_not_proved_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "read", lambda kind, name: {"cells": {"mlp": {"problems": ["no"], "fired": ["x"]}}})
    assert tree.fired(catalogue.catalogue().values()) == {}
