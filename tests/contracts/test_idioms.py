"""Scripts as the libraries' own examples are built break no contract."""

import pytest

from tests.contracts.idioms import IDIOMS
from tests.contracts.listening import ran


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_of_the_libraries_breaks_none(name):
    findings, _ = ran(IDIOMS[name])
    assert findings == []


def test_a_moving_average_without_its_buffers_is_found():
    """Training and evaluation call batch norm from one line here: the evaluation is counted apart."""
    whole = IDIOMS["a moving average by hand, with buffers copied"]
    copied = "        for old, new in zip(ema.buffers(), model.buffers()):\n            old.copy_(new)\n"
    assert copied in whole
    findings, _ = ran(whole.replace(copied, ""))
    assert [finding.contract for finding in findings] == ["contracts/batch_norm_statistics_as_made"]
