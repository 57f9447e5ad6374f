"""Each contract is broken by the one example and kept by the other, through real calls."""

import string
from types import SimpleNamespace

import numpy as np
import pytest

from bugzoo.contracts import contract, contracts
from bugzoo.contracts.model import KINDS
from bugzoo.contracts.observe import resolve
from bugzoo.diagnostics._effects import EFFECTS
from bugzoo.errors import UserError
from bugzoo.faults import catalogue
from bugzoo.watching.records import Validation
from bugzoo.watching.trace import Trace
from tests.contracts.listening import ran

ALL = list(contracts().values())


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_each_is_broken_and_kept(one):
    findings, aside = ran(one.breaks)
    breaches = [finding for finding in findings if finding.contract == one.id]
    assert len(breaches) == 1 and one.id not in aside, (findings, aside)
    assert breaches[0].line >= 1 and breaches[0].broken >= 1
    sentence = one.given.format(**breaches[0].numbers)
    assert sentence[0].isupper() or sentence[0] in "`0123456789", sentence
    healthy, aside = ran(one.keeps)
    assert one.id not in {finding.contract for finding in healthy} and one.id not in aside, (healthy, aside)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_each_says_what_a_reader_needs(one):
    assert one.kind in KINDS and one.page.startswith("https://") and one.wrong.endswith(".")
    for text in (one.demand, one.given, one.instead):
        assert text.endswith(".") and len(text.split()) <= 40, text
    assert [name for _, name, *_ in string.Formatter().parse(one.given) if name], "the user's own numbers"
    assert all(resolve(target) for target in one.on) and set(one.explains) <= set(EFFECTS)
    assert set(one.causes) <= set(catalogue())


def test_one_is_found_by_its_name():
    assert contract("ctc_blank") is contract("contracts/ctc_blank")
    with pytest.raises(UserError, match="ctc_blank"):
        contract("ctc_blanc")


def test_effects_are_told_from_losses_and_evaluations():
    def seen(loss, outcome="finished", held_out=()):
        places = [Validation(line=1, step=list(range(len(held_out))), loss=list(held_out), accuracy=[])]
        run = SimpleNamespace(trace=Trace(loss=np.array(loss), outcome=outcome, validation=places), readings={})
        return {name for name in ("loss not finite", "held-out loss far above training") if EFFECTS[name](run)}

    falling = np.linspace(1.0, 0.1, 40)
    assert seen(falling, held_out=(1.0, 0.15)) == seen(falling) == seen([np.nan, 1.0]) == set()
    assert seen(falling, held_out=(1.0, 0.9)) == {"held-out loss far above training"}
    assert seen(falling, "non_finite") == {"loss not finite"}
