"""The training loss falls far below the validation loss from the first epoch on, and the shorter the sentences, the further."""

from bugzoo.faults.idioms import LEARNING_RATE, LEFT_OUT
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

LINE = "loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)"

FAULT = Fault(
    title="Padding counts in the loss",
    level=3,
    symptom="degraded",
    edits=rewrite(LEFT_OUT, IGNORED="-100"),
    evidence=("output_gradient.beyond_share > 0.05",),
    effect="loss_curve.final_loss < healthy",
    why=(
        "A loss leaves out the targets of one number, ignore_index, which is -100 unless somebody says so. Lines are filled up "
        "with another number, and nobody is told: behind the end of every short line the model is asked for padding, which is "
        "easy. The mean over all places looks good, and the gradient of the words is divided by places that are none. "
        "The evaluation leaves padding out, so that the two losses are about different things."
    ),
    fix="Give the loss the number that the batches are filled up with, or set these targets to -100; count what remains.",
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
    hints=(
        "Of how many numbers is the training loss a mean, and of how many the other one?",
        "Take the shortest line of a batch and look what is asked behind its end.",
        "Which number fills the batches up, and which one does the loss leave out?",
    ),
    look_alikes=(
        LookAlike(
            "fit/no_regularisation",
            "Work the training loss of one batch out again, over its words alone.",
            "It is far higher than the one that is printed.",
            "It is the one that is printed.",
        ),
        LookAlike(
            "loss/labels_off_by_one",
            "Compare each word that is asked for with the one that follows in the line.",
            "They agree as long as the line lasts: `output_gradient.label_shift_share < 0.5`.",
            "They never agree, and are always as far off: `output_gradient.label_shift_share > 0.95`.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
)
