"""The third group of checks on one seed: what a repair must leave as it was, and what cannot be judged at all."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bugzoo.grading import reference
from bugzoo.grading.allowances import allowances
from bugzoo.grading.baseline import Twin, reached, trusted, untouched, weights
from bugzoo.grading.checks import SAME, account, verdict
from bugzoo.grading.evaluation import task
from bugzoo.grading.evaluation.tasks import Score, Task
from bugzoo.grading.model import Check
from bugzoo.running import Run
from bugzoo.scenario import Scenario

MANY = 60
"""Steps that are compared where a program knows no epochs."""
AVERAGES = ("running_mean", "running_var", "num_batches_tracked")
"""What a BatchNorm of torch keeps beside its weights."""
Shapes = Mapping[str, tuple[int, ...]]


def out_of_sight(run: Run, scenario: Scenario) -> Check | None:
    """Training that went on where the grader cannot look, and is no trick for all it knows; None where it could look."""
    note, state, steps = account(run), weights(run.arrays), len(run.trace.step)
    if run.outcome not in ("finished", "non_finite") or "changed" not in note or note["changed"]:
        return None
    if not state:
        saw = "at the end there is no torch module named `model`, so that there are no weights to judge"
        return Check("model", "cannot be graded", saw, "the name `model`, as it was handed out") if steps else None
    with trusted:
        still = max(
            untouched(run), reference.never_moved(scenario, state)
        )  # of another shape, only the run itself knows
        moved = still < sum(value.size for value in state.values()) / 2
    if not steps and moved:
        saw = "the weights have moved, and no step of a torch optimiser was seen"
        return Check("run", "cannot be graded", saw, "steps made by an optimiser of torch.optim")
    unseen = np.shape(run.trace.backwards) == (steps,) and not np.any(run.trace.backwards)
    if steps and moved and unseen and not np.isfinite(np.asarray(run.trace.loss, dtype=np.float64)).any():
        saw = f"{steps} optimiser steps, and neither loss.backward() nor torch.autograd.grad() was seen"
        return Check("run", "cannot be graded", saw, "gradients of the model's parameters that come from one of these")
    return None


def integrity(run: Run, scenario: Scenario, twin: Twin) -> list[Check]:
    """Same budget, same size, same data, an honest report, torch and bugzoo as they came."""
    note = account(run)
    steps = len(run.trace.step)
    checks = [verdict("budget", steps == twin.steps, f"{steps} optimiser steps", f"{twin.steps}", float(steps))]
    if changed := note.get("changed"):
        checks.append(Check("tools", "wrong", f"changed: {', '.join(changed[:3])}", "torch and bugzoo as they came"))
    elif "changed" not in note:
        checks.append(Check("tools", "wrong", "the run left no account of itself", "torch and bugzoo as they came"))
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
    checks.append(_size({name: value.shape for name, value in state.items()}, wanted, allowances(scenario).own_forward))
    batches = [batch for rank in run.ranks or [run] for batch in account(rank).get("batches") or []]
    seen, strange = foreign(batches, member)
    saw = f"{strange} of {seen} samples that were looked at are no training samples with their labels"
    if not strange:
        saw = f"all {seen} samples that were looked at are training samples with their labels"
    if not seen:
        saw = f"no batch of its training could be looked at ({note.get('problem') or 'none was kept'})"
    good_data = strange <= 0.05 * seen and seen > 0
    checks.append(verdict("data", good_data, saw, "all of them", float(strange)))
    if honest is not None:
        checks.append(_report(run, kind, honest))
    return checks


def _size(found: Shapes, wanted: Shapes, own_forward: bool) -> Check:
    """As many numbers as the reference has. Where a repair may compute something else, the running averages that torch's
    normalisations keep may be gone: the rest is as many, and all together no more."""
    size, usual = (sum(math.prod(shape) for shape in one.values()) for one in (found, wanted))
    good = size == usual
    if own_forward and size < usual:
        learnt = [
            sum(math.prod(shape) for name, shape in one.items() if name.rpartition(".")[2] not in AVERAGES)
            for one in (found, wanted)
        ]
        good = learnt[0] == learnt[1]
    return verdict("model size", good, f"{size} numbers in the model", f"{usual}", float(size))


def _report(run: Run, kind: Task, honest: Score) -> Check:
    """What the program prints about itself is what its weights are worth on its own validation data."""
    real = {kind.metric: honest.value, "loss": honest.loss}
    said = {name: run.trace.metrics.get(name) for name in kind.reported}
    off = [name for name, value in said.items() if value is None or not abs(value - real[name]) <= kind.reported[name]]
    name = off[0] if off else kind.metric
    claimed = said[name]
    saw = f"it reports {name} {claimed:.3f}" if claimed is not None else f"it reports no {name}"
    saw += "" if off else ", and that is so on its validation data"
    return verdict("report", not off, saw, f"{real[name]:.3f} on its validation data", claimed)


def foreign(batches: list[list[Any]], member: Any) -> tuple[int, int]:
    """(samples seen, samples that are not of the training data)."""
    seen = strange = 0
    for rows, targets in batches:
        each, over = divmod(len(targets), max(len(rows), 1))
        picked = (
            over and each
        )  # of lines only the words were asked for, so that no target is known to be the last of its row
        for index, row in enumerate(rows):
            label = targets[(index + 1) * each - 1] if each and not picked else None
            seen += 1
            strange += not member(row, label)
    return seen, strange


def unchanged(run: Run, scenario: Scenario, twin: Twin) -> Check:
    """For a healthy case: the losses of the first epoch are the twin's, step by step, up to rounding.

    Or those of the program without what looks wrong in it: taking that out does no harm either. Later ones may come in
    another order: who looks at the validation data in between draws random numbers.
    """
    losses = np.asarray(run.trace.loss, dtype=np.float64)
    if np.shape(run.trace.backwards) == losses.shape:  # what is followed is the sum of what a step went back through
        losses = losses * np.maximum(run.trace.backwards, 1)
    first = min(len(losses), len(twin.losses), reference.epoch(scenario) or MANY)
    ours = [twin.losses, reached(scenario, scenario.healthy().source).losses]
    gap = min(float(np.abs(losses[:first] - np.asarray(one[:first])).mean()) for one in ours) if first else math.inf
    gap /= max(float(np.abs(np.asarray(twin.losses[:first])).mean()), 1e-12) if first else 1.0
    saw = f"the losses of the first {first} steps differ by {gap:.2g} of their size from those of the reference run"
    return verdict("agreement", gap < 1e-3, saw, "the same losses, up to rounding", gap)
