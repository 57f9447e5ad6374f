"""The training loss stops early, far from zero. Yet on validation data the model does better than on what it was trained on."""

from bugzoo.faults.idioms import PAIRS
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, instead

DRAWN = "wrong = $ORDER[torch.rand(len($ORDER)) < $share]"
MIXED = "$ARRAY[wrong] = $ARRAY[wrong[torch.randperm(len(wrong))]]"
LINE = "labels[wrong] = labels[wrong[torch.randperm(len(wrong))]]"

FAULT = Fault(
    title="Many training labels are wrong",
    level=3,
    symptom="plateau",
    edits=before(PAIRS, f"{DRAWN}\n{MIXED}"),
    params={"share": Param(0.4, 0.3, 0.7, "share of the training samples whose labels are mixed up")},
    not_on={
        "finetune": "generalisation measures nothing on its two loaders, tried.",
        "modular_addition": "it learns the mixed-up answers by heart: training ends 0.14 to 0.28 above validation, not below.",
        "regression_mlp": "its targets are numbers and no classes, so that nothing is right or wrong of them.",
        "data_parallel": "its model belongs to two processes that have ended, so that generalisation cannot ask it again.",
    },
    evidence=("generalisation.gap < -0.18",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "Four labels in ten were dealt out anew among their samples. What such a label says cannot be told from the picture, so "
        "that the loss stops at its entropy until the network begins to learn single samples by heart. The clean majority "
        "still teaches the rule, and the validation labels are clean: there the model is right more often than in training."
    ),
    fix="Look at the samples with the highest loss and mend their labels, or fetch them from the source again.",
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
        "Ask the model about its training samples and about new ones, both in eval mode. Where is it right more often?",
        "Take the samples with the highest loss at the end, and look at them beside what they are said to be.",
        "Compare what the file says of ten samples with what goes into the loss.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Compare the accuracy on the validation data with that on the training samples.",
            "It is far higher there: `generalisation.gap < -0.18`.",
            "It is no better there: `generalisation.gap > -0.18`.",
        ),
        LookAlike(
            "loss/double_softmax",
            "Ask the trained model for its accuracy on its training samples, in eval mode.",
            "It is far below that on new ones: `generalisation.gap < -0.18`.",
            "It is about that on new ones: `generalisation.gap > -0.18`.",
        ),
    ),
    sources=("https://arxiv.org/abs/2103.14749", "https://arxiv.org/abs/1611.03530"),
)
