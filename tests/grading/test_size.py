"""A repair keeps the size of the model; only where it may compute something else may BatchNorm's averages go."""

import pytest

from bugzoo.grading.integrity import _size

NORM = {
    "norm.weight": (16,),
    "norm.bias": (16,),
    "norm.running_mean": (16,),
    "norm.running_var": (16,),
    "head.weight": (10, 16),
}
GROUPS = {"norm.weight": (16,), "norm.bias": (16,), "head.weight": (10, 16)}


@pytest.mark.parametrize(
    ("found", "own_forward", "status"),
    [
        (NORM, False, "passed"),
        (GROUPS, False, "wrong"),
        (GROUPS, True, "passed"),
        ({**GROUPS, "head.bias": (10,)}, True, "wrong"),
        ({**GROUPS, "head.running_mean": (9999,)}, True, "wrong"),
        ({**NORM, "head.running_mean": (10,)}, True, "wrong"),
        ({"head.weight": (10, 16)}, True, "wrong"),
    ],
)
def test_the_numbers_that_are_learnt_stay_as_many(found, own_forward, status):
    assert _size(found, NORM, own_forward).status == status
