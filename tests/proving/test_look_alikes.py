"""The test that tells two faults apart is run on both, one seed each."""

from dataclasses import replace

import pytest

from bugzoo import faults
from bugzoo.proving.look_alikes import Pair, pairs, prove

PAIRS = [pair for fault in faults.catalogue().values() for pair in pairs(fault)]


def test_every_look_alike_with_a_number_has_a_program() -> None:
    wanted = [(f.id, one.other) for f in faults.catalogue().values() for one in f.look_alikes if one.claims[0]]
    assert [(pair.fault.id, pair.look_alike.other) for pair in PAIRS] == wanted and len(PAIRS) >= 8


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_it_tells_them_apart(pair: Pair) -> None:
    assert prove(pair) == []


@pytest.mark.slow
def test_one_that_tells_nothing_is_noticed() -> None:
    pair = next(pair for pair in PAIRS if pair.look_alike.other == "optimizer/lr_too_high")
    same = replace(pair.look_alike, there=pair.look_alike.here)
    assert "`fresh_gradient.stale_share > 0.5` does not hold (saw" in prove(replace(pair, look_alike=same))[0]
