"""The loss does not move at all. The loop runs backward() and step() on every batch, in the right order."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, STEP, TRAIN_MODE, ZERO_GRAD
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="optimizer.zero_grad() called between backward() and step()",
    level=1,
    symptom="stuck",
    edits=(remove(ZERO_GRAD), after(BACKWARD, "$ZERO_GRAD_STATEMENT")),
    not_on={
        "amp_transformer": (
            "GradScaler.step() raises an error when there is no gradient: a crash at the first step (measured)."
        )
    },
    evidence=("fresh_gradient.empty_share > 0.9",),
    effect="metrics.loss > healthy",
    why=(
        "backward() writes the gradients, and the next line sets every .grad to None. The optimizer skips "
        "parameters without a gradient, so no step changes a weight. The loss stays at that of guessing, ln C. With "
        "zeros in place of None, momentum and weight decay could still move the weights."
    ),
    fix="Call optimizer.zero_grad() before backward() or after step(), never between the two.",
    repairs={
        "behind the step": (remove(ZERO_GRAD), after(STEP, "optimizer.zero_grad()")),
        "in front of backward": (remove(ZERO_GRAD), before(BACKWARD, "model.zero_grad()")),
        "by hand": (
            remove(ZERO_GRAD),
            before(BACKWARD, "for parameter in model.parameters():\n    parameter.grad = None"),
        ),
    },
    pretences={
        "zeros in place of None": rewrite(ZERO_GRAD, PLACE="optimizer.zero_grad(set_to_none=False)"),
        "not at all": remove(ZERO_GRAD),
        "once an epoch": (remove(ZERO_GRAD), after(TRAIN_MODE, "optimizer.zero_grad()")),
        "a second step": after(COUNTER, "optimizer.step()"),
    },
    shown_by=("parameter_audit", "overfit_one_batch"),
    hints=(
        "Copy the weights before one epoch and compare them afterwards. Which of the weights have changed?",
        (
            "Print one parameter's .grad after every line of the loop body. After which line does the gradient "
            "appear, and after which line is it gone?"
        ),
        "Go through the calls from the loss to optimizer.step() one by one. Write down what each call does to .grad.",
    ),
    look_alikes=(
        LookAlike(
            "loop/step_before_backward",
            "Count the backward() calls that run before the very first optimizer.step().",
            "One backward() has run: `fresh_gradient.backwards_before_first_step > 0.5`.",
            "No backward() has run yet: `fresh_gradient.backwards_before_first_step < 0.5`.",
        ),
        LookAlike(
            "loop/stale_gradients",
            "Print the gradient norm in the line before optimizer.step().",
            "There is no gradient: `fresh_gradient.empty_share > 0.9`.",
            "There is a gradient, and it also contains older batches: `fresh_gradient.empty_share < 0.1`.",
        ),
        LookAlike(
            "graph/detached_activation",
            "Print the gradient norm of the first layer right after backward(), not before step().",
            "The first layer has a gradient.",
            "The first layer has no gradient even at this point.",
        ),
    ),
    sources=("https://github.com/cloneofsimo/lora/issues/263",),
    cause=Cause(also=("zero_grad after backward",), explains=("graph/", "optimizer/", "initialisation/", "numerics/")),
    terms=("gradient norm", "optimizer.step()", "zero_grad"),
)
