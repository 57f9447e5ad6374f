"""A real assignment, proved once for all test processes, and a class of submissions to it."""

from pathlib import Path

import pytest

from bugzoo.instructor import Assignment, write
from tests.instructor.class_of import graded_on_two_seeds, written_proof

FAULTS = ("loop/stale_gradients", "loss/double_softmax")
TITLE = "Week 3"


@pytest.fixture(scope="session")
def draft() -> Assignment:
    return Assignment("mini_transformer", FAULTS, seed=7, title=TITLE)


@pytest.fixture(scope="session")
def small() -> Assignment:
    """The same on the smallest program, whose runs are short: what a class hands in is made of it."""
    return Assignment("mlp", FAULTS, seed=7, title=TITLE)


@pytest.fixture(scope="session")
def week(small: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `small`. Its proof is written down: `test_assign.py` proves an assignment by real runs."""
    return graded_on_two_seeds(write(written_proof(small), tmp_path_factory.mktemp("week") / "week_3"))
