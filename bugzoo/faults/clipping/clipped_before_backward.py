"""Gradients are clipped to 1, says the code. The log of their lengths shows threes and fives all the same."""

from bugzoo.faults.clipping import BEHIND_BACKWARD
from bugzoo.faults.idioms import BACKWARD, CLIP, LEARNING_RATE, STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="Clipping before there is a gradient",
    level=3,
    symptom="degraded",
    edits=(remove(CLIP), before(BACKWARD, "$CLIP_STATEMENT")),
    evidence=("clip_rate.used_share < 0.1",),
    effect="clip_rate.used_share < healthy",
    why=(
        "clip_grad_norm_ shortens what lies in .grad just then. Behind zero_grad() and before backward() nothing lies there: "
        "it finds no gradient, returns a norm of 0 and changes nothing. backward() then writes the gradient in its full "
        "length, and the optimiser follows it. No call fails, so that only the lengths tell."
    ),
    fix="Clip between backward() and step(), behind scaler.unscale_(optimizer) where there is a scaler.",
    repairs=BEHIND_BACKWARD,
    pretences={
        "a lower limit": rewrite(CLIP, LIMIT="0.1"),
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 5)"),
        "behind the step": (remove(CLIP), after(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)")),
    },
    shown_by=("gradient_health",),
    hints=(
        "How long is the longest gradient that the optimiser gets, and how long may it be?",
        "Print what the clipping returns: the length that it found.",
        "Which calls does a gradient pass on its way from backward() to step()?",
    ),
    look_alikes=(
        LookAlike(
            "clipping/clipped_after_step",
            "Print the length that the clipping finds, at each of ten steps.",
            "Nothing, each time: `clip_rate.before < 1e-9`.",
            "That of the gradient which was just followed: `clip_rate.before > 1e-9`.",
        ),
        LookAlike(
            "clipping/clipping_missing",
            "Search the training loop for a call that limits the gradients.",
            "There is one.",
            "There is none.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping",
        "https://github.com/simchowitzlabpublic/nano-world-model/pull/22",
    ),
)
