"""Clipping is on, and each of its calls finds something to cut; but the training is as restless as without."""

from bugzoo.faults.clipping import BEHIND_BACKWARD
from bugzoo.faults.idioms import BACKWARD, CLIP, LEARNING_RATE, STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="Clipping behind the step",
    level=3,
    symptom="degraded",
    edits=(remove(CLIP), after(STEP, "$CLIP_STATEMENT")),
    evidence=("clip_rate.used_share < 0.1", "clip_rate.late_share > 0.5"),
    effect="clip_rate.used_share < healthy",
    why=(
        "The optimiser has read the gradient by the time it is shortened, and the next zero_grad() throws it away: the call "
        "works, returns a true length, and nobody ever uses what it leaves. Steps on a batch that is out of the ordinary "
        "are as long as if there were no limit."
    ),
    fix="Clip between backward() and step().",
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
        "How long is the longest gradient that the optimiser gets, and how long may it be?",
        "Print the gradient's length in the line before each call of the loop's body.",
        "Who reads .grad, in which line, and who has changed it by then?",
    ),
    look_alikes=(
        LookAlike(
            "clipping/clipped_before_backward",
            "Print the length that the clipping finds, at each of ten steps.",
            "That of the gradient which was just followed: `clip_rate.before > 1e-9`.",
            "Nothing, each time: `clip_rate.before < 1e-9`.",
        ),
        LookAlike(
            "clipping/clipping_missing",
            "Search the training loop for a call that limits the gradients.",
            "There is one.",
            "There is none.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html",
        "https://github.com/jongwook/onsets-and-frames/issues/24",
    ),
)
