"""Each instrument on its own two scripts, really run: quiet on the healthy one, and it fires on the sick one."""

from typing import Any

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics._example import Example, example
from bugzoo.running import Job, Run, run_here, run_worker
from tests.sampling import only_in_prove

# torch says once that global hooks, as the watch has them, also hear the wrapper round a compiled module
pytestmark = pytest.mark.filterwarnings("ignore:Using `torch.compile:UserWarning")

ONLY_THE_SICK = {"crash", "replay"}
"""They have nothing to say of a run in which nothing went wrong."""


def accuses(name: str) -> bool:
    """An instrument that shows something and judges nothing says `ACCUSES = False`."""
    return diagnostics.declared(name).get("ACCUSES", True)


@pytest.mark.parametrize("name", [name for name in diagnostics.names() if not accuses(name)])
def test_who_accuses_nobody_still_tells_the_two_apart(name):
    messages = []
    for which in ("HEALTHY", "SICK"):
        reading = diagnostics.read(name, ran(name, which))
        assert reading.applies, reading.why_not
        messages += [verdict.message for verdict in diagnostics.judge_all({name: reading})]
    assert messages[0] != messages[1]


def in_gate(name: str) -> Any:
    """Who starts the script again, several times, is tried by `make prove`."""
    return only_in_prove(name) if name in ("fresh_process", "determinism", "resumption") else name


def ran(name: str, which: str) -> Run:
    return of_example(name, getattr(diagnostics.instrument(name), which))


def of_example(name: str, chosen: Example) -> Run:
    if chosen.ranks == 1:
        return run_here(chosen.source, file=f"{name}.py")
    return run_worker(Job(chosen.source, file=f"{name}.py", ranks=chosen.ranks))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", diagnostics.names())
def test_it_is_quiet_on_its_healthy_example(name):
    run = ran(name, "HEALTHY")
    assert run.outcome == "finished", run.trace.error
    reading = diagnostics.read(name, run)
    assert reading.applies is (name not in ONLY_THE_SICK), reading.why_not
    verdicts = diagnostics.judge_all({name: reading})
    assert not [verdict for verdict in verdicts if verdict.fired]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [in_gate(name) for name in diagnostics.names() if accuses(name)])
def test_it_fires_on_its_sick_example(name):
    reading = diagnostics.read(name, ran(name, "SICK"))
    assert reading.applies, reading.why_not
    (verdict,) = diagnostics.judge_all({name: reading})
    assert verdict.fired and verdict.suspects, verdict.message


FURTHER = [
    (name, n) for name in diagnostics.names() for n in range(len(getattr(diagnostics.instrument(name), "FURTHER", ())))
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "place"), FURTHER)
def test_a_further_pair_of_scripts_is_told_apart(name, place):
    """An instrument that looks at several things has a pair for each of them."""
    fired = []
    for case in diagnostics.instrument(name).FURTHER[place]:
        reading = diagnostics.read(name, of_example(name, case))
        assert reading.applies, reading.why_not
        fired += [verdict.fired for verdict in diagnostics.judge_all({name: reading})]
    assert fired == [False, True]


def test_an_example_that_changes_nothing_is_refused():
    with pytest.raises(ValueError, match="occurs 0 times"):
        example(("optimiser.step()", "pass"))
