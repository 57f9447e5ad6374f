"""What the exercises' texts say of their runs, measured."""

import math
import re

import numpy as np
import pytest

from bugzoo import Scenario, course
from bugzoo.grading import healthy
from bugzoo.grading.exercises import load, with_program
from bugzoo.grading.workbench import report
from bugzoo.running import run_here

WORDS = "two three four five six seven eight nine ten twelve twenty fifty hundred thousand half twice".split()


def missing(story: str, printed: str) -> list[str]:
    """Numbers of a story that the run does not print, to two units of their last digit, and numbers in words."""
    numbers = [float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", printed)]
    stated = re.findall(r"\d+(?:\.\d+)?", story)
    unit = {number: 10.0 ** -len(number.partition(".")[2]) for number in stated}
    gone = [
        number for number in stated if not any(abs(figure - float(number)) <= 2 * unit[number] for figure in numbers)
    ]
    return gone + [word for word in re.findall(r"[a-z]+", story.lower()) if word in WORDS]


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", list(with_program()))
def test_every_number_of_a_ticket_is_printed_by_its_run(name: str) -> None:
    exercise = load(name)
    run = healthy.recorded(exercise.handed_out, exercise.scenario.ranks)
    printed = "\n".join(report(run.points, "finished", run.metrics, healthy.Twin(name).curve()))
    assert missing(exercise.story, printed) == [], printed


def test_a_number_that_no_run_prints_is_noticed() -> None:
    assert missing("It reads 93 % at 1.55.", "accuracy 93 %\n 196-216 1.554") == []
    assert missing("It falls to 1.49 in six epochs.", "196-216  1.554") == ["1.49", "six"]


@pytest.mark.sampled(0)
def test_the_nan_comes_sooner_the_faster_it_learns_and_is_no_case_of_the_lesson() -> None:
    exercise = load("07")
    text = exercise.handed_out
    losses = run_here(text).trace.loss
    epoch = math.ceil(1150 / 32)
    first = bad(losses)
    assert epoch < first < 2 * epoch and losses[first - 1] == math.inf and np.isnan(losses[first:]).all()
    assert losses[epoch - 5 : epoch].mean() < 0.9 * losses[:5].mean(), "the loss falls in the first epoch"
    slow, fast = (bad(run_here(at_rate(text, factor)).trace.loss) for factor in (0.1, 2))
    assert fast < first < slow <= len(losses)
    diffs = [Scenario(*spec).diff() for spec in course.load("03").cases.values()]
    assert exercise.scenario.diff() not in diffs


def bad(losses: np.ndarray) -> int:
    """The first step, from 1, whose loss is not finite."""
    return int(np.flatnonzero(~np.isfinite(losses))[0]) + 1


def at_rate(text: str, factor: float) -> str:
    changed, lines = re.subn(r"^learning_rate = (\S+)", rf"learning_rate = {factor} * \1", text, flags=re.MULTILINE)
    assert lines == 1
    return changed


@pytest.mark.sampled(0)
def test_a_clamp_ends_the_nan_of_a_logarithm_and_costs_half_as_much_again() -> None:
    """The advice in the catalogue: a clamp leaves a finite loss, and a worse one."""
    mlp = Scenario("mlp", ("numerics/log_at_step?step=50&eps=0",))
    clamped = mlp.source.replace("hidden - hidden.min() + 0.0", "(hidden - hidden.min()).clamp(min=1e-6)")
    assert clamped != mlp.source
    run, healthy = run_here(clamped), run_here(mlp.healthy().source)
    assert np.isfinite(run.trace.loss).all() and run.trace.metrics["loss"] > 1.5 * healthy.trace.metrics["loss"]
