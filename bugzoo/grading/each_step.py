"""Compare steps that were drawn after the hand-in with the healthy program's own steps, from the same state and batch.

The submission's process keeps them without knowing which come next (`watching.steps`); here the healthy
program repeats each (`repeated_steps`). So what is wrong only in some epochs, only in training mode or only now and then has the
same chance to be seen at every step. Only gradient, update and answers are compared, in any form that the code has.
"""

from bugzoo.grading import data_order, reference
from bugzoo.grading.baseline import Baseline, reached
from bugzoo.grading.drawing import DRAWN
from bugzoo.grading.model import FOR_A_PERSON, Check, state_of
from bugzoo.grading.repeated_steps import OTHERS, SAME, Found, compared, free
from bugzoo.grading.tolerances import tolerances
from bugzoo.running import Run
from bugzoo.scenario import Scenario

AGREE, EQUAL = 0.97, 2e-3
"""As for the trained model (`checks`): share of equal predictions, largest difference of outputs."""
PARTS = ("gradient", "update", "answers")


def checks(run: Run, case: Scenario, twin: Baseline, thorough: bool = True) -> list[Check]:
    """Check the kept steps, as far as a correct repair of this case leaves them alone. Nothing with several ranks.

    Where the submission is refused anyway it need not be `thorough`: an open question about gradients is left out.
    """
    if case.ranks > 1:
        return []
    if not tolerances(case).healthy:
        return _checks(run, case, twin, thorough)
    verdicts = _checks(run, case, twin, thorough, case.source)
    if all(check.passed for check in verdicts):
        return verdicts
    plain = case.healthy().source  # to take the oddity of a healthy program away does no harm
    other = _checks(run, case, reached(case, plain), thorough, plain)
    return other if all(check.passed for check in other) else verdicts


def _checks(run: Run, case: Scenario, twin: Baseline, thorough: bool, text: str = "") -> list[Check]:
    may, spared = tolerances(case), free(case)
    if set(PARTS) <= spared:
        return []
    comparison = compared(run, case, twin, thorough, text)
    repeated = comparison.made
    if not repeated and not comparison.skipped:
        saw = f"{DRAWN} steps of the training were to be kept, and the run left none of them."
        return [Check("steps", "wrong", saw, "The training loop should call the model and step.", group="gone")]
    steps = repeated + len(comparison.skipped)
    if not may.own_forward and len(comparison.skipped) > OTHERS * steps:  # else a repair may build another model
        if not thorough:  # what is refused anyway needs no person
            return []
        why = next(iter(comparison.skipped.values()))
        saw = f"The healthy program could repeat {repeated} of {steps} drawn steps: {why}."
        expected = "Each step should call the model once with its whole batch, and the model's parameters should stay."
        return [Check("steps", "cannot be graded", saw, expected, float(repeated), group="gone")]
    saw = f"{steps} steps were drawn, and the healthy program repeated them from the same weights and the same batch."
    # no answers: a model cannot be copied within torch.func, and its answers after the training are compared anyway
    readings = {"data": comparison.places, "update": comparison.update}
    unseen = [part for part, values in readings.items() if part not in spared and steps - len(values) > OTHERS * steps]
    if unseen and thorough:
        return [_unseen(unseen[0], steps, len(readings[unseen[0]]))]
    result = [_data(comparison)] if comparison.places else []
    if "order" not in spared and (order := data_order.check(comparison.places, case)):
        result.append(order)
    if "gradient" not in spared and not comparison.unsettled:
        result.append(_gradients(comparison, saw))
    if "update" not in spared and comparison.update:
        result += _updates(comparison, saw, _restores(reference.healthy_text(case)))
    if "answers" not in spared and comparison.agreement:
        result.append(_answers(comparison, may.same_forward))
    return result


def _unseen(part: str, steps: int, known: int) -> Check:
    """Return a check for a person: the healthy program has something to look at there, and this one shows nothing."""
    saw = f"{steps} steps were drawn. The {part} could be compared at {known} of them. A person looks at the rest."
    expected = "A step should call the model with its batch, beside its targets, and step with an optimizer of torch."
    return Check("steps", FOR_A_PERSON, saw, expected, float(known), group="gone")


def _data(found: Found) -> Check:
    every = [place for places in found.places.values() for place in places]
    count, strange = len(every), sum(place < 0 for place in every)
    saw = f"{count} examples of the batches of {len(found.places)} drawn steps were inspected. "
    saw += f"{strange} of them are not training examples" if strange else "All of them are training examples"
    expected = f"All of them should be; up to {OTHERS:.0%} others pass."
    state, saw = state_of(strange <= OTHERS * count), f"{saw} with their labels."
    return Check("data at steps", state, saw, expected, float(strange), group="unchanged")


def _gradients(found: Found, done: str) -> Check:
    wrong = {at: gap for at, gap in found.gradient.items() if gap > found.room}
    expected = f"At most {found.room:.0%} passes, as sums in another order differ by less."
    if not wrong:
        saw, largest = f"{done} The gradients are equal.", max(found.gradient.values())
        return Check("gradient", "passed", saw, expected, largest, group="gone")
    if found.drawn is not None and (verdict := found.drawn.judged()) is not None:
        good, saw, number = verdict
        expected = "As with the healthy dropout passes."
        return Check("gradient", state_of(good), f"{done} {saw}", expected, number, group="gone")
    worst = max(wrong, key=lambda at: wrong[at])
    saw = f"{done} At {len(wrong)} of them the gradient is another one. "
    saw += f"At step {worst} the gradient differs by {wrong[worst]:.0%}."
    return Check("gradient", "wrong", saw, expected, wrong[worst], group="gone")


def _restores(healthy: str) -> bool:
    """Return whether a program loads weights in or after its training loop, as those of the best epoch at the end."""
    return ".load_state_dict(" in healthy.partition("# %% Training")[2]


def _updates(found: Found, done: str, restores: bool) -> list[Check]:
    wrong = {at: gap for at, gap in found.update.items() if gap > SAME}
    worst = max(wrong, key=lambda at: wrong[at], default=0)
    saw = f"{done} The weights change as much, and in the same direction."
    if wrong:
        saw = f"{done} At {len(wrong)} of them the weights change in another way. "
        saw += f"At step {worst} the change of the weights differs by {wrong[worst]:.0%}."
    expected = "The optimizer should step as in the healthy program: the same rate, the same momentum and decay."
    compared = Check("update", state_of(not wrong), saw, expected, max(found.update.values()), group="gone")
    if wrong or restores or found.afterwards <= SAME:
        return [compared]
    saw = "The weights at the end of the script are not those that the last step leaves."
    expected = "What moves the weights after the last step is compared with nothing, so a person looks at it."
    return [compared, Check("steps", FOR_A_PERSON, saw, expected, found.afterwards, group="gone")]


def _answers(found: Found, same: bool) -> Check:
    share = sum(found.agreement.values()) / len(found.agreement)
    gap = max(found.gap.values())
    good = share >= AGREE and (not same or gap < EQUAL)
    saw = f"After {len(found.agreement)} drawn steps the model was called in eval mode. It agrees with the healthy model on "
    saw += f"{share:.0%} of the examples" + (f", and the outputs differ by up to {gap:.2g}." if same else ".")
    expected = f"At least {AGREE:.0%} passes" + (f", with outputs closer than {EQUAL:g}." if same else ".")
    return Check("answers at steps", state_of(good), saw, expected, share, group="gone")
