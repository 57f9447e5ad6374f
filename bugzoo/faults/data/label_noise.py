"""Training loss plateaus early, far above zero. Yet validation accuracy is higher than training accuracy."""

from bugzoo.faults.idioms import PAIRS
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, instead

DRAWN = "wrong = $ORDER[torch.rand(len($ORDER)) < $share]"
MIXED = "$ARRAY[wrong] = $ARRAY[wrong[torch.randperm(len(wrong))]]"
LINE = "labels[wrong] = labels[wrong[torch.randperm(len(wrong))]]"

FAULT = Fault(
    title="Label noise in the training set",
    level=3,
    symptom="plateau",
    edits=before(PAIRS, f"{DRAWN}\n{MIXED}"),
    params={"share": Param(0.4, 0.3, 0.7, "share of the training samples whose labels are shuffled")},
    not_on={
        "finetune": "`generalisation` measures nothing on its two loaders (tried).",
        "modular_addition": (
            "it memorizes the shuffled labels: training accuracy ends 0.14 to 0.28 above validation, not below."
        ),
        "regression_mlp": "its targets are numbers, not classes, so no prediction is right or wrong.",
        "data_parallel": (
            "its model belongs to two processes that have ended, so `generalisation` cannot evaluate it again."
        ),
    },
    evidence=("generalisation.gap < -0.18",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Four in ten training labels were shuffled among their samples. An image says nothing about its shuffled "
        "label, so the loss plateaus at the entropy of these labels. The loss falls further only when the network "
        "begins to memorize single samples. The clean majority still teaches the rule. The validation labels are "
        "clean, so validation accuracy is higher than training accuracy."
    ),
    fix=(
        "Sort the training samples by loss and inspect those with the highest loss. Correct the wrong labels, or "
        "load all labels from the source again."
    ),
    repairs=instead(
        LINE,
        {
            "read again": "labels = torch.tensor(digits.target)",
            "each its own": "labels[wrong] = labels[wrong[torch.arange(len(wrong))]]",
            "mixed, and put back": "labels[wrong] = labels[wrong[torch.randperm(len(wrong)).sort().values]]",
        },
    ),
    pretences=instead(
        LINE,
        {
            "half of them": "wrong = wrong[::2]\nlabels[wrong] = labels[wrong[torch.randperm(len(wrong))]]",
            "turned round": "labels[wrong] = labels[wrong].flip(0)",
            "one place further": "labels[wrong] = labels[wrong].roll(1)",
        },
    )
    | {
        "smoothed": Swap("F.cross_entropy(logits, targets)", "F.cross_entropy(logits, targets, label_smoothing=0.2)"),
    },
    hints=(
        "Evaluate the training samples and new samples, both in eval mode. Which accuracy is higher?",
        "Sort the training samples by their loss at the end. Plot those with the highest loss, each with its target.",
        "Compare the targets of ten samples in the file with the targets of the same samples in the loss.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Compare the accuracy on the validation data with the accuracy on the training samples.",
            "Validation accuracy is far higher: `generalisation.gap < -0.18`.",
            "Validation accuracy is not higher: `generalisation.gap > -0.18`.",
        ),
        LookAlike(
            "loss/double_softmax",
            "In eval mode, compare the accuracy on the training samples with the accuracy on new samples.",
            "Training accuracy is far lower: `generalisation.gap < -0.18`.",
            "Both accuracies are about the same: `generalisation.gap > -0.18`.",
        ),
    ),
    sources=("https://arxiv.org/abs/2103.14749", "https://arxiv.org/abs/1611.03530"),
    terms=("label noise", "generalization gap"),
)
