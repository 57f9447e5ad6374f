"""The loss is as it was at the start, at every step. Nothing crashes, and the loop calls all that it should."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, STEP, TRAIN_MODE, ZERO_GRAD
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="The optimiser steps before the gradients are there",
    level=2,
    symptom="stuck",
    edits=(remove(STEP), before(BACKWARD, "$STEP_STATEMENT")),
    not_on={
        "amp_transformer": "GradScaler.step() refuses gradients that it has not seen: a crash at the first step, measured."
    },
    evidence=("fresh_gradient.empty_share > 0.9", "fresh_gradient.backwards_before_first_step < 0.5"),
    effect="metrics.loss > healthy",
    why=(
        "zero_grad() sets every .grad to None, backward() fills them, and step() moves what has one. Between the first two "
        "there is nothing, and an optimiser passes over a parameter whose .grad is None without a word: 0 of them move. "
        "The gradient that backward() makes afterwards is cleared before anybody has used it."
    ),
    fix="The order is zero_grad(), forward, backward(), step(); zero_grad() may also stand behind step().",
    repairs={
        "cleared behind the step": (
            remove(ZERO_GRAD),
            remove(STEP),
            after(BACKWARD, "optimizer.step()\noptimizer.zero_grad()"),
        ),
        "stepped when it is counted": (remove(STEP), before(COUNTER, "optimizer.step()")),
        "with a closure": (remove(STEP), after(BACKWARD, "optimizer.step(lambda: loss)")),
    },
    pretences={
        "a higher rate": rewrite(STEP, PLACE='optimizer.param_groups[0]["lr"] = 0.1\n$PLACE'),
        "a second step at the start of an epoch": after(TRAIN_MODE, "optimizer.step()"),
        "zeros in place of None": rewrite(ZERO_GRAD, PLACE="optimizer.zero_grad(set_to_none=False)"),
        "cleared first thing": (remove(ZERO_GRAD), before(STEP, "optimizer.zero_grad()")),
    },
    shown_by=("parameter_audit", "overfit_one_batch"),
    hints=(
        "Does anything change from one step to the next? Compare a weight before and after an epoch.",
        "Print the norm of one parameter's .grad in the line in front of each call of the loop.",
        "Number the calls between two batches in the order in which they run, and say what each one needs from the one before.",
    ),
    look_alikes=(
        LookAlike(
            "loop/gradients_wiped",
            "Count how often backward() has run when the optimiser makes its very first step.",
            "Not once: `fresh_gradient.backwards_before_first_step < 0.5`.",
            "Once: `fresh_gradient.backwards_before_first_step > 0.5`.",
        ),
        LookAlike(
            "loop/step_missing",
            "Count the steps that the optimiser makes over the whole run.",
            "As many as there are batches: `fresh_gradient.empty_share > 0.9`.",
            "None: `fresh_gradient.never_stepped > 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the norm of the gradient in the line before the optimiser's step.",
            "There is no gradient.",
            "There is one, of the usual size.",
        ),
    ),
    sources=("https://pytorch.org/tutorials/beginner/basics/optimization_tutorial.html",),
)
