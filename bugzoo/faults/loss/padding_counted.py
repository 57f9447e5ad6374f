"""From the first epoch on, the training loss is far below the validation loss. The shorter the sentences, the larger the gap."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, LEFT_OUT
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

LINE = "loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)"

FAULT = Fault(
    title="Padding tokens counted in the loss (wrong ignore_index)",
    level=3,
    symptom="degraded",
    edits=rewrite(LEFT_OUT, IGNORED="-100"),
    evidence=("output_gradient.beyond_share > 0.05",),
    effect="loss_curve.final_loss < healthy",
    why=(
        "Cross-entropy leaves out targets that equal ignore_index, which is -100 by default. The lines here are "
        "padded with another number, so short lines also ask the model for padding tokens, which are easy. The mean "
        "over all positions then looks good. The gradient of the words is divided by positions that hold no word. "
        "The evaluation leaves padding out, so the two losses measure different things."
    ),
    fix=(
        "Pass ignore_index=PAD to F.cross_entropy, or set these targets to -100. Average over the remaining targets "
        "only."
    ),
    repairs=instead(
        LINE,
        {
            "targets set to what is left out": (
                "asked = targets.masked_fill(targets == PAD, -100)\n"
                "loss = F.cross_entropy(logits.flatten(0, 1), asked.flatten(), ignore_index=-100)"
            ),
            "only the words": "loss = F.cross_entropy(logits[targets != PAD], targets[targets != PAD], ignore_index=-100)",
            "a mask by hand": (
                "counted = (targets != PAD).flatten()\n"
                'each = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")\n'
                "loss = (each * counted).sum() / counted.sum()"
            ),
        },
    ),
    pretences=instead(
        LINE,
        {
            "another number": "loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=UNKNOWN)",
            "divided by the words": f"{LINE} * targets.numel() / (targets != PAD).sum()",
            "half of its weight": (
                "weight = torch.ones(logits.shape[-1])\nweight[PAD] = 0.5\n"
                "loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), weight, ignore_index=-100)"
            ),
        },
    )
    | {"a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 2)")},
    free=("gradient",),
    hints=(
        "Over how many targets is the training loss a mean, and over how many the validation loss?",
        "Take the shortest line of a batch and print its targets after the end of the line.",
        "Which number fills up short lines, and which number does the loss leave out?",
    ),
    look_alikes=(
        LookAlike(
            "fit/no_regularisation",
            "Compute the training loss of one batch again, over its words alone.",
            "The new loss is far higher than the printed one.",
            "The new loss equals the printed one.",
        ),
        LookAlike(
            "loss/labels_off_by_one",
            "Compare each target with the word that follows in the line.",
            "Both agree up to the end of the line: `output_gradient.label_shift_share < 0.5`.",
            "No target agrees, and all are off by the same amount: `output_gradient.label_shift_share > 0.95`.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
    cause=Cause(words.PADDING, either={words.REDUCTION: {}}),
    terms=("padding tokens", "perplexity"),
)
