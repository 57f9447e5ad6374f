"""Training and validation are equally poor, the loss lies flat far above zero, and no learning rate makes it better."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

NARROW = "hidden_size = $SIZE"

FAULT = Fault(
    title="A network that is too narrow for its task",
    level=2,
    symptom="plateau",
    edits=Swap("hidden_size = 128", "hidden_size = 1"),
    not_on={
        **dict.fromkeys(
            ("mlp", "checkpointed_mlp"),
            "one batch still creeps down after 300 steps on 1 of 5 seeds: nothing fires there, measured.",
        ),
        "data_parallel": "one of several ranks cannot run its step again, which is how this is seen.",
    },
    evidence=("overfit_one_batch.ratio > 0.5",),
    effect="metrics.accuracy < healthy",
    why=(
        "All classes have to pass through one number, and a ReLU sets half of its values to zero. What does not fit cannot be "
        "learnt by more epochs, another rate or more data: of 53 classes not even a single batch can be learnt by heart, "
        "and its loss stops at 0.84 of where it began."
    ),
    fix="Widen the layers until one batch can be learnt by heart; then look at the validation data.",
    repairs=instead(
        NARROW,
        {
            "a power of two": "hidden_size = 2**7",
            "as wide as two inputs": "hidden_size = 2 * 64",
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
        "Is it worse on what is new, or as bad on what it was trained on?",
        "Can the model learn a single batch by heart?",
        "Print the shape of what each layer hands to the next.",
    ),
    look_alikes=(
        LookAlike(
            "data/label_noise",
            "Train on one batch alone, again and again, and see whether its loss goes to zero.",
            "It stays far above.",
            "It goes to zero.",
        ),
        LookAlike(
            "loss/double_softmax",
            "Add up the rows of what enters the loss, for one batch of samples.",
            "Any number: `double_normalisation.softmax_before_loss < 0.5`.",
            "One: `double_normalisation.softmax_before_loss > 0.5`.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/",),
)
