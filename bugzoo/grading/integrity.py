"""The third group of checks on one seed: what a repair must not change, and what cannot be graded at all."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bugzoo.grading import reference
from bugzoo.grading.baseline import Baseline, reached, trusted, untouched, weights
from bugzoo.grading.checks import SAME, account, verdict
from bugzoo.grading.evaluation import task
from bugzoo.grading.evaluation.tasks import Score, TaskKind
from bugzoo.grading.model import Check
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
        saw = "after the run there is no torch module named `model`, so there are no weights to grade"
        return (
            Check("model", "cannot be graded", saw, "a torch module named `model`, as in the program handed out")
            if steps
            else None
        )
    with trusted:
        still = max(
            untouched(run), reference.never_moved(scenario, state)
        )  # with another shape, only the run itself can tell
        moved = still < sum(value.size for value in state.values()) / 2
    if not steps and moved:
        saw = "the weights changed, but no step of a torch optimizer was seen"
        return Check("run", "cannot be graded", saw, "steps of an optimizer from torch.optim")
    unseen = np.shape(run.trace.backwards) == (steps,) and not np.any(run.trace.backwards)
    if steps and moved and unseen and not np.isfinite(np.asarray(run.trace.loss, dtype=np.float64)).any():
        saw = f"{steps} optimizer steps, but neither loss.backward() nor torch.autograd.grad() was seen"
        return Check("run", "cannot be graded", saw, "gradients of the model's parameters from one of these")
    return None


def integrity(run: Run, scenario: Scenario, twin: Baseline) -> list[Check]:
    """Check budget, model size, data, an honest report, and unmodified torch and bugzoo."""
    note = account(run)
    steps = len(run.trace.step)
    checks = [verdict("budget", steps == twin.steps, f"{steps} optimizer steps", f"{twin.steps}", float(steps))]
    if changed := note.get("changed"):
        checks.append(Check("tools", "wrong", f"changed: {', '.join(changed[:3])}", "unmodified torch and bugzoo"))
    elif "changed" not in note:
        checks.append(Check("tools", "wrong", "the run left no report on its tools", "unmodified torch and bugzoo"))
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
    saw = f"{strange} of {seen} inspected samples are not training samples with their labels"
    if not strange:
        saw = f"all {seen} inspected samples are training samples with their labels"
    if not seen:
        saw = f"no training batch could be inspected ({note.get('problem') or 'none was kept'})"
    good_data = strange <= 0.05 * seen and seen > 0
    checks.append(verdict("data", good_data, saw, "all of them", float(strange)))
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
    return verdict("model size", good, f"{size} parameter and buffer elements", f"{usual}", float(size))


def _report(run: Run, kind: TaskKind, honest: Score) -> Check:
    """Check that the metric the program reports is that of its weights on its own validation data."""
    real = {kind.metric: honest.value, "loss": honest.loss}
    said = {name: run.trace.metrics.get(name) for name in kind.reported}
    off = [name for name, value in said.items() if value is None or not abs(value - real[name]) <= kind.reported[name]]
    name = off[0] if off else kind.metric
    claimed = said[name]
    saw = f"it reports {name} {claimed:.3f}" if claimed is not None else f"it does not report {name}"
    saw += "" if off else ", which is right on its validation data"
    return verdict("report", not off, saw, f"{real[name]:.3f} on its validation data", claimed)


def foreign(batches: list[list[Any]], member: Any) -> tuple[int, int]:
    """Return (samples seen, samples that are not from the training data)."""
    seen = strange = 0
    for rows, targets in batches:
        each, over = divmod(len(targets), max(len(rows), 1))
        picked = over and each  # for text lines only the words were kept, so the last target of a row is unknown
        for index, row in enumerate(rows):
            label = targets[(index + 1) * each - 1] if each and not picked else None
            seen += 1
            strange += not member(row, label)
    return seen, strange


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
    saw = f"the losses of the first {first} steps differ by {gap:.2g} (relative) from those of the reference run"
    return verdict("agreement", gap < 1e-3, saw, "the same losses, up to rounding", gap)
