"""A case, evidence of a real run, and a session on a clock that the test winds."""

from dataclasses import replace

import pytest

from bugzoo.interview.deck import draw
from bugzoo.interview.evidence import Evidence, collect
from bugzoo.interview.session import Session, open_folder


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="session")
def collected() -> Evidence:
    """One real run of a broken mlp and its twin, shared by all tests of this folder."""
    return collect(draw(5, "loop/stale_gradients", "mlp").scenario)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def evidence(collected) -> Evidence:
    run = replace(collected.run, readings=dict(collected.run.readings))
    return Evidence(collected.scenario, run, dict(collected.readings), collected.twin_losses)


def passing(case, source):
    """A grader that knows one thing: whether the gradients are cleared. The real one has tests of its own."""
    return {"share": float("zero_grad" in source), "why": "as graded", "checks": []}


@pytest.fixture
def session(evidence, clock, tmp_path) -> Session:
    case = draw(5, "loop/stale_gradients", "mlp")
    script = open_folder(case, tmp_path / "case", 5)
    return Session(case, evidence, script, 5, passing, clock)
