"""Training loss falls as usual, but slowly. On validation data the model is no better than a guess."""

from bugzoo.faults.idioms import LOSS, PAIRS
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import either, instead, rewrite

PAIRED = "TensorDataset($X[$I], $Y[$I.sort().values])"
DRAWN = "$Y[torch.randperm(len($Y))]"

FAULT = Fault(
    title="Inputs and labels shuffled in different orders",
    level=3,
    symptom="stuck",
    edits=either(
        rewrite(PAIRS, LABELS=("$ARRAY[$ORDER.sort().values]", "($LABELS)[torch.randperm(len($LABELS))]")),
        rewrite(LOSS, TARGETS="($TARGETS)[torch.randperm(len($TARGETS))]"),
    ),
    not_on={
        name: "token ids have no nearest neighbors that predict a label, so `data_inspection` measures nothing (tried)."
        for name in ("amp_transformer", "mini_transformer", "sampler", "sentiment_lstm", "sequence_classifier")
    }
    | {
        "modular_addition": (
            "pairs of numbers have no nearest neighbors with the same sum, so the mismatch cannot be seen (tried)."
        ),
        "regression_mlp": "its targets are numbers, not classes, so no neighbor has the same target.",
        "checkpointed_mlp": (
            "on 1 of 5 seeds the neighbors agree a little, and `data_inspection` reports nothing (measured)."
        ),
        "finetune": (
            "only its second task gets wrong labels, so neighbors still agree by 0.59 or more over chance (measured)."
        ),
    },
    evidence=("data_inspection.agreement_over_chance < 0.1",),
    effect="metrics.accuracy < healthy",
    why=(
        "Two arrays that belong together were indexed in two different orders. Each input now has the label of an "
        "arbitrary sample. A large network memorizes such pairs in a long training. In a short one its loss stays near "
        "that of a guess. Memorized pairs do not help on new samples."
    ),
    fix=(
        "Index both arrays with the same order, as in `TensorDataset(images[train], labels[train])`, or keep them in "
        "one structure and index it once. Then look at a few samples with their labels."
    ),
    # first the programs with a dataset of pairs, then those whose targets are shuffled right before the loss
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
        "The training loss falls. Which number would show whether the model also learns something useful?",
        "Decode a few samples of one batch, and print each one next to its target.",
        "Follow the inputs and the targets separately, from loading to the loss. Write down what each line does.",
    ),
    look_alikes=(
        LookAlike(
            "data/label_noise",
            "Check how often the nearest neighbors among the samples have the same label.",
            "Nearest neighbors agree as often as by chance.",
            "Nearest neighbors agree far more often than by chance.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Compare the accuracy on validation data with the accuracy of random guessing.",
            "Validation accuracy is at chance.",
            "Validation accuracy is far above chance.",
        ),
    ),
    sources=("https://arxiv.org/abs/1611.03530",),
    cause=Cause(explains=("optimizer/", "initialisation/")),
    terms=("collate function", "data inspection", "label noise"),
    beside={"mlp": ("freezing/frozen_layers",)},
)
