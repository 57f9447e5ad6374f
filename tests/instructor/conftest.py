"""A real assignment, proved once for all test processes, and a class of submissions to it."""

import fcntl
from pathlib import Path

import pytest

from bugzoo.instructor import Assignment, prove, write

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
def week(small: Assignment, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of `small`, proved by real runs; the processes of one test session share it and only read it."""
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent  # the session's own folder, above those of its processes
    with (base / "week.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (base / "week_3").exists():
            write(prove(small), base / "week_3")
    return base / "week_3"
