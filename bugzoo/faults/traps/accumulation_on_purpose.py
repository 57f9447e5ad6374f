"""backward() is called more than once before each optimizer step. Are these stale gradients?"""

from bugzoo.faults.idioms import BACKWARD
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, either

SHARE = "F.cross_entropy($LOGITS, part_targets) * len(part_targets) / len($TARGETS)"

FAULT = Fault(
    title="Gradient accumulation done on purpose",
    level=2,
    symptom="none",
    trap=True,
    edits=either(
        Swap(
            "$LOGITS = $MODEL($INPUTS)\n$LOSS = F.cross_entropy($LOGITS, $TARGETS)\n$LOSS.backward()",
            "for part, part_targets in zip($INPUTS.chunk(2), $TARGETS.chunk(2)):\n"
            "    $LOGITS = $MODEL(part)\n"
            "    $LOSS = F.cross_entropy($LOGITS, part_targets) * len(part_targets) / len($TARGETS)\n"
            "    $LOSS.backward()",
        ),
        Swap(
            "$LOGITS = $MODEL($INPUTS, $LENGTHS)\n$LOSS = F.cross_entropy($LOGITS, $TARGETS)\n$LOSS.backward()",
            "for part, sizes, part_targets in zip($INPUTS.chunk(2), $LENGTHS.chunk(2), $TARGETS.chunk(2)):\n"
            "    $LOGITS = $MODEL(part, sizes)\n"
            "    $LOSS = F.cross_entropy($LOGITS, part_targets) * len(part_targets) / len($TARGETS)\n"
            "    $LOSS.backward()",
        ),
    ),
    evidence=(),
    effect="none",
    why=(
        "backward() adds the gradient of each micro-batch to .grad. Each loss is weighted by the micro-batch's share "
        "of the samples, so the sum is the gradient of the whole batch. The gradients are cleared once per step, so "
        "no stale gradient remains."
    ),
    fix="Nothing needs repair. Gradient accumulation fits a large batch into a small memory.",
    repairs={
        "summed and divided": Swap(SHARE, 'F.cross_entropy($LOGITS, part_targets, reduction="sum") / len($TARGETS)'),
        "the share first": Swap(SHARE, "len(part_targets) / len($TARGETS) * F.cross_entropy($LOGITS, part_targets)"),
    },
    pretences={
        "without the shares": Swap(SHARE, "F.cross_entropy($LOGITS, part_targets)"),
        "cleared for each part": before(BACKWARD, "optimizer.zero_grad()"),
        "a step for each part": (before(BACKWARD, "optimizer.zero_grad()"), after(BACKWARD, "optimizer.step()")),
    },
    shown_by=("fresh_gradient", "loss_curve"),
    hints=(
        "How often does the line that clears the gradients run per optimizer step?",
        "Each part of the batch has a weight in the loss. What do the weights of one step add up to?",
        "Compare the gradient right before step() with the gradient of the whole batch from one backward().",
    ),
    look_alikes=(
        LookAlike(
            "loop/stale_gradients",
            "At one step, compare the gradient that the optimizer uses with the gradient of its whole batch.",
            "The two gradients are the same: `fresh_gradient.stale_share < 0.5`.",
            "The gradient also contains older batches: `fresh_gradient.stale_share > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation",),
    terms=("false positive", "gradient accumulation"),
)
