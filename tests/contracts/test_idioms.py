"""Scripts as the libraries' own examples are built break no contract."""

import pytest

from tests.contracts.idioms import IDIOMS
from tests.contracts.listening import ran


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_of_the_libraries_breaks_none(name):
    found, _ = ran(IDIOMS[name])
    assert found == []
