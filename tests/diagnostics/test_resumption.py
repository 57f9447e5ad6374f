"""What differs after a stop says what was not restored."""

from dataclasses import replace

import numpy as np
import pytest

from bugzoo.diagnostics import NotApplicable, instrument, read
from bugzoo.running import Job, Run
from bugzoo.watching.trace import Trace

JUDGED = instrument("resumption")


def run(losses, rates=None, accuracy=0.9, files=(), outcome="finished"):
    trace = Trace(metrics={"accuracy": accuracy})
    trace.loss, trace.step = np.array(losses, float), np.arange(len(losses))
    trace.learning_rate = np.array(rates if rates is not None else [0.1] * len(losses), float)
    return Run(replace(trace, outcome=outcome), files={name: b"x" for name in files})


WHOLE = [3.0, 2.5, 2.2, 2.0]


def measured(resumed, **more):
    return JUDGED.measure(run(WHOLE), run(WHOLE[:2], files=("last.pt",)), run(resumed, **more))


def test_nothing_happened():
    numbers = measured(WHOLE[2:])
    assert (numbers["first_difference"], numbers["more_steps"], numbers["stopped_at"]) == (0, 0, 2)
    assert not JUDGED.judge(numbers).fired


@pytest.mark.parametrize(
    ("resumed", "more", "first", "cause"),
    [
        ([2.2, 2.1], {}, 4, "resume/optimizer_state_lost"),
        ([2.2, 2.1], {"rates": [0.3, 0.3]}, 4, "resume/optimizer_state_lost"),
        ([2.2, 2.1], {"rates": [0.1, 0.3]}, 4, "resume/scheduler_restarted"),
        ([2.3, 2.1], {}, 3, "resume/generator_not_restored"),
        (WHOLE[2:], {"accuracy": 0.8}, 0, "resume/last_instead_of_best"),
    ],
)
def test_the_first_difference_names_what_was_lost(resumed, more, first, cause):
    numbers = measured(resumed, **more)
    verdict = JUDGED.judge(numbers)
    assert numbers["first_difference"] == first and verdict.fired
    assert verdict.suspects[0].cause == cause


def test_training_that_begins_again_is_none_that_goes_on():
    verdict = JUDGED.judge(measured(WHOLE))
    assert verdict.fired and "2 steps are trained twice" in verdict.message


@pytest.mark.parametrize(
    ("stopped", "resumed", "why"),
    [
        (run(WHOLE[:2]), run(WHOLE[2:]), "left no file"),
        (run([3.0], outcome="crashed"), None, "was to stop half way ended as crashed"),
        (run(WHOLE[:2], files=("a",)), run([], outcome="timed_out"), "was to go on from there ended as timed_out"),
    ],
)
def test_where_there_is_no_pair_there_is_a_reason(stopped, resumed, why):
    with pytest.raises(NotApplicable, match=why):
        JUDGED.measure(run(WHOLE), *filter(None, (stopped, resumed)))


def test_a_script_that_cannot_be_stopped_says_so():
    with pytest.raises(NotApplicable, match="stop_after"):
        JUDGED.again(Job("epochs = 3\n"))
    finished = replace(run(WHOLE), source="epochs = 3\n")
    assert "stop_after" in read("resumption", finished).why_not
