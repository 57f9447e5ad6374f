"""Training starts well, then the loss swings or climbs, and a smaller learning rate only delays it."""

from bugzoo.faults.idioms import BACKWARD, RANKS, STEP, TRAIN_MODE, ZERO_GRAD
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, either, remove, rewrite

ASKED = (
    "gradients = torch.autograd.grad($LOSS, list(model.parameters()))\n"
    "for parameter, gradient in zip(model.parameters(), gradients):\n    "
)
SHARED = "dist.all_reduce(gradient)\n    parameter.grad = gradient / dist.get_world_size()"
EACH = "for parameter in model.parameters():\n    parameter.grad"

FAULT = Fault(
    title="Gradients of earlier batches are never cleared",
    level=1,
    symptom="degraded",
    edits=remove(ZERO_GRAD),
    not_on={
        "amp_transformer": "in its 60 small steps the gradient norm does not grow: larger on 2 of 5 seeds, measured."
    },
    evidence=("fresh_gradient.stale_share > 0.5",),
    effect="gradient_health.total_norm > healthy",
    why=(
        "backward() adds to .grad. Without zero_grad() every step follows the sum of all gradients since the start: "
        "a step that remembers everything and forgets nothing. With plain SGD that is momentum 1.0, an undamped "
        "oscillation; Adam divides by the size of the gradient and so hides it longer."
    ),
    fix="Clear the gradients once per optimiser step: optimizer.zero_grad() before backward().",
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
        "Follow the size of the gradient over the steps. Does it shrink while the model learns?",
        "Take one step apart: what lies in a parameter's .grad just before backward() is called?",
        "List what a training loop does between two optimiser steps and tick off what you find here.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "At one step, compare the gradient at the optimiser with that of the last batch alone.",
            "It holds older batches as well: `fresh_gradient.stale_share > 0.5`.",
            "It is the last batch's alone: `fresh_gradient.stale_share < 0.5`.",
        ),
        LookAlike(
            "traps/accumulation_on_purpose",
            "Look what lies in the gradients when the first backward() of a step is called.",
            "All that came before: `fresh_gradient.stale_share > 0.5`.",
            "Nothing: `fresh_gradient.stale_share < 0.5`.",
        ),
        LookAlike(
            "loop/step_every_n_never_zeroed",
            "Count the calls of backward() between one step of the optimiser and the next.",
            "One.",
            "Several.",
        ),
    ),
    sources=("https://pytorch.org/tutorials/recipes/recipes/zeroing_out_gradients.html",),
)
