"""Training looks excellent. On validation data the model is wrong more often than random guessing."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

SORTED = "order = order[labels[order].argsort()]"

FAULT = Fault(
    title="Missing shuffle before the train/validation split",
    level=2,
    symptom="degraded",
    edits=Swap("order = torch.randperm($N)", f"order = torch.randperm($N)\n{SORTED}", where="labels = $LABELS"),
    not_on={
        "data_parallel": (
            "its model belongs to two processes that have ended, so `validation_shift` cannot evaluate it again."
        )
    },
    evidence=("validation_shift.label_distance > 0.5",),
    effect="metrics.accuracy < healthy",
    why=(
        "The samples are sorted by class when they are split. The first four fifths hold the first eight classes, "
        "and the last fifth holds the last two. The model never sees the validation classes in training, so it never "
        "predicts these classes."
    ),
    fix=(
        "Split a random order: `order = torch.randperm(n)`. Use a stratified split where classes are rare. Count the "
        "labels of both sets."
    ),
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
        "The model is worse than guessing. Which classes does the model predict on the validation data?",
        "Count the labels in the training set and in the validation set.",
        "Read the lines between loading the arrays and cutting them in two. What does each line do to the order?",
    ),
    look_alikes=(
        LookAlike(
            "data/labels_out_of_sync",
            "Count how often each label occurs in the training set and in the validation set.",
            "The two sets hold different labels: `validation_shift.label_distance > 0.5`.",
            "Each label is about as frequent in both sets: `validation_shift.label_distance < 0.5`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "List the classes that the model never sees in training, and count them.",
            "The model never sees two classes, and they are most of the validation data.",
            "There are no such classes, because each class occurs in both sets.",
        ),
    ),
    sources=(
        "https://scikit-learn.org/stable/modules/generated/sklearn.model_selection.train_test_split.html",
        "https://scikit-learn.org/stable/modules/cross_validation.html",
    ),
    cause=Cause(words.ORDER),
    terms=("shuffle", "train/validation split", "confusion matrix"),
    beside={"digits_cnn": ("loss/double_softmax",)},
)
