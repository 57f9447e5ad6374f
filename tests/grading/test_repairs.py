"""Any correct repair passes, whatever its style."""

import pytest

from bugzoo.grading.texts import same_program
from tests.grading.attempt import must_pass
from tests.grading.tricks import BROKEN, REPAIRS

QUICK = ("the model's own", "zeros, not None", "after the step", "None by hand")


def test_they_are_different_programs():
    texts = [repair(BROKEN) for repair in REPAIRS.values()]
    assert not any(same_program(text, other) for i, text in enumerate(texts) for other in [*texts[:i], BROKEN])


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_other_repairs_than_ours_pass(name):
    must_pass(REPAIRS[name](BROKEN))


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in REPAIRS if name not in QUICK])
def test_and_odd_ones_too(name):
    must_pass(REPAIRS[name](BROKEN), seeds=(0,))
