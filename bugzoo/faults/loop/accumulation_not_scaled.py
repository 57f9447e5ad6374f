"""With gradient accumulation the same batch gives a gradient four times as long, and the clipping bites all the time."""

from bugzoo.faults.idioms import LEARNING_RATE, STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead, rewrite

LINE = "$LOSS = F.cross_entropy($LOGITS, part_targets)"

FAULT = Fault(
    title="The micro-batches' mean losses are added up",
    level=4,
    symptom="degraded",
    edits=Swap(
        "$LOGITS = $MODEL($INPUTS)\n$LOSS = F.cross_entropy($LOGITS, $TARGETS)\n$LOSS.backward()",
        "for part, part_targets in zip($INPUTS.chunk(4), $TARGETS.chunk(4)):\n"
        "    $LOGITS = $MODEL(part)\n"
        "    $LOSS = F.cross_entropy($LOGITS, part_targets)\n"
        "    $LOSS.backward()",
    ),
    not_on={"data_parallel": "one of several ranks cannot run its step again, which is how this is seen."},
    evidence=("output_gradient.weight > 2.5",),
    effect="gradient_health.total_norm > healthy",
    why=(
        "Each micro-batch's loss is a mean, and backward() adds the four gradients up: the sum of four means is four times the "
        "mean of all. SGD takes steps four times as long. Adam divides by the size and hides it, but a limit for the norm "
        "that was found without accumulation is now met at nearly every step, and weight decay weighs a quarter."
    ),
    fix="Weight each micro-batch's loss by its share of the batch: divide by the number of micro-batches.",
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
        "Compare the gradient's length with and without accumulation, on the same batch and the same weights.",
        "What is the loss of a batch, expressed by the losses of its quarters?",
        "How often is backward() called for each step, and what does each call add?",
    ),
    look_alikes=(
        LookAlike(
            "traps/accumulation_on_purpose",
            "Add up the weights with which the samples of one step count.",
            "They sum to the number of parts: `output_gradient.weight > 2.5`.",
            "They sum to 1: `output_gradient.weight < 2.5`.",
        ),
        LookAlike(
            "loop/step_every_n_never_zeroed",
            "Look what lies in the gradients when the first backward() of a step is called.",
            "Nothing: `fresh_gradient.stale_share < 0.5`.",
            "All that came before: `fresh_gradient.stale_share > 0.5`.",
        ),
    ),
    sources=("https://huggingface.co/blog/gradient_accumulation",),
)
