"""Training and validation are equally bad. The loss plateaus far above zero, and no learning rate helps."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

NARROW = "hidden_size = $SIZE"

FAULT = Fault(
    title="Underfitting: hidden layer too narrow",
    level=2,
    symptom="plateau",
    edits=Swap("hidden_size = 128", "hidden_size = 1"),
    not_on={
        **dict.fromkeys(
            ("mlp", "checkpointed_mlp"),
            "one batch still improves slowly after 300 steps on 1 of 5 seeds, so no instrument fires (measured).",
        ),
        "data_parallel": "one of several ranks cannot run its step again, and `overfit_one_batch` needs that.",
    },
    evidence=("overfit_one_batch.ratio > 0.5",),
    effect="metrics.accuracy < healthy",
    why=(
        "All classes have to pass through one hidden unit, and ReLU sets half of its values to zero. More epochs, "
        "another learning rate or more data do not help. With 53 classes the model cannot even overfit one batch: "
        "its loss stops above four fifths of its initial value."
    ),
    fix=(
        "Widen the layers until the model can overfit one batch, as with `hidden_size = 128`. Then look at the "
        "validation data."
    ),
    repairs=instead(
        NARROW,
        {
            "a power of two": "hidden_size = 2**7",
            "as wide as two inputs": "hidden_size = 2 * 64",
            "half of 256": "hidden_size = 256 // 2",
        },
    ),
    pretences=instead(
        NARROW,
        {
            "three": "hidden_size = 3",
            "twice as many": "hidden_size = 2",
        },
    )
    | {
        "ten times the rate": Swap("learning_rate = $RATE", "learning_rate = fold($RATE * 10)"),
        "twice as long": Swap(
            "for epoch in range(epochs):\n    $$$BODY", "for epoch in range(2 * epochs):\n    $$$BODY"
        ),
    },
    hints=(
        "Compare training accuracy and validation accuracy. Is the model worse on new data, or equally bad on both?",
        "Train on a single batch, again and again. Can the model memorize this batch?",
        "Print the shape of each layer's output.",
    ),
    look_alikes=(
        LookAlike(
            "data/label_noise",
            "Train on one batch only, again and again, and check whether its loss goes to zero.",
            "The loss of one batch stays far above zero.",
            "The loss of one batch goes to zero.",
        ),
        LookAlike(
            "loss/double_softmax",
            "Add up each row of the tensor that enters the loss, for one batch of samples.",
            "Each row adds up to a different number: `double_normalisation.softmax_before_loss < 0.5`.",
            "Each row adds up to one: `double_normalisation.softmax_before_loss > 0.5`.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/",),
    terms=("one-batch overfit test", "underfitting", "plateau"),
)
