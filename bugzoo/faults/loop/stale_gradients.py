"""Training starts well, then the loss swings or climbs. A smaller learning rate only delays this."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, RANKS, STEP, TRAIN_MODE, ZERO_GRAD
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, either, remove, rewrite

ASKED = (
    "gradients = torch.autograd.grad($LOSS, list(model.parameters()))\n"
    "for parameter, gradient in zip(model.parameters(), gradients):\n    "
)
SHARED = "dist.all_reduce(gradient)\n    parameter.grad = gradient / dist.get_world_size()"
EACH = "for parameter in model.parameters():\n    parameter.grad"

FAULT = Fault(
    title="Missing optimizer.zero_grad()",
    level=1,
    symptom="degraded",
    edits=remove(ZERO_GRAD),
    not_on={
        "amp_transformer": (
            "in its 60 small steps the gradient norm does not grow: it is larger on only 2 of 5 seeds (measured)."
        )
    },
    evidence=("fresh_gradient.stale_share > 0.5",),
    effect="gradient_health.total_norm > healthy",
    why=(
        "backward() adds to .grad. Without zero_grad(), every step follows the sum of all gradients since the "
        "start. With plain SGD this is momentum 1.0, an undamped oscillation. Adam divides by the size of the "
        "gradient and hides the problem for longer."
    ),
    fix="Call optimizer.zero_grad() once per optimizer step, before backward().",
    repairs={
        "before backward": before(BACKWARD, "optimizer.zero_grad()"),
        "the model's own": before(BACKWARD, "model.zero_grad()"),
        "set to None": before(BACKWARD, f"{EACH} = None"),
        "zeros": before(BACKWARD, "optimizer.zero_grad(set_to_none=False)"),
        "after the step": after(STEP, "optimizer.zero_grad()"),
        "a hook behind the step": Swap(
            "losses = []", "losses = []\noptimizer.register_step_post_hook(lambda own, *_: own.zero_grad())"
        ),
        "asked for and assigned": either(
            rewrite(BACKWARD, given=RANKS, PLACE=ASKED + SHARED),
            Swap("$LOSS.backward()", f"{ASKED}parameter.grad = gradient"),
        ),
    },
    pretences={
        "once an epoch": after(TRAIN_MODE, "optimizer.zero_grad()"),
        "every second step": after(STEP, "if step % 2:\n    optimizer.zero_grad()"),
        "divided by the step": before(STEP, f"{EACH} /= step + 1"),
        "half forgotten": after(STEP, f"{EACH} *= 0.5"),
        "asked for and added": Swap(
            "$LOSS.backward()",
            f"{ASKED}parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient",
        ),
    },
    shown_by=("replay",),
    hints=(
        "Plot the gradient norm over the steps. Does the norm shrink while the model learns?",
        "Look at one parameter's .grad right before backward() is called. What do you expect there?",
        "List what a training loop does between two optimizer steps, and tick off what you find here.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "At one step, compare the gradient before optimizer.step() with that of the last batch alone.",
            "The gradient also contains older batches: `fresh_gradient.stale_share > 0.5`.",
            "The gradient comes from the last batch alone: `fresh_gradient.stale_share < 0.5`.",
        ),
        LookAlike(
            "traps/accumulation_on_purpose",
            "Print the norm of .grad right before the first backward() of a step.",
            "The gradients of all earlier batches are still there: `fresh_gradient.stale_share > 0.5`.",
            "No old gradient is left: `fresh_gradient.stale_share < 0.5`.",
        ),
        LookAlike(
            "loop/step_every_n_never_zeroed",
            "Count the backward() calls from one optimizer.step() to the next.",
            "There is one backward() call per step.",
            "There are several backward() calls per step.",
        ),
    ),
    sources=("https://pytorch.org/tutorials/recipes/recipes/zeroing_out_gradients.html",),
    cause=Cause(
        words.STALE,
        also=("missing zero_grad", "zero_grad forgotten", "gradient accumulation", "accumulated gradients"),
        explains=("optimizer/", "clipping/", "initialisation/", "loop/step_every_n_never_zeroed"),
    ),
    terms=("gradient norm", "zero_grad", "divergence", "training step"),
    beside={
        "mlp": (
            "loss/double_softmax",
            "freezing/frozen_layers",
            "memory/losses_kept_with_graph",
            "data/labels_out_of_sync + freezing/frozen_layers",
        )
    },
)
