"""The loss does not move, although backward() and step() are called for each batch, in the right order."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, STEP, TRAIN_MODE, ZERO_GRAD
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="Gradients are cleared between backward and step",
    level=1,
    symptom="stuck",
    edits=(remove(ZERO_GRAD), after(BACKWARD, "$ZERO_GRAD_STATEMENT")),
    not_on={
        "amp_transformer": "GradScaler.step() refuses to go on without a gradient: a crash at the first step, measured."
    },
    evidence=("fresh_gradient.empty_share > 0.9",),
    effect="metrics.loss > healthy",
    why=(
        "backward() writes the gradients, the next line throws them away, and the optimiser finds None in every .grad: it "
        "leaves such parameters as they are. No step moves anything, so the loss stays at guessing, ln C, for ever. With "
        "zeros in place of None momentum and weight decay would even go on by themselves."
    ),
    fix="Clear the gradients before backward() or after step(), never between the two.",
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
        "Which of the weights are different after an epoch?",
        "Look at one parameter's .grad behind every line of the loop's body: when is it there, and when is it gone?",
        "Go through the calls between the loss and the optimiser's step, one by one.",
    ),
    look_alikes=(
        LookAlike(
            "loop/step_before_backward",
            "Count how often backward() has run when the optimiser makes its very first step.",
            "Once: `fresh_gradient.backwards_before_first_step > 0.5`.",
            "Not once: `fresh_gradient.backwards_before_first_step < 0.5`.",
        ),
        LookAlike(
            "loop/stale_gradients",
            "Print the norm of the gradient in the line before each step of the optimiser.",
            "There is none: `fresh_gradient.empty_share > 0.9`.",
            "It is there, and more than this batch's: `fresh_gradient.empty_share < 0.1`.",
        ),
        LookAlike(
            "graph/detached_activation",
            "Print the norm of the first layer's gradient in the line behind backward(), not before the step.",
            "It is there.",
            "There is none even then.",
        ),
    ),
    sources=("https://github.com/cloneofsimo/lora/issues/263",),
)
