"""The loss is near zero for a while, jumps, falls again, jumps again, and in the end the model knows a few classes only."""

from bugzoo.faults.idioms import LOADER, PAIRS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead, rewrite

SORTED = "$ORDER = $ORDER[$ARRAY[$ORDER].argsort()]"
LINE = "train = train[labels[train].argsort()]"

FAULT = Fault(
    title="Data that comes sorted by class, and is not shuffled",
    level=4,
    symptom="degraded",
    edits=(before(PAIRS, SORTED), rewrite(LOADER, SHUFFLE="False")),
    not_on={
        "finetune": (
            "the edit puts its second task in order alone, and the batches looked at stay mixed, 0.94 to 1.04."
        ),
        "modular_addition": "53 sums in batches of its size are mixed well enough: accuracy is lower on 2 of 5 seeds only.",
        "regression_mlp": "its targets are numbers and no classes, so that no batch can lack one.",
    },
    evidence=("batch_mix.mixed < 0.5",),
    effect="metrics.accuracy < healthy",
    why=(
        "A step follows the batch in front of it. With 115 samples of a class in a row the cheapest answer to three or four "
        "batches is that class, whatever the picture; then the next one comes, and the old one is forgotten. The gradient of a "
        "batch is meant to be a sample of the gradient of all the data, and here it is one of a tenth of it."
    ),
    fix="shuffle=True for the training loader, or a sampler that draws at random; never rely on the order of a file.",
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
    hints=(
        "Look at the losses of the first epoch one by one. When do they fall, and when do they jump?",
        "Print the targets of one batch, and of the one behind it.",
        "Follow the samples from the split to the loop. Where is their order decided?",
    ),
    look_alikes=(
        LookAlike(
            "data/corrupt_batch",
            "Count the classes among the targets of a few single batches.",
            "One or two.",
            "Nearly all of them.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look which targets came in the batches where the loss jumps.",
            "A class that had not been there for long: `batch_mix.mixed < 0.5`.",
            "The same mixture as everywhere: `batch_mix.mixed > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/data.html", "https://karpathy.github.io/2019/04/25/recipe/"),
)
