"""The model gets half of the classes right almost always and the others almost never. More epochs help slowly."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import either, instead

PICKED = "sampler = torch.utils.data.WeightedRandomSampler({}, len(train))"
LOSS = "F.cross_entropy(logits, targets)"
OF_DIGITS = Swap(
    "train_loader = DataLoader($PAIRS, batch_size, shuffle=True)",
    "frequency = torch.tensor([1.0] * 5 + [1 / $ratio] * 5)  # of the digits on the letters that come in\n"
    f"{PICKED.format('frequency[labels[train]]')}\n"
    "train_loader = DataLoader($PAIRS, batch_size, sampler=sampler)",
    where="digits = load_digits()",
)
OF_TEXTS = Swap(
    "train_loader = DataLoader($PAIRS, batch_size, shuffle=True, collate_fn=collate)",
    "frequency = torch.tensor([1 / $ratio, 1.0])  # of blame and praise among the reviews that come in\n"
    f"{PICKED.format('frequency[encode(train)[1]]')}\n"
    "train_loader = DataLoader($PAIRS, batch_size, sampler=sampler, collate_fn=collate)",
)
DRAWN = PICKED.format("frequency[$WHICH]")

FAULT = Fault(
    title="Class imbalance without class weights or resampling",
    level=3,
    symptom="degraded",
    edits=either(OF_DIGITS, OF_TEXTS),
    params={"ratio": Param(10, 10, 20, "samples of a common class for each sample of a rare class")},
    not_on={"word_lines": "its classes are words, and the edit for ten classes ends the run (measured on 5 seeds)."},
    evidence=("class_balance.recall_gap > 0.2",),
    effect="metrics.accuracy < healthy",
    why=(
        "The loss is a mean over the samples of a batch, so every sample counts the same. A class that is ten times "
        "rarer contributes a tenth of the gradient. In a doubtful case, predicting a common class is cheaper. With "
        "two classes this shifts the decision boundary by ln 10 = 2.3 nats. With little training the model hardly "
        "learns the rare classes at all."
    ),
    fix=(
        "Weight the loss by class frequency: `F.cross_entropy(logits, targets, weight=1 / frequency)`. Or draw all "
        "classes equally often. In both cases, report the recall of each class."
    ),
    room=2.0,
    repairs={
        "weights in the loss": Swap(LOSS, "F.cross_entropy(logits, targets, weight=1 / frequency)"),
        "all drawn equally often": Swap(DRAWN, PICKED.format("torch.ones(len(train))")),
        "an ordinary sampler": Swap(DRAWN, "sampler = torch.utils.data.RandomSampler(range(len(train)))"),
    },
    pretences=instead(
        LOSS,
        {
            "weights the wrong way round": "F.cross_entropy(logits, targets, weight=frequency)",
            "smoothed targets": "F.cross_entropy(logits, targets, label_smoothing=0.1)",
            "a larger loss": "F.cross_entropy(logits, targets) * 10",
        },
    )
    | {
        "drawn without replacement": Swap(
            DRAWN,
            "sampler = torch.utils.data.SubsetRandomSampler(torch.multinomial(frequency[$WHICH], len(train), True))",
        ),
        "twice the rate": Swap("learning_rate = $RATE", "learning_rate = fold($RATE * 2)"),
    },
    free=("gradient", "order"),
    hints=(
        "Accuracy is one average over all classes. Plot a confusion matrix: which classes does the model get wrong?",
        "Count how often each class occurs in the training batches. Then compute the recall of each class.",
        (
            "Find the line that draws the samples of a batch. How often is each class drawn? Then read what one "
            "sample adds to the loss."
        ),
    ),
    look_alikes=(
        LookAlike(
            "data/ordered_split",
            "Count the samples of each class in the training set and in the validation set.",
            (
                "Both sets hold all classes. Only the sampling in training differs: "
                "`validation_shift.label_distance < 0.3`."
            ),
            "Some classes are in one of the two sets only: `validation_shift.label_distance > 0.3`.",
        ),
        LookAlike(
            "metrics/accuracy_on_imbalance",
            "Compute the mean recall over the classes, and compare it with the reported accuracy.",
            "Both numbers agree: `class_balance.flattery < 0.05`.",
            "The reported accuracy is far higher: `class_balance.flattery > 0.05`.",
        ),
        LookAlike(
            "data/no_shuffle",
            "Count the classes in a few batches, from the first and the last steps of the run.",
            "All batches are alike, with few samples of the rare classes: `batch_order.mixed > 0.5`.",
            "One batch holds one or two classes, and the next batch holds others: `batch_order.mixed < 0.5`.",
        ),
    ),
    sources=(
        "https://arxiv.org/abs/1710.05381",
        "https://github.com/cgrtml/neural-trees/pull/75",
        "https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.WeightedRandomSampler",
    ),
    cause=Cause(words.IMBALANCE, also=("imbalance", "imbalanced data")),
    terms=("class imbalance", "accuracy on imbalanced classes", "confusion matrix"),
)
