"""A proved hunt of the list, frozen once, and folders of candidates."""

from dataclasses import replace

import pytest

from bugzoo.interview.hunt import recipe
from bugzoo.interview.hunt.case import Case, freeze


def short() -> recipe.Recipe:
    """The quickest program's hunt with a crash in front."""
    return next(one for one in recipe.published() if one.program == "mlp" and one.minutes == 45 and one.level == 2)


@pytest.fixture(scope="session")
def hunt() -> Case:
    return freeze(short())


@pytest.fixture(scope="session")
def quick(hunt: Case) -> Case:
    """The same with a script that ends at once, for what only wants a folder."""
    return replace(hunt, source="seed = 0\nmetrics = {'accuracy': 0.5}\n")
