"""Training starts well, then the loss swings or climbs, and a smaller learning rate only delays it."""

from bugzoo.faults.idioms import ZERO_GRAD
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import remove

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
    hints=(
        "Plot the gradient norm over the steps beside that of a healthy run.",
        "At a step, compare the gradient that the optimiser gets with the gradient of the last batch alone.",
        "List what the loop does between two optimiser steps. One of the usual four things is missing.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high", "Fresh gradients: with lr too high the gradient at step() equals the last batch's."
        ),
        LookAlike("loop/step_every_n_never_zeroed", "Count backward calls per step: one here, several there."),
    ),
    sources=("https://pytorch.org/tutorials/recipes/recipes/zeroing_out_gradients.html",),
)
