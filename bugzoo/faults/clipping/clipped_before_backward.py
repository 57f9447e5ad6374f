"""According to the code, gradients are clipped to a norm of 1. The log still shows gradient norms of 3 and 5."""

from bugzoo.faults.clipping import BEHIND_BACKWARD
from bugzoo.faults.idioms import BACKWARD, CLIP, LEARNING_RATE, STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="Gradients clipped before loss.backward()",
    level=3,
    symptom="degraded",
    edits=(remove(CLIP), before(BACKWARD, "$CLIP_STATEMENT")),
    evidence=("clip_rate.used_share < 0.1",),
    effect="clip_rate.used_share < healthy",
    why=(
        "clip_grad_norm_ shortens the gradients that are in parameter.grad at that moment. Between zero_grad() "
        "and backward() there are no gradients: the call returns a norm of 0 and changes nothing. Then backward() "
        "writes the gradient at its full length, and the optimizer follows it. No call fails, so only the "
        "gradient norms show the mistake."
    ),
    fix=(
        "Call `clip_grad_norm_(model.parameters(), max_norm)` between backward() and step(). With a GradScaler, "
        "clip after `scaler.unscale_(optimizer)`."
    ),
    repairs=BEHIND_BACKWARD,
    pretences={
        "a lower limit": rewrite(CLIP, LIMIT="0.1"),
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 5)"),
        "behind the step": (remove(CLIP), after(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)")),
    },
    shown_by=("gradient_health",),
    hints=(
        "What is the largest gradient norm that reaches the optimizer, and what is the limit?",
        "Print the norm that clip_grad_norm_ returns. This is the norm that the call found.",
        "List all calls between backward() and step(). Which of these calls change the gradient?",
    ),
    look_alikes=(
        LookAlike(
            "clipping/clipped_after_step",
            "Print the norm that clip_grad_norm_ returns at each of ten steps.",
            "The call returns 0 every time: `clip_rate.before < 1e-9`.",
            "The call returns the norm of the gradient that step() has already used: `clip_rate.before > 1e-9`.",
        ),
        LookAlike(
            "clipping/clipping_missing",
            "Search the training loop for a call that limits the gradients.",
            "The loop contains such a call.",
            "The loop contains no such call.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Multiply the limit of the clipping by a thousand and train again with the same seed.",
            "Every loss is the same to the last digit.",
            "The losses differ from the first gradient on that was shortened.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping",
        "https://github.com/simchowitzlabpublic/nano-world-model/pull/22",
    ),
    terms=("gradient clipping",),
    beside={"sentiment_lstm": ("modes/eval_mode_missing",)},
)
