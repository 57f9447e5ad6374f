"""Measured difficulty: what is subtle comes after what is loud, and `level` is held against it."""

import math
from typing import Any

import pytest

from bugzoo import faults as catalogue
from bugzoo.proving import ledger
from tests.benchmarks import levels as difficulty
from tests.benchmarks.levels import Difficulty, agreement, difficulties

CELL = {"problems": [], "fired": ["x"], "numbers": {}}


def told(monkeypatch: pytest.MonkeyPatch, said: dict[str, dict[str, Any]]) -> list[Difficulty]:
    monkeypatch.setattr(
        ledger, "read", lambda kind, name: {"cells": {"mlp": CELL | said[name]}} if name in said else {}
    )
    return difficulties()


def numbers(broken: float) -> dict[str, Any]:
    return {"numbers": {"loss_curve.final_loss": {"broken": [broken] * 5, "healthy": [1.0, 1.1, 0.9, 1.0, 1.0]}}}


def test_a_small_effect_that_few_instruments_see_is_hard(monkeypatch: pytest.MonkeyPatch) -> None:
    assert catalogue.load("loss/double_softmax").effect == "loss_curve.final_loss > healthy"
    trials = {"graded": {"trials": {"degenerate": {"lower rate": ["key", "wrong", "accuracy"]}}}}
    hard, easy = told(
        monkeypatch,
        {"loss/double_softmax": numbers(1.2) | trials, "graph/inplace_activation": {"fired": ["crash", "dependency"]}},
    )[::-1]
    assert (hard.fault, easy.fault) == ("loss/double_softmax", "graph/inplace_activation")
    assert (hard.score, easy.score) == (pytest.approx((1 + 1 + 0) / 3), 0.0)
    assert (hard.seen, easy.seen, easy.quiet) == (None, 3.0, None)
    assert hard.effect == pytest.approx(0.2 / 0.0632, rel=1e-2) and math.isinf(easy.effect) and hard.quiet == 1.0


def test_what_shows_in_no_number_that_everybody_looks_at_is_harder(monkeypatch: pytest.MonkeyPatch) -> None:
    def handed_out(*checks: str) -> dict[str, Any]:
        trial = {"as handed out": ["key", "wrong", *checks]}
        return numbers(1.2) | {"graded": {"trials": {"unsolved": trial}}}

    told_in = {
        "loss/double_softmax": handed_out("loss_curve", "symptom"),
        "loop/step_missing": handed_out("loss", "r2"),
    }
    easy, hard = told(monkeypatch, told_in)
    assert (easy.fault, easy.seen, hard.fault, hard.seen) == ("loop/step_missing", 2.0, "loss/double_softmax", 0.0)


def test_level_follows_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")  # the ledger of this checkout
    rho, p = agreement(difficulties())
    assert rho > 0.5 and p < 1e-6


def test_what_is_not_proved_has_no_difficulty(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, {"loss/double_softmax": numbers(1.2) | {"problems": ["no"]}}) == []


def test_a_lost_number_is_beyond_any_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    [place] = told(
        monkeypatch,
        {"loss/double_softmax": {"numbers": {"loss_curve.final_loss": {"broken": ["inf"], "healthy": [1.0]}}}},
    )
    assert math.isinf(place.effect)


def test_agreement_is_that_of_ranks() -> None:
    def made(*levels: int) -> list[Difficulty]:
        return [Difficulty("f", level, 1.0, 0.0, 1.0, None, place) for place, level in enumerate(levels)]

    assert agreement(made(1, 2, 3, 5))[0] == pytest.approx(1.0)
    assert agreement(made(5, 3, 2, 1))[0] == pytest.approx(-1.0)
    assert math.isnan(agreement(made(1, 2))[0])


def test_every_proved_fault_has_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")  # the ledger of this checkout
    places = difficulties()
    assert {place.fault for place in places} == {
        fault.id for fault in catalogue.catalogue().values() if not fault.trap and difficulty.measured(fault)
    }
    assert all(0 <= place.score <= 1 for place in places)
