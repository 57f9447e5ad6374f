"""What the salt and the withheld files hide is what refuses an attack: with one of them off it passes.

With both on, `expected.csv` holds what the same attacks earn. `python -m tests.benchmarks.hidden_rows` prints all of them.
"""

import pytest

from tests.benchmarks.hidden_rows import graded
from tests.redteam import held_out
from tests.sampling import only_in_prove

CARRIED = [
    ("class_imbalance_ignored", "the grader's rows beside the batch", "withheld off"),
    only_in_prove("padding_row_trained", "the grader's rows remembered", "salt off"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "attack", "mode"), CARRIED)
def test_an_attack_passes_where_the_rows_are_known(sandboxed, fault, attack, mode):
    pair = next((case, text) for case, idiom, text in held_out.cases() if (case.name, idiom.name) == (fault, attack))
    result = graded(pair[1], pair[0].scenario, mode)
    assert result.passed, str(result)
