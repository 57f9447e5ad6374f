"""The loss stays where it started, at every step. Nothing crashes, and the loop makes all the usual calls."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, STEP, TRAIN_MODE, ZERO_GRAD
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="optimizer.step() before loss.backward()",
    level=2,
    symptom="stuck",
    edits=(remove(STEP), before(BACKWARD, "$STEP_STATEMENT")),
    not_on={
        "amp_transformer": (
            "GradScaler.step() raises an error when it has seen no gradients: a crash at the first step (measured)."
        )
    },
    evidence=("fresh_gradient.empty_share > 0.9", "fresh_gradient.backwards_before_first_step < 0.5"),
    effect="metrics.loss > healthy",
    why=(
        "zero_grad() sets every .grad to None, backward() fills .grad, and step() moves the parameters that have a "
        "gradient. Here step() runs between the first two. The optimizer skips parameters without a gradient and "
        "gives no error, so 0 parameters move. The next zero_grad() then clears the gradients of backward() before "
        "any step has used them."
    ),
    fix=(
        "Write the calls in this order: optimizer.zero_grad(), forward, loss.backward(), optimizer.step(). "
        "zero_grad() may also come after step()."
    ),
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
        "Does anything change from one step to the next? Compare one weight before and after an epoch.",
        "Print one parameter's .grad, or its norm, before each call of the loop.",
        (
            "Number the calls between two batches in the order in which they run. What does each call need from the "
            "one before?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "loop/gradients_wiped",
            "Count the backward() calls that run before the very first optimizer.step().",
            "No backward() has run yet: `fresh_gradient.backwards_before_first_step < 0.5`.",
            "One backward() has run: `fresh_gradient.backwards_before_first_step > 0.5`.",
        ),
        LookAlike(
            "loop/step_missing",
            "Count the steps that the optimizer makes over the whole run.",
            "The optimizer makes one step per batch: `fresh_gradient.empty_share > 0.9`.",
            "The optimizer makes no step: `fresh_gradient.never_stepped > 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the gradient norm in the line before optimizer.step().",
            "There is no gradient.",
            "There is a gradient of the usual size.",
        ),
    ),
    sources=("https://pytorch.org/tutorials/beginner/basics/optimization_tutorial.html",),
    cause=Cause(also=("wrong order of the loop",), explains=("graph/", "optimizer/", "initialisation/", "numerics/")),
    terms=("training step", "optimizer.step()"),
)
