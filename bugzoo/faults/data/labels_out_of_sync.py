"""Training loss falls as always, if slowly; on validation data the model guesses."""

from bugzoo.faults.idioms import LOSS, PAIRS
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import either, instead, rewrite

PAIRED = "TensorDataset($X[$I], $Y[$I.sort().values])"
DRAWN = "$Y[torch.randperm(len($Y))]"

FAULT = Fault(
    title="Inputs and labels in different orders",
    level=3,
    symptom="stuck",
    edits=either(
        rewrite(PAIRS, LABELS=("$ARRAY[$ORDER.sort().values]", "($LABELS)[torch.randperm(len($LABELS))]")),
        rewrite(LOSS, TARGETS="($TARGETS)[torch.randperm(len($TARGETS))]"),
    ),
    not_on={
        name: "numbers of words or characters have no neighbours that tell a label: data_inspection measures none, tried."
        for name in ("amp_transformer", "mini_transformer", "sampler", "sentiment_lstm", "sequence_classifier")
    }
    | {
        "modular_addition": "pairs of numbers have no neighbours with the same sum, by which anybody could see it, tried.",
        "regression_mlp": "its targets are numbers and no classes, so that no neighbour has the same one.",
        "checkpointed_mlp": "on one of five seeds neighbours agree a little, and data_inspection keeps quiet, measured.",
        "finetune": "the labels of its second task are moved, the first one's are right: 0.59 over chance and more, measured.",
    },
    evidence=("data_inspection.agreement_over_chance < 0.1",),
    effect="metrics.accuracy < healthy",
    why=(
        "Two arrays that belong together were indexed by two different orders. Every image has somebody's label. The "
        "network learns such pairs by heart, so the training loss goes down all the same; nothing of it carries over."
    ),
    fix="Keep inputs and labels in one structure and index it once; look at a few pairs with your own eyes.",
    # on a program of pairs, or of targets that are shuffled on their way into the loss
    repairs=instead(
        PAIRED,
        {
            "both sorted": "TensorDataset($X[$I.sort().values], $Y[$I.sort().values])",
            "one structure, indexed once": "torch.utils.data.Subset(TensorDataset($X, $Y), $I.tolist())",
            "a list of pairs": "list(zip($X[$I], $Y[$I]))",
        },
    )
    | instead(
        DRAWN,
        {
            "drawn, and put back": "$Y[torch.randperm(len($Y)).sort().values]",
            "in their order": "$Y[torch.arange(len($Y))]",
        },
    ),
    pretences=instead(
        PAIRED,
        {
            "the other way round": "TensorDataset($X[$I], $Y[$I.sort(descending=True).values])",
            "sorted by label": "TensorDataset($X[$I], $Y[$I].sort().values)",
            "drawn anew": "TensorDataset($X[$I], $Y[$I[torch.randperm(len($I))]])",
            "the first ones": "TensorDataset($X[$I], $Y[: len($I)])",
        },
    )
    | instead(
        DRAWN,
        {
            "turned round": "$Y.flip(0)",
            "one place further": "$Y.roll(1, 0)",
        },
    ),
    hints=(
        "Does the training loss tell you that something sensible is learned? What would tell you?",
        "Decode a few samples and show them beside their labels.",
        "Follow inputs and labels separately from where they are loaded to where they meet.",
    ),
    look_alikes=(
        LookAlike(
            "data/label_noise",
            "Look how often the nearest neighbours among the samples have the same label.",
            "As often as by chance.",
            "Far more often than by chance.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Compare the accuracy on validation data with what somebody who guesses would have.",
            "It is that of guessing.",
            "It is far above it.",
        ),
    ),
    sources=("https://arxiv.org/abs/1611.03530",),
)
