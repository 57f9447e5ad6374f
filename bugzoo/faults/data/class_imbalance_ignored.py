"""Half of the classes are recognised nearly always, the other half hardly ever. More epochs help slowly."""

from bugzoo.faults.model import Fault, LookAlike, Param, Swap
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
    title="Rare classes count as little as they come",
    level=3,
    symptom="degraded",
    edits=either(OF_DIGITS, OF_TEXTS),
    params={"ratio": Param(10, 10, 20, "how many times as often a common class comes as a rare one")},
    not_on={
        "word_lines": "its classes are words, and what the edit does to ten classes ends the run, measured on 5 seeds."
    },
    evidence=("class_balance.recall_gap > 0.2",),
    effect="metrics.accuracy < healthy",
    why=(
        "The mean loss of a batch is a vote in which every sample has one voice. A class that comes ten times as seldom has a "
        "tenth of the gradient, and it is cheaper to answer with a common class in every doubtful case. With two classes this "
        "moves the border by ln 10 = 2.3 nats; with little training the rare ones are hardly learnt at all."
    ),
    fix=(
        "Weigh the loss by how rare a class is (`weight=1 / frequency`), or draw the classes equally often. Either way look at "
        "the recall of each class."
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
    hints=(
        "One number for all classes is an average. Which classes does it go wrong on?",
        "Count how often each class comes in the batches, and how often it is recognised.",
        "Read how samples are picked for a batch, and what each of them weighs in the loss.",
    ),
    look_alikes=(
        LookAlike(
            "data/ordered_split",
            "Count the classes among all samples of the training half and of the other one.",
            "They agree: what differs is how often they are drawn, `validation_shift.label_distance < 0.3`.",
            "Some are in one half alone: `validation_shift.label_distance > 0.3`.",
        ),
        LookAlike(
            "metrics/accuracy_on_imbalance",
            "Average the recalls of the classes, each counted once, and lay the accuracy of the report beside it.",
            "They agree: `class_balance.flattery < 0.05`.",
            "The report is far higher: `class_balance.flattery > 0.05`.",
        ),
        LookAlike(
            "data/no_shuffle",
            "Count the classes in a few single batches, the first of the run and the last.",
            "Each batch is alike, with few of the rare ones: `batch_mix.mixed > 0.5`.",
            "A batch holds one or two, and the next one others: `batch_mix.mixed < 0.5`.",
        ),
    ),
    sources=(
        "https://arxiv.org/abs/1710.05381",
        "https://github.com/cgrtml/neural-trees/pull/75",
        "https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.WeightedRandomSampler",
    ),
)
