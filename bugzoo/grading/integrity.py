"""What a repair must not change on one seed, and what cannot be graded at all."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bugzoo.grading import reference
from bugzoo.grading.baseline import reached
from bugzoo.grading.evaluation.members import foreign
from bugzoo.grading.evaluation.tasks import Score, TaskKind
from bugzoo.grading.model import Check, state_of
from bugzoo.grading.readings import account
from bugzoo.grading.recovery import SAME
from bugzoo.grading.reference import trusted
from bugzoo.grading.submission import Submission
from bugzoo.running import Run

MANY = 60
"""Steps that are compared for a program without epochs."""
ORDER = 0.05
"""How much the mean loss of an epoch may differ, relative, where the batches come in another order."""
AVERAGES = ("running_mean", "running_var", "num_batches_tracked")
"""Buffers of torch's BatchNorm besides its weights."""
Shapes = Mapping[str, tuple[int, ...]]


def out_of_sight(one: Submission) -> Check | None:
    """Return a check for training that the grader cannot see and that need not be a trick; None if it is visible."""
    run, note, state, steps = one.run, one.account, one.weights, len(one.losses)
    if run.outcome not in ("finished", "non_finite") or "changed" not in note or note["changed"]:
        return None
    if not state:
        saw = "After the run there is no torch module named `model`, so there are no weights to grade."
        expected = "The program should keep a torch module named `model`, as in the program handed out."
        return Check("model", "cannot be graded", saw, expected, group="runs") if steps else None
    moved = one.still < sum(value.size for value in state.values()) / 2
    if not steps and moved:
        saw = "The weights changed, but no step of a torch optimizer was seen."
        expected = "An optimizer from torch.optim should take the steps."
        return Check("run", "cannot be graded", saw, expected, group="runs")
    unseen = np.shape(run.trace.backwards) == (steps,) and not np.any(run.trace.backwards)
    if steps and moved and unseen and not np.isfinite(one.losses).any():
        saw = f"The optimizer took {steps} steps, but neither loss.backward() nor torch.autograd.grad() was seen."
        expected = "One of these should compute the gradients of the model's parameters."
        return Check("run", "cannot be graded", saw, expected, group="runs")
    return None


def integrity(one: Submission) -> list[Check]:
    """Check budget, unmodified torch and bugzoo, model size, data, and an honest report."""
    with trusted:
        shapes = reference.shapes(one.case)
    size = _size({name: value.shape for name, value in one.weights.items()}, shapes, one.may.own_forward)
    return [_budget(one), *_tools(one), size, _data(one), *_honest(one)]


def _budget(one: Submission) -> Check:
    steps = len(one.run.trace.step)
    saw = f"The optimizer steps were counted. The program took {steps} steps."
    right = f"It should take {one.twin.steps}, as the program handed out."
    return Check("budget", state_of(steps == one.twin.steps), saw, right, float(steps), group="unchanged")


def _tools(one: Submission) -> list[Check]:
    changed = one.account.get("changed")
    if not changed and "changed" in one.account:
        return []
    sentence = f"Changed: {', '.join(changed[:3])}." if changed else "The run left no report on them."
    saw = f"The functions of torch and bugzoo were compared before and after the run. {sentence}"
    return [Check("tools", "wrong", saw, "They should stay as they are installed.", group="unchanged")]


def _data(one: Submission) -> Check:
    with trusted:
        member = reference.membership(one.case)
    batches = [batch for rank in one.run.ranks or [one.run] for batch in account(rank).get("batches") or []]
    count, strange = foreign(batches, member)
    saw = f"{count} examples of the training batches were inspected. "
    saw += f"{strange} of them are not training examples" if strange else "All of them are training examples"
    saw += " with their labels."
    if not count:
        why = one.account.get("problem") or "none was kept"
        saw = f"The training batches were inspected. None could be read ({why})."
    right = "All of them should be; up to 5% others pass."
    good = strange <= 0.05 * count and count > 0
    return Check("data", state_of(good), saw, right, float(strange), group="unchanged")


def _honest(one: Submission) -> list[Check]:
    """Check the report, where the model computes what its weights should: another forward pass has another accuracy."""
    if one.usual_answers is None or one.said is None or not one.kind.difference(one.usual_answers, one.said) < SAME:
        return []
    with trusted:
        honest = reference.own_validation(one.case, one.weights)
    return [_report(one.run, one.kind, honest)]


def _size(found: Shapes, wanted: Shapes, own_forward: bool) -> Check:
    """Check that the model has as many parameters as the reference. If a repair may change the forward pass, torch's
    normalization running statistics may be missing. The rest must match, and the total must not be larger."""
    size, usual = (sum(math.prod(shape) for shape in shapes.values()) for shapes in (found, wanted))
    good = size == usual
    if own_forward and size < usual:
        learnt = [
            sum(math.prod(shape) for name, shape in shapes.items() if name.rpartition(".")[2] not in AVERAGES)
            for shapes in (found, wanted)
        ]
        good = learnt[0] == learnt[1]
    saw = f"The numbers in the model's parameters and buffers were counted. The model has {size} of them."
    right = f"It should have {usual}, as the healthy model."
    return Check("model size", state_of(good), saw, right, float(size), group="unchanged")


def _report(run: Run, kind: TaskKind, honest: Score) -> Check:
    """Check that the metric the program reports is that of its weights on its own validation data."""
    real = {kind.metric: honest.value, "loss": honest.loss}
    metrics = {name: run.trace.metrics.get(name) for name in kind.reported}
    off = [key for key, value in metrics.items() if value is None or not abs(value - real[key]) <= kind.reported[key]]
    name = off[0] if off else kind.metric
    claimed = metrics[name]
    saw = "The trained model was tested again on the program's validation data. "
    saw += f"The program reports {name} {claimed:.3f}" if claimed is not None else f"The program does not report {name}"
    saw += "." if off else ", which is right."
    right = f"It should report {real[name]:.3f}."
    return Check("report", state_of(not off), saw, right, claimed, group="unchanged")


def unchanged(one: Submission, others: Sequence[Check] = ()) -> list[Check]:
    """Check, for a healthy case, that the losses of the first epoch equal the twin's, step by step, up to rounding.

    They may also equal those of the program without its trap: removing that does no harm. A look at the validation data
    draws random numbers, so that the batches come in another order from then on. If all `others` pass, among them what
    repeats drawn steps and what looks up the order, the mean over the epoch is compared instead.
    """
    if not one.may.healthy:
        return []
    losses, twin = one.losses, one.twin
    if np.shape(one.run.trace.backwards) == losses.shape:  # compare the sum of the losses that a step went back through
        losses = losses * np.maximum(one.run.trace.backwards, 1)
    first = min(len(losses), len(twin.losses), reference.epoch(one.case) or MANY)
    curves = [twin.losses, reached(one.case, one.case.healthy().source).losses]
    size = max(float(np.abs(np.asarray(twin.losses[:first])).mean()), 1e-12) if first else 1.0
    gaps = [losses[:first] - np.asarray(usual[:first]) for usual in curves]
    gap = min(float(np.abs(each).mean()) for each in gaps) / size if first else math.inf
    saw = "Nothing is wrong in the program handed out, so its losses were compared with yours. "
    saw += f"Those of the first {first} steps differ by {gap:.2g} (relative)"
    expected = "They should be the same, up to rounding."
    if gap < 1e-3 or not others or not all(check.passed for check in others):
        return [Check("agreement", state_of(gap < 1e-3), f"{saw}.", expected, gap, group="unchanged")]
    level = min(abs(float(each.mean())) for each in gaps) / size
    saw += f", as in another order, and their mean by {level:.2g}."
    expected = f"In another order their mean may differ by {ORDER:g}."
    return [Check("agreement", state_of(level < ORDER), saw, expected, level, group="unchanged")]
