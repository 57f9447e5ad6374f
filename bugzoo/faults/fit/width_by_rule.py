"""I took the width from a rule of thumb. Training and validation are equally bad, and no learning rate helps."""

from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import instead

LINE = "hidden_size = round(modulus ** $POWER)"

FAULT = Fault(
    title="Underfitting: hidden width taken from a rule of thumb",
    level=2,
    symptom="plateau",
    params={"power": Param(0.25, 0.2, 0.31, "power of the number of classes that gives the width")},
    edits=Swap(
        "hidden_size = 128",
        "hidden_size = round(modulus ** $power)  # as an embedding is sized: the fourth root of the number of classes",
        where="modulus = $CLASSES",
    ),
    evidence=("overfit_one_batch.ratio > 0.5",),
    effect="metrics.accuracy < healthy",
    why=(
        "The fourth root of 53 classes is 2.7, so the width is 3. The rule was made for embeddings of a table, where similar "
        "values may share a direction. Here all 53 sums have to pass through 3 units, and ReLU sets about half of their values "
        "to 0. More epochs, another learning rate or more data do not help: the model cannot even overfit one batch."
    ),
    fix=(
        "Widen the layer until the model can overfit one batch, as with `hidden_size = 128`. A rule of thumb is a first "
        "guess, and one batch tells whether it is enough."
    ),
    repairs=instead(
        LINE,
        {
            "a power of two": "hidden_size = 2**7",
            "a rule with another power": "hidden_size = round(modulus ** 1.222)",
            "as wide as two inputs": "hidden_size = 2 * 64",
        },
    ),
    pretences=instead(
        LINE,
        {
            "one unit more": "hidden_size = round(modulus ** $POWER) + 1",
            "the root instead": "hidden_size = round(modulus ** 0.5)",
        },
    )
    | {
        "ten times the rate": Swap("learning_rate = $RATE", "learning_rate = fold($RATE * 10)"),
        "no decay": Swap("weight_decay = $DECAY", "weight_decay = 0.0"),
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
            "optimizer/weight_decay_too_strong",
            "Set the weight decay to 0, train again, and compare the loss.",
            "Training is as bad as before.",
            "The training loss falls.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/",),
    terms=("one-batch overfit test", "underfitting", "plateau"),
)
