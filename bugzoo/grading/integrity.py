"""The third kind of checks on one seed: what a repair must not change, and what cannot be graded at all."""

import math
from collections.abc import Mapping

import numpy as np

from bugzoo.grading import reference
from bugzoo.grading.baseline import Baseline, reached, trusted, untouched, weights
from bugzoo.grading.checks import SAME, account
from bugzoo.grading.evaluation import task
from bugzoo.grading.evaluation.members import foreign
from bugzoo.grading.evaluation.tasks import Score, TaskKind
from bugzoo.grading.model import Check, state_of
from bugzoo.grading.tolerances import tolerances
from bugzoo.running import Run
from bugzoo.scenario import Scenario

MANY = 60
"""Steps that are compared for a program without epochs."""
AVERAGES = ("running_mean", "running_var", "num_batches_tracked")
"""Buffers of torch's BatchNorm besides its weights."""
Shapes = Mapping[str, tuple[int, ...]]


def out_of_sight(run: Run, scenario: Scenario) -> Check | None:
    """Return a check for training that the grader cannot see and that need not be a trick; None if it is visible."""
    note, state, steps = account(run), weights(run.arrays), len(run.trace.step)
    if run.outcome not in ("finished", "non_finite") or "changed" not in note or note["changed"]:
        return None
    if not state:
        saw = "After the run there is no torch module named `model`, so there are no weights to grade."
        wanted = "The program should keep a torch module named `model`, as in the program handed out."
        return Check("model", "cannot be graded", saw, wanted, group="runs") if steps else None
    with trusted:
        still = max(
            untouched(run), reference.never_moved(scenario, state)
        )  # with another shape, only the run itself can tell
        moved = still < sum(value.size for value in state.values()) / 2
    if not steps and moved:
        saw = "The weights changed, but no step of a torch optimizer was seen."
        wanted = "An optimizer from torch.optim should take the steps."
        return Check("run", "cannot be graded", saw, wanted, group="runs")
    unseen = np.shape(run.trace.backwards) == (steps,) and not np.any(run.trace.backwards)
    if steps and moved and unseen and not np.isfinite(np.asarray(run.trace.loss, dtype=np.float64)).any():
        saw = f"The optimizer took {steps} steps, but neither loss.backward() nor torch.autograd.grad() was seen."
        wanted = "One of these should compute the gradients of the model's parameters."
        return Check("run", "cannot be graded", saw, wanted, group="runs")
    return None


def integrity(run: Run, scenario: Scenario, twin: Baseline) -> list[Check]:
    """Check budget, model size, data, an honest report, and unmodified torch and bugzoo."""
    note = account(run)
    steps = len(run.trace.step)
    saw = f"The optimizer steps were counted. The program took {steps} steps."
    right = f"It should take {twin.steps}, as the program handed out."
    checks = [Check("budget", state_of(steps == twin.steps), saw, right, float(steps), group="unchanged")]
    if changed := note.get("changed"):
        saw = f"The functions of torch and bugzoo were compared before and after the run. Changed: {', '.join(changed[:3])}."
        right = "They should stay as they are installed."
        checks.append(Check("tools", "wrong", saw, right, group="unchanged"))
    elif "changed" not in note:
        saw = (
            "The functions of torch and bugzoo were compared before and after the run. The run left no report on them."
        )
        right = "They should stay as they are installed."
        checks.append(Check("tools", "wrong", saw, right, group="unchanged"))
    state = weights(run.arrays)
    kind = task(scenario.program)
    with trusted:
        wanted = reference.shapes(scenario)
        member = reference.membership(scenario)
        honest, said = None, run.arrays.get("predictions")
        if state and said is not None and reference.fits(scenario, state):
            usual_answers = reference.answer(scenario, state, reference.questions(scenario)[0])
            if kind.difference(usual_answers, said) < SAME:  # another forward pass has another accuracy
                honest = reference.own_validation(scenario, state)
    checks.append(_size({name: value.shape for name, value in state.items()}, wanted, tolerances(scenario).own_forward))
    batches = [batch for rank in run.ranks or [run] for batch in account(rank).get("batches") or []]
    seen, strange = foreign(batches, member)
    saw = f"{seen} examples of the training batches were inspected. "
    saw += f"{strange} of them are not training examples" if strange else "All of them are training examples"
    saw += " with their labels."
    if not seen:
        saw = f"The training batches were inspected. None could be read ({note.get('problem') or 'none was kept'})."
    right = "All of them should be; up to 5% others pass."
    good_data = strange <= 0.05 * seen and seen > 0
    checks.append(Check("data", state_of(good_data), saw, right, float(strange), group="unchanged"))
    if honest is not None:
        checks.append(_report(run, kind, honest))
    return checks


def _size(found: Shapes, wanted: Shapes, own_forward: bool) -> Check:
    """Check that the model has as many parameters as the reference. If a repair may change the forward pass, torch's
    normalization running statistics may be missing. The rest must match, and the total must not be larger."""
    size, usual = (sum(math.prod(shape) for shape in one.values()) for one in (found, wanted))
    good = size == usual
    if own_forward and size < usual:
        learnt = [
            sum(math.prod(shape) for name, shape in one.items() if name.rpartition(".")[2] not in AVERAGES)
            for one in (found, wanted)
        ]
        good = learnt[0] == learnt[1]
    saw = f"The numbers in the model's parameters and buffers were counted. The model has {size} of them."
    right = f"It should have {usual}, as the healthy model."
    return Check("model size", state_of(good), saw, right, float(size), group="unchanged")


def _report(run: Run, kind: TaskKind, honest: Score) -> Check:
    """Check that the metric the program reports is that of its weights on its own validation data."""
    real = {kind.metric: honest.value, "loss": honest.loss}
    said = {name: run.trace.metrics.get(name) for name in kind.reported}
    off = [name for name, value in said.items() if value is None or not abs(value - real[name]) <= kind.reported[name]]
    name = off[0] if off else kind.metric
    claimed = said[name]
    saw = "The trained model was tested again on the program's validation data. "
    saw += f"The program reports {name} {claimed:.3f}" if claimed is not None else f"The program does not report {name}"
    saw += "." if off else ", which is right."
    right = f"It should report {real[name]:.3f}."
    return Check("report", state_of(not off), saw, right, claimed, group="unchanged")


def unchanged(run: Run, scenario: Scenario, twin: Baseline) -> Check:
    """Check, for a healthy case, that the losses of the first epoch equal the twin's, step by step, up to rounding.

    They may also equal those of the program without its trap: removing that does no harm. Later losses may come in
    another order, as an extra look at the validation data draws random numbers.
    """
    losses = np.asarray(run.trace.loss, dtype=np.float64)
    if np.shape(run.trace.backwards) == losses.shape:  # compare the sum of the losses that a step went back through
        losses = losses * np.maximum(run.trace.backwards, 1)
    first = min(len(losses), len(twin.losses), reference.epoch(scenario) or MANY)
    ours = [twin.losses, reached(scenario, scenario.healthy().source).losses]
    gap = min(float(np.abs(losses[:first] - np.asarray(one[:first])).mean()) for one in ours) if first else math.inf
    gap /= max(float(np.abs(np.asarray(twin.losses[:first])).mean()), 1e-12) if first else 1.0
    saw = "Nothing is wrong in the program handed out, so its losses were compared with yours. "
    saw += f"Those of the first {first} steps differ by {gap:.2g} (relative)."
    wanted = "They should be the same, up to rounding."
    return Check("agreement", state_of(gap < 1e-3), saw, wanted, gap, group="unchanged")
