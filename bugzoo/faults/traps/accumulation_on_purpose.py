"""backward() is called more than once before the optimiser steps. Are these stale gradients?"""

from bugzoo.faults.idioms import BACKWARD
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, either

SHARE = "F.cross_entropy($LOGITS, part_targets) * len(part_targets) / len($TARGETS)"

FAULT = Fault(
    title="Gradient accumulation on purpose",
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
        "Two halves of a batch, each weighted by its share, add up to the gradient of the whole batch. The gradients are "
        "cleared once per step, so nothing old is left in them."
    ),
    fix="Nothing needs repair: this is how a large batch fits into a small memory.",
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
        "When are the gradients cleared, counted in optimiser steps?",
        "Add up the weights of the parts.",
        "Compare the gradient at a step with that of the undivided batch.",
    ),
    look_alikes=(
        LookAlike(
            "loop/stale_gradients",
            "At one step, compare the gradient at the optimiser with that of its whole batch.",
            "They are the same: `fresh_gradient.stale_share < 0.5`.",
            "Older batches are in it: `fresh_gradient.stale_share > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation",),
)
