"""Clipping is on, and each call finds a gradient to shorten. Still, training is as unstable as without clipping."""

from bugzoo.faults.clipping import BEHIND_BACKWARD
from bugzoo.faults.idioms import BACKWARD, CLIP, LEARNING_RATE, STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="Gradients clipped after optimizer.step()",
    level=3,
    symptom="degraded",
    edits=(remove(CLIP), after(STEP, "$CLIP_STATEMENT")),
    evidence=("clip_rate.used_share < 0.1", "clip_rate.late_share > 0.5"),
    effect="clip_rate.used_share < healthy",
    why=(
        "optimizer.step() reads the gradient before the clipping shortens it. The next zero_grad() deletes the "
        "clipped gradient. The call works and returns the true norm, but the optimizer never uses the clipped "
        "gradient. Steps on unusual batches are as large as without a limit."
    ),
    fix="Call `clip_grad_norm_(model.parameters(), max_norm)` between backward() and step().",
    repairs=BEHIND_BACKWARD,
    pretences={
        "a lower limit": rewrite(CLIP, LIMIT="0.1"),
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 5)"),
        "before backward": (
            remove(CLIP),
            before(BACKWARD, "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)"),
        ),
    },
    shown_by=("gradient_health",),
    hints=(
        "What is the largest gradient norm that reaches the optimizer, and what is the limit?",
        "Print the gradient norm before each line of the training loop's body.",
        "Which line reads parameter.grad, and which lines have changed parameter.grad by then?",
    ),
    look_alikes=(
        LookAlike(
            "clipping/clipped_before_backward",
            "Print the norm that clip_grad_norm_ returns at each of ten steps.",
            "The call returns the norm of the gradient that step() has already used: `clip_rate.before > 1e-9`.",
            "The call returns 0 every time: `clip_rate.before < 1e-9`.",
        ),
        LookAlike(
            "clipping/clipping_missing",
            "Search the training loop for a call that limits the gradients.",
            "The loop contains such a call.",
            "The loop contains no such call.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Compare the gradient's length when optimizer.step() reads it with the limit of the clipping.",
            "It is above the limit at many steps.",
            "It is never above the limit, and the loss still jumps.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html",
        "https://github.com/jongwook/onsets-and-frames/issues/24",
    ),
    terms=("gradient clipping", "optimizer.step()"),
    beside={"sentiment_lstm": ("freezing/frozen_layers", "freezing/frozen_layers + modes/eval_mode_missing")},
)
