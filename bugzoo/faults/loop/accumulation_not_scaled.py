"""With gradient accumulation the gradient norm is four times as large. Nearly every step is now clipped."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead, rewrite

LINE = "$LOSS = F.cross_entropy($LOGITS, part_targets)"

FAULT = Fault(
    title="Loss not divided by the number of micro-batches",
    level=4,
    symptom="degraded",
    edits=Swap(
        "$LOGITS = $MODEL($INPUTS)\n$LOSS = F.cross_entropy($LOGITS, $TARGETS)\n$LOSS.backward()",
        "for part, part_targets in zip($INPUTS.chunk(4), $TARGETS.chunk(4)):\n"
        "    $LOGITS = $MODEL(part)\n"
        "    $LOSS = F.cross_entropy($LOGITS, part_targets)\n"
        "    $LOSS.backward()",
    ),
    not_on={"data_parallel": "the instrument re-runs a step, and one of several ranks cannot re-run its step alone."},
    evidence=("output_gradient.weight > 2.5",),
    effect="gradient_health.total_norm > healthy",
    why=(
        "Each micro-batch loss is a mean, and backward() adds up the four gradients. The sum of four means is four "
        "times the mean over the whole batch. The steps of SGD are four times as large. Adam divides by the size of "
        "the gradient and hides the factor. But a max_norm tuned without accumulation now clips nearly every step, "
        "and L2 weight decay weighs only a quarter as much."
    ),
    fix=(
        "Write (loss / accumulation_steps).backward(). For micro-batches of different sizes, multiply each loss by "
        "len(part_targets) / len(targets)."
    ),
    repairs=instead(
        LINE,
        {
            "its share": f"{LINE} * len(part_targets) / len(targets)",
            "a sum, divided by all": '$LOSS = F.cross_entropy($LOGITS, part_targets, reduction="sum") / len(targets)',
        },
    ),
    pretences={
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 4)"),
        "a sum": Swap(LINE, '$LOSS = F.cross_entropy($LOGITS, part_targets, reduction="sum")'),
        "cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
        "only what is shown": Swap("losses.append(loss.item())", "losses.append(loss.item() / 4)"),
    },
    shown_by=("gradient_health", "clip_rate"),
    hints=(
        "Compare the gradient norm with and without accumulation, on the same data and the same weights.",
        "Compute the loss of one whole batch and the losses of its four quarters. How do these numbers relate?",
        (
            "Count the backward() calls per step. Print parameter.grad.norm() after each call: how much does one "
            "call add?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "traps/accumulation_on_purpose",
            "Add up the weights with which the samples of one step enter the loss.",
            "The weights sum to the number of parts: `output_gradient.weight > 2.5`.",
            "The weights sum to 1: `output_gradient.weight < 2.5`.",
        ),
        LookAlike(
            "loop/step_every_n_never_zeroed",
            "Print the norm of .grad right before the first backward() of a step.",
            "No old gradient is left: `fresh_gradient.stale_share < 0.5`.",
            "The gradients of all earlier batches are still there: `fresh_gradient.stale_share > 0.5`.",
        ),
    ),
    sources=("https://huggingface.co/blog/gradient_accumulation",),
    cause=Cause(words.REDUCTION),
    terms=("gradient accumulation", "micro-batch"),
)
