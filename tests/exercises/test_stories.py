"""What the exercises' texts say of their runs, measured."""

import math
import re

import numpy as np

from bugzoo import Scenario, lessons
from bugzoo.diagnostics import dependency
from bugzoo.grading.answers import right
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import handed_out, healthy_text
from bugzoo.grading.repairs import pretences
from bugzoo.running import run_here


def end(losses: np.ndarray) -> float:
    """Mean of the last twenty, nats."""
    return float(losses[-20:].mean())


def test_the_numbers_of_the_first_story() -> None:
    exercise = load("01")
    named = [float(number) for number in re.findall(r"\d\.\d+", exercise.story)]
    text = handed_out(exercise)
    short, long = (run_here(t).trace.loss for t in (text, text.replace("epochs = 6", "epochs = 18")))
    assert named == [round(float(short[:3].mean()), 1), round(end(short), 2), round(end(long), 2)]
    assert end(run_here(healthy_text(exercise)).trace.loss) < 0.3, "the floor is the fault's"


def test_the_third_sets_in_where_its_story_says_and_is_no_case_of_the_lesson() -> None:
    exercise = load("03")
    case, losses = exercise.scenario, run_here(handed_out(exercise)).trace.loss
    epoch = math.ceil(1150 / 32)
    first = int(np.flatnonzero(~np.isfinite(losses))[0]) + 1
    assert epoch < first < epoch * 1.5, "early in the second epoch"
    assert losses[epoch - 5 : epoch].mean() < 0.9 * losses[:5].mean(), "the loss falls in the first"
    onset = right(exercise).step
    assert onset is not None and onset[0] < first <= onset[1]
    shown = [Scenario(*known).diff() for known in lessons.load("03").cases.values()]
    assert case.diff() not in shown and not any("1e-50" in diff for diff in shown)


def test_what_ends_the_nan_of_the_third_is_not_yet_a_repair() -> None:
    """The advice in the catalogue: eps and clamp leave a finite loss, a worse one, and samples that see each other."""
    exercise = load("03")
    run = run_here(pretences(handed_out(exercise), *exercise.about_fault)["an eps"])
    assert np.isfinite(run.trace.loss).all() and dependency.judge(dependency.measure(run)).fired
    quiet = run_here(healthy_text(exercise))
    assert not dependency.judge(dependency.measure(quiet)).fired
    mlp = Scenario("mlp", ("numerics/log_at_step?step=50&eps=0",))
    clamped = mlp.source.replace("hidden - hidden.min() + 0.0", "(hidden - hidden.min()).clamp(min=1e-6)")
    assert clamped != mlp.source
    one, healthy = run_here(clamped), run_here(mlp.healthy().source)
    assert np.isfinite(one.trace.loss).all() and one.trace.metrics["loss"] > 1.5 * healthy.trace.metrics["loss"]
