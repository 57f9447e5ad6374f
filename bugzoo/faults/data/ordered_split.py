"""Training looks splendid. On validation data the model is wrong more often than somebody who guesses."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

SORTED = "order = order[labels[order].argsort()]"

FAULT = Fault(
    title="A split of data that is sorted by class",
    level=2,
    symptom="degraded",
    edits=Swap("order = torch.randperm($N)", f"order = torch.randperm($N)\n{SORTED}", where="labels = $LABELS"),
    not_on={
        "data_parallel": "its model belongs to two processes that have ended, so that validation_shift cannot ask it again."
    },
    evidence=("validation_shift.label_distance > 0.5",),
    effect="metrics.accuracy < healthy",
    why=(
        "The first four fifths of a sorted list hold the first eight classes, the rest the last two. The model never sees one "
        "sample of what it is judged by: for it those answers do not exist, and it gives them to nobody."
    ),
    fix="Draw the split at random (stratified where classes are rare), and count the labels of both halves.",
    repairs=instead(
        SORTED,
        {
            "drawn again under the seed": "torch.manual_seed(seed)\norder = torch.randperm(len(order))",
            "a copy, in its own order": "order = order.clone()",
        },
    ),
    pretences=instead(
        SORTED,
        {
            "sorted downwards": "order = order[labels[order].argsort(descending=True)]",
            "turned round": f"{SORTED}\norder = order.flip(0)",
        },
    )
    | {
        "a shuffled validation loader": Swap(
            "validation_loader = DataLoader($DATA, batch_size=$N)",
            "validation_loader = DataLoader($DATA, batch_size=$N, shuffle=True)",
        ),
        "mixed behind the split": Swap(
            "train, validation = order[:$N], order[$N:]",
            "train, validation = order[:$N], order[$N:]\ntrain = train[torch.randperm(len(train))]",
        ),
    },
    shown_by=("generalisation",),
    hints=(
        "Worse than guessing is no accident. Which answers does the model give to the validation data?",
        "Count the labels in both halves of the data.",
        "Go through the lines between loading the arrays and cutting them in two.",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Count how often each label comes among the validation samples and among those of the training.",
            "They have other labels: `validation_shift.label_distance > 0.5`.",
            "About the same in both: `validation_shift.label_distance < 0.5`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "List the classes that the model is never asked about in training.",
            "Two of them, and they are most of the validation data.",
            "None: each one comes in both halves.",
        ),
    ),
    sources=(
        "https://scikit-learn.org/stable/modules/generated/sklearn.model_selection.train_test_split.html",
        "https://scikit-learn.org/stable/modules/cross_validation.html",
    ),
)
