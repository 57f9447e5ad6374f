"""The loss drops near zero, jumps, falls again and jumps again. In the end the model knows only a few classes."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LOADER, PAIRS
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead, rewrite

SORTED = "$ORDER = $ORDER[$ARRAY[$ORDER].argsort()]"
LINE = "train = train[labels[train].argsort()]"

FAULT = Fault(
    title="Missing shuffle: training data sorted by class",
    level=4,
    symptom="degraded",
    edits=(before(PAIRS, SORTED), rewrite(LOADER, SHUFFLE="False")),
    not_on={
        "finetune": "the edit sorts only its second task, and the kept batches stay mixed: 0.94 to 1.04.",
        "modular_addition": (
            "its 53 sums stay mixed well enough in batches of its size: accuracy is lower on 2 of 5 seeds only."
        ),
        "regression_mlp": "its targets are numbers, not classes, so every batch has all of them.",
    },
    evidence=("batch_order.mixed < 0.5",),
    effect="metrics.accuracy < healthy",
    why=(
        "Each step follows the gradient of one batch. With 115 samples of a class in a row, three or four batches "
        "hold only that class. The cheapest prediction is then that class, whatever the image shows. The next class "
        "comes, and the network forgets the one before it. The gradient of a batch should estimate the gradient of "
        "all data, and here it estimates that of a tenth."
    ),
    fix="Set `shuffle=True` in the training DataLoader, or use a random sampler. Never rely on the order of a file.",
    repairs=instead(
        LINE,
        {
            "mixed once": "train = train[torch.randperm(len(train))]",
            "not sorted": "train = train.clone()",
        },
    )
    | {
        "a sampler": Swap(
            "DataLoader($DATA, batch_size, shuffle=False)",
            "DataLoader($DATA, batch_size, sampler=torch.utils.data.RandomSampler(range(len(train))))",
        ),
    },
    pretences=instead(
        LINE,
        {
            "the other way round": "train = train[labels[train].argsort(descending=True)]",
            "sorted twice": "train = train[labels[train].argsort()]\ntrain = train.flip(0)",
        },
    )
    | {
        "a tenth of the rate": Swap("learning_rate = $RATE", "learning_rate = fold($RATE * 0.1)"),
        "validation instead": Swap(
            "validation_loader = DataLoader($DATA, batch_size=$N)",
            "validation_loader = DataLoader($DATA, batch_size=$N, shuffle=True)",
        ),
    },
    free=("order",),
    hints=(
        "Plot the loss of each step in the first epoch. When does it fall, and when does it jump?",
        "Print the targets of one batch, and then those of the next batch.",
        "Follow the samples from the split to the training loop. Which line decides the order of the samples?",
    ),
    look_alikes=(
        LookAlike(
            "data/corrupt_batch",
            "Count how many classes there are among the targets of a few single batches.",
            "Each batch holds one or two classes.",
            "Each batch holds nearly all classes.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Print the targets of the batches at which the loss jumps up, and count the classes.",
            "The targets are a class that was absent for a long time: `batch_order.mixed < 0.5`.",
            "The targets are as mixed as in every other batch: `batch_order.mixed > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/data.html", "https://karpathy.github.io/2019/04/25/recipe/"),
    cause=Cause(words.ORDER, also=("missing shuffle", "sorted data", "order of the data")),
    terms=("shuffle", "epoch", "loss curve"),
    beside={"mlp": ("memory/losses_kept_with_graph",)},
)
