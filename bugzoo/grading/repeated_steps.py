"""Repeat the kept steps of a run with the healthy program, and measure what differs.

Only gradient, update and answers are compared, in any form that the code has.
"""

import contextlib
from dataclasses import dataclass, field

import torch
from torch import Tensor

from bugzoo.grading import reference
from bugzoo.grading.baseline import Baseline
from bugzoo.grading.data_order import looked_up
from bugzoo.grading.evaluation import task
from bugzoo.grading.evaluation.members import Members
from bugzoo.grading.healthy_step import HealthyStep, updated
from bugzoo.grading.loop_body import CannotRepeat, candidates, difference
from bugzoo.grading.other_dropout import Drawn, drawn, draws
from bugzoo.grading.reference import one_thread, trusted
from bugzoo.grading.repairs import repairs
from bugzoo.grading.tolerances import tolerances
from bugzoo.running import Run
from bugzoo.scenario import Scenario
from bugzoo.watching.steps import Step, Tensors, last, read

SAME = 0.02
"""Largest relative difference (L2) of two gradients, or of two updates, that counts as another order of sums."""
OTHERS = 0.05
"""Share of samples that may be unknown, and of steps that cannot be repeated."""
ROUNDED = 0.2
"""The same where a repair may compute with another precision: float16 and bfloat16 round to three digits."""


@dataclass
class Found:
    """What was compared: relative differences by step, and why a step could not be repeated."""

    free: frozenset[str]
    """`Fault.free` of the case."""
    gradient: dict[int, float] = field(default_factory=dict)
    made: int = 0
    """Steps that could be repeated."""
    update: dict[int, float] = field(default_factory=dict)
    open: list[tuple[Step, list[Tensor]]] = field(default_factory=list)
    """Steps with another gradient, and their targets: other dropout may be the reason."""
    unsettled: bool = False
    """Other dropout may be the reason, and it was not tried."""
    drawn: Drawn | None = None
    """How these gradients lie among those of other dropout; None if the healthy program draws nothing in a step."""
    agreement: dict[int, float] = field(default_factory=dict)
    """Share of equal predictions in eval mode on the step's batch."""
    gap: dict[int, float] = field(default_factory=dict)
    """Largest difference of these outputs (`TaskKind.difference`)."""
    places: dict[int, list[int]] = field(default_factory=dict)
    """Place of each sample in the training data; -1 for one that is not there with its label."""
    skipped: dict[int, str] = field(default_factory=dict)
    afterwards: float = 0.0
    """The same for the last step, which ends with the script: whatever moves the weights after it counts."""

    @property
    def room(self) -> float:
        """Largest difference of two gradients that counts as rounding."""
        return ROUNDED if "rounding" in self.free else SAME


def compared(run: Run, case: Scenario, twin: Baseline, thorough: bool = True, text: str = "") -> Found:
    """Repeat the kept steps of a run. Raises any error for malformed arrays.

    `text`: the twin's, if that is not the healthy one. Unless `thorough`, a step with another gradient is not tried with
    other right repairs or other dropout.
    """
    comparison = Found(free(case))
    steps, lost, _ = read(run.arrays)  # on a drawn seed the twin is that of another one: it has the same settings
    comparison.skipped |= dict.fromkeys(lost, "its forward pass was not seen")
    kind = task(case.program)
    with trusted, one_thread():
        healthy = HealthyStep(text or reference.healthy_text(case), case.program, twin.settings)
        member = reference.membership(case)
        for step in steps:
            try:
                step = healthy.named(step)
            except CannotRepeat as why:
                comparison.skipped[step.number] = str(why)
                # a right repair's own model has the same data and the same optimizer
                if tolerances(case).own_forward:
                    _look_up(next(iter(candidates(healthy, step)), []), step, member, comparison)
                    comparison.update |= _update(healthy, step)
                continue
            try:
                _compare(healthy, step, member, comparison)
                if step.answers is not None and "answers" not in comparison.free:
                    expected, answers = healthy.answers(step).numpy(), step.answers.float().numpy()
                    comparison.agreement[step.number] = kind.agreement(expected, answers)
                    comparison.gap[step.number] = kind.difference(expected, answers)
            except CannotRepeat as why:
                comparison.skipped[step.number] = str(why)
        if (step := last(run.arrays)) is not None:
            with contextlib.suppress(CannotRepeat):
                comparison.afterwards = max(_update(healthy, healthy.named(step)).values(), default=0.0)
        if not thorough:
            comparison.unsettled = bool(comparison.open) and draws(healthy, *comparison.open[0])
            return comparison
        if comparison.open and _otherwise_right(case, twin, comparison):
            return comparison
        comparison.drawn = drawn(healthy, comparison.open)
    return comparison


def free(case: Scenario) -> frozenset[str]:
    """Return what a correct repair of this case may change at a step."""
    may = tolerances(case)
    return frozenset((*may.free, *(("gradient", "answers") if may.own_forward else ())))


def _otherwise_right(case: Scenario, twin: Baseline, found: Found) -> bool:
    """Return whether one of the fault's other right repairs makes all these steps, and count them as equal then.

    Such a repair may compute something else than the healthy program, as where a penalty is left out.
    """
    if len(case.specs) != 1:
        return False
    [(fault, params)] = case.specs
    for text in repairs(case.source, fault, params).values():
        try:
            other = HealthyStep(text, case.program, twin.settings)
            gaps = {}
            for step, targets in found.open:
                gaps[step.number] = _gap(step, other.mean(step, targets), found)
                if gaps[step.number] > found.room:
                    break
            else:
                found.gradient |= gaps
                return True
        except Exception:  # a text whose head or loop has another form
            continue
    return False


def _gap(step: Step, wanted: Tensors, found: Found) -> float:
    if "length" in found.free:
        return difference(_unit(step.gradients), _unit(wanted))
    return difference(step.gradients, wanted)


def _compare(healthy: HealthyStep, step: Step, member: Members, found: Found) -> None:
    """Compare one step: gradient and update; and look up its batch."""
    if "gradient" in found.free or healthy.skipped(step):
        chosen = next(iter(candidates(healthy, step)), [])
    else:
        gap, chosen = _nearest(healthy, step, found)
        found.gradient[step.number] = gap
        if gap > found.room:
            found.open.append((step, chosen))
    _look_up(chosen, step, member, found)
    found.made += 1
    found.update |= _update(healthy, step)


def _look_up(targets: list[Tensor], step: Step, member: Members, found: Found) -> None:
    """Look up the batch of a step, if its targets are known."""
    if targets:
        batches = zip(step.calls, targets, strict=True)
        found.places[step.number] = [place for call, t in batches for place in looked_up(call.inputs[0], t, member)]


def _update(healthy: HealthyStep, step: Step) -> dict[int, float]:
    """Compare the change of the weights with that of the twin's optimizer.

    Nothing where that needs a state, and where other parameters have taken their place since.
    """
    if step.replaced or (parameters := updated(step, healthy.settings)) is None:
        return {}
    moved = {name: value - step.parameters[name] for name, value in step.after.items() if name in step.parameters}
    expected = {name: value - step.parameters[name] for name, value in parameters.items() if name in moved}
    expected |= {name: torch.zeros_like(value) for name, value in moved.items() if name not in parameters}
    return {step.number: difference(moved, expected)}


def _nearest(healthy: HealthyStep, step: Step, found: Found) -> tuple[float, list[Tensor]]:
    """Return the smallest difference to a healthy gradient, and the targets that give it."""
    best, chosen = float("inf"), []
    for targets in candidates(healthy, step):
        try:
            gap = _gap(step, healthy.mean(step, targets), found)
        except CannotRepeat:  # numbers of another kind, as the rows of a table
            continue
        if gap < best or not chosen:
            best, chosen = gap, targets
    if not chosen:
        raise CannotRepeat("no tensor beside the batch can be its targets")
    return best, chosen


def _unit(one: Tensors) -> Tensors:
    size = sum(float(value.double().square().sum()) for value in one.values()) ** 0.5
    return {name: value.double() / max(size, 1e-300) for name, value in one.items()}
