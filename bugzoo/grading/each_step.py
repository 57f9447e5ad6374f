"""Compare steps that were drawn after the hand-in with the healthy program's own steps, from the same state and batch.

The submission's process keeps them without knowing which come next (`watching.steps`); here the healthy
program repeats each (`healthy_step`). So what is wrong only in some epochs, only in training mode or only now and then has the
same chance to be seen at every step. Only gradient, update and answers are compared, in any form that the code has.
"""

import os
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from bugzoo.grading import data_order, reference
from bugzoo.grading.baseline import Baseline, trusted
from bugzoo.grading.data_order import looked_up
from bugzoo.grading.evaluation import task
from bugzoo.grading.evaluation.members import Members
from bugzoo.grading.healthy_step import CannotRepeat, HealthyStep, updated
from bugzoo.grading.model import Check, state_of
from bugzoo.grading.other_dropout import Drawn, drawn, draws
from bugzoo.grading.reference import one_thread
from bugzoo.grading.repairs import repairs
from bugzoo.grading.tolerances import tolerances
from bugzoo.running import Run
from bugzoo.scenario import Scenario
from bugzoo.watching.steps import Step, Tensors, read

DRAW = "BUGZOO_DRAW"
"""Environment variable with a number to draw from, which repeats a grading."""
DRAWN = 24
"""Steps that are drawn in a run; a third of them lie in its last third."""
LONGEST = 40
"""Most steps in a row that are compared on the drawn seed."""
SAME = 0.02
"""Largest relative difference (L2) of two gradients, or of two updates, that counts as another order of sums."""
ROUNDED = 0.2
"""The same where a repair may compute with another precision: float16 and bfloat16 round to three digits."""
AGREE, EQUAL = 0.97, 2e-3
"""As for the trained model (`checks`): share of equal predictions, largest difference of outputs."""
OTHERS = 0.05
"""Share of samples that may be unknown, and of steps that cannot be repeated."""
PARTS = ("gradient", "update", "answers")


def number(given: int | None = None) -> int:
    """Return the number to draw from: the given one, that of the environment, or a new one."""
    said = os.environ.get(DRAW, "")
    return given if given is not None else int(said) if said.isdecimal() else secrets.randbelow(10**6)


def draw(number: int, seed: int, steps: int) -> bytes:
    """Return for each of a run's steps 1 or 0: whether it is compared. `number` is drawn after the hand-in.

    The last step is left out, as no step begins after it.
    """
    source = random.Random(f"{number} {seed}")
    late = range(2 * steps // 3, steps - 1)
    chosen = set(source.sample(late, min(DRAWN // 3, len(late))))
    others = [step for step in range(steps - 1) if step not in chosen]
    chosen |= set(source.sample(others, min(DRAWN - len(chosen), len(others))))
    return bytes(int(step in chosen) for step in range(steps))


def other_seed(number: int, known: Sequence[int]) -> int:
    """Return a seed that no hand-in can know: not one of the `known` ones."""
    source = random.Random(f"seed {number}")
    return next(seed for seed in iter(lambda: source.randrange(3, 10**6), -1) if seed not in known)


def stretches(number: int, steps: int, epoch: int | None) -> bytes:
    """Return for each of a run's steps 1 or 0: all steps of two epochs, or of two stretches where these are long."""
    source, long = random.Random(f"stretch {number}"), min(epoch or LONGEST, LONGEST)
    starts = range(0, steps - 1, epoch or LONGEST)
    chosen = {
        step
        for start in source.sample(starts, min(2, len(starts)))
        for step in range(start, min(start + long, steps - 1))
    }
    return bytes(int(step in chosen) for step in range(steps))


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

    @property
    def room(self) -> float:
        """Largest difference of two gradients that counts as rounding."""
        return ROUNDED if "rounding" in self.free else SAME


def compared(run: Run, case: Scenario, twin: Baseline, thorough: bool = True) -> Found:
    """Repeat the kept steps of a run. Raises any error for malformed arrays.

    Unless `thorough`, a step with another gradient is not tried with other right repairs or other dropout.
    """
    found = Found(_free(case))
    steps, _ = read(run.arrays)  # on a drawn seed the twin is that of another one: it has the same settings
    kind = task(case.program)
    with trusted, one_thread():
        healthy, member = HealthyStep(case, twin.settings), reference.membership(case)
        for step in steps:
            try:
                step = healthy.named(step)
                _compare(healthy, step, member, found)
                if step.answers is not None and "answers" not in found.free:
                    wanted, given = healthy.answers(step).numpy(), step.answers.float().numpy()
                    found.agreement[step.number] = kind.agreement(wanted, given)
                    found.gap[step.number] = kind.difference(wanted, given)
            except CannotRepeat as why:
                found.skipped[step.number] = str(why)
        if not thorough:
            found.unsettled = bool(found.open) and draws(healthy, *found.open[0])
            return found
        if found.open and _otherwise_right(case, twin, found):
            return found
        found.drawn = drawn(healthy, found.open)
    return found


def _free(case: Scenario) -> frozenset[str]:
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
            other = HealthyStep(case, twin.settings, text)
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


def checks(run: Run, case: Scenario, twin: Baseline, thorough: bool = True) -> list[Check]:
    """Check the kept steps, as far as a correct repair of this case leaves them alone. Nothing with several ranks.

    Where the submission is refused anyway it need not be `thorough`: an open question about gradients is left out.
    """
    if case.ranks > 1:
        return []
    may, free = tolerances(case), _free(case)
    if set(PARTS) <= free:
        return []
    found = compared(run, case, twin, thorough)
    made = found.made
    if not made and not found.skipped:
        saw = f"{DRAWN} steps of the training were to be kept, and the run left none of them."
        return [Check("steps", "wrong", saw, "The training loop should call the model and step.", group="gone")]
    if not made or len(found.skipped) > OTHERS * (made + len(found.skipped)):
        if may.own_forward or not thorough:  # a repair may build another model; what is refused anyway needs no person
            return []
        why = next(iter(found.skipped.values()), "none was seen")
        saw = f"The healthy program could repeat {made} of {made + len(found.skipped)} drawn steps: {why}."
        wanted = "Each step should call the model once with its whole batch, and the model's parameters should stay."
        return [Check("steps", "cannot be graded", saw, wanted, float(made), group="gone")]
    done = f"{made} steps were drawn, and the healthy program repeated them from the same weights and the same batch."
    result = [_data(found)] if found.places else []
    if "order" not in free and (order := data_order.check(found.places, case)):
        result.append(order)
    if "gradient" not in free and not found.unsettled:
        result.append(_gradients(found, done))
    if "update" not in free and found.update:
        result.append(_updates(found, done))
    if "answers" not in free and found.agreement:
        result.append(_answers(found, may.same_forward))
    return result


def _data(found: Found) -> Check:
    every = [place for places in found.places.values() for place in places]
    seen, strange = len(every), sum(place < 0 for place in every)
    saw = f"{seen} examples of the batches of {len(found.places)} drawn steps were inspected. "
    saw += f"{strange} of them are not training examples" if strange else "All of them are training examples"
    wanted = f"All of them should be; up to {OTHERS:.0%} others pass."
    good = strange <= OTHERS * seen
    return Check(
        "data at steps", state_of(good), saw + " with their labels.", wanted, float(strange), group="unchanged"
    )


def _gradients(found: Found, done: str) -> Check:
    wrong = {at: gap for at, gap in found.gradient.items() if gap > found.room}
    wanted = f"At most {found.room:.0%} passes, as sums in another order differ by less."
    if not wrong:
        return Check(
            "gradient", "passed", f"{done} The gradients are equal.", wanted, max(found.gradient.values()), group="gone"
        )
    if found.drawn is not None and (said := found.drawn.judged()) is not None:
        good, saw, number = said
        return Check(
            "gradient", state_of(good), f"{done} {saw}", "As with the healthy dropout passes.", number, group="gone"
        )
    worst = max(wrong, key=lambda at: wrong[at])
    saw = f"{done} At {len(wrong)} of them the gradient is another one. "
    saw += f"At step {worst} the gradient differs by {wrong[worst]:.0%}."
    return Check("gradient", "wrong", saw, wanted, wrong[worst], group="gone")


def _updates(found: Found, done: str) -> Check:
    wrong = {at: gap for at, gap in found.update.items() if gap > SAME}
    worst = max(wrong, key=lambda at: wrong[at], default=0)
    saw = f"{done} The weights change as much, and in the same direction."
    if wrong:
        saw = f"{done} At {len(wrong)} of them the weights change in another way. "
        saw += f"At step {worst} the change of the weights differs by {wrong[worst]:.0%}."
    wanted = "The optimizer should step as in the healthy program: the same rate, the same momentum and decay."
    return Check("update", state_of(not wrong), saw, wanted, max(found.update.values()), group="gone")


def _answers(found: Found, same: bool) -> Check:
    share = sum(found.agreement.values()) / len(found.agreement)
    gap = max(found.gap.values())
    good = share >= AGREE and (not same or gap < EQUAL)
    saw = f"After {len(found.agreement)} drawn steps the model was called in eval mode. It agrees with the healthy model on "
    saw += f"{share:.0%} of the examples" + (f", and the outputs differ by up to {gap:.2g}." if same else ".")
    wanted = f"At least {AGREE:.0%} passes" + (f", with outputs closer than {EQUAL:g}." if same else ".")
    return Check("answers at steps", state_of(good), saw, wanted, share, group="gone")


def _compare(healthy: HealthyStep, step: Step, member: Members, found: Found) -> None:
    """Compare one step: gradient and update; and look up its batch."""
    if "gradient" in found.free or healthy.skipped(step):
        chosen = next(iter(_candidates(healthy, step)), [])
    else:
        gap, chosen = _nearest(healthy, step, found)
        found.gradient[step.number] = gap
        if gap > found.room:
            found.open.append((step, chosen))
    if chosen:
        batches = zip(step.calls, chosen, strict=True)
        found.places[step.number] = [place for call, t in batches for place in looked_up(call.inputs[0], t, member)]
    found.made += 1
    if (made := updated(step, healthy.settings)) is None:
        return
    moved = {name: value - step.parameters[name] for name, value in step.after.items() if name in step.parameters}
    wanted = {name: value - step.parameters[name] for name, value in made.items() if name in moved}
    wanted |= {name: torch.zeros_like(value) for name, value in moved.items() if name not in made}
    found.update[step.number] = difference(moved, wanted)


def _candidates(healthy: HealthyStep, step: Step) -> list[list[Tensor]]:
    """Return the possible targets of all calls, in the order of the tensors beside them."""
    each = [[one for one in call.beside if call.inputs and healthy.fits(call.inputs[0], one)] for call in step.calls]
    return [list(targets) for targets in zip(*each, strict=False)]


def _nearest(healthy: HealthyStep, step: Step, found: Found) -> tuple[float, list[Tensor]]:
    """Return the smallest difference to a healthy gradient, and the targets that give it."""
    best, chosen = float("inf"), []
    for targets in _candidates(healthy, step):
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


def difference(one: Tensors, other: Tensors) -> float:
    """Return |one - other| / |other| over all names; a missing tensor counts as zeros. Infinite if not finite."""
    names = sorted({*one, *other})
    if not names:
        return 0.0
    a, b = (torch.cat([(x[n] if n in x else torch.zeros_like(y[n])).double().flatten() for n in names])
            for x, y in ((one, other), (other, one)))  # fmt: skip
    if not torch.isfinite(b).all():
        return 0.0 if not torch.isfinite(a).all() else float("inf")
    gap = float((a - b).norm() / b.norm().clamp(min=1e-30))
    return gap if gap == gap else float("inf")
