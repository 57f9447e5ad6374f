"""It reports an accuracy of more than 0.9, and whoever uses it says that some answers never come right."""

from bugzoo.faults.data.class_imbalance_ignored import DRAWN, OF_DIGITS, OF_TEXTS, PICKED
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import either

PUT_TOGETHER = "validation_loader = DataLoader($PAIRS, $$$REST)"
IMAGES = "validation = validation.repeat_interleave((frequency[labels[validation]] * {}).round().long())"
TEXTS = "validation = [pair for pair in validation for _ in range((1, {})[pair[1]])]"
AS_OFTEN = either(
    Swap(PUT_TOGETHER, f"{IMAGES.format('$ratio')}\n{PUT_TOGETHER}", where="digits = load_digits()"),
    Swap(PUT_TOGETHER, f"{TEXTS.format('$ratio')}\n{PUT_TOGETHER}"),
)
ONCE_EACH = either(
    Swap(IMAGES.format("$N"), "validation = validation.clone()"),
    Swap(TEXTS.format("$N"), "validation = list(validation)"),
)
NOT_AGAIN = either(
    Swap(IMAGES.format("$N"), "validation = validation[torch.arange(len(validation))]"),
    Swap(TEXTS.format("$N"), "validation = validation[:]"),
)
WEIGHED = Swap("F.cross_entropy(logits, targets)", "F.cross_entropy(logits, targets, weight=1 / frequency)")

FAULT = Fault(
    title="An accuracy that the common classes decide alone",
    level=3,
    symptom="too_good",
    edits=(either(OF_DIGITS, OF_TEXTS), AS_OFTEN),
    params={"ratio": Param(10, 10, 20, "how many times as often a common class comes as a rare one")},
    evidence=("class_balance.flattery > 0.05",),
    effect="class_balance.balanced_accuracy < healthy",
    why=(
        "Where ten samples of one kind come for each of another, an accuracy is ten parts of the one's recall and one of the "
        'other\'s. A model that never says "blame" is right in 10 of 11 cases. Training has the same weights, and brings it '
        "about: what the number does not count costs hardly any loss either."
    ),
    fix=(
        "Report the recall of each class, or their mean (balanced accuracy), on data with as many of each; then mend the "
        "training: weights in the loss, or samples drawn equally often."
    ),
    room=2.0,
    repairs={
        "weights in the loss, all once each": (WEIGHED, ONCE_EACH),
        "drawn equally often, all once each": (Swap(DRAWN, PICKED.format("torch.ones(len(train))")), ONCE_EACH),
        "an ordinary sampler": (
            Swap(DRAWN, "sampler = torch.utils.data.RandomSampler(range(len(train)))"),
            NOT_AGAIN,
        ),
    },
    pretences={
        "only another report": ONCE_EACH,
        "weights the wrong way round": Swap(
            "F.cross_entropy(logits, targets)", "F.cross_entropy(logits, targets, weight=frequency)"
        ),
        "twice the rate": Swap("learning_rate = $RATE", "learning_rate = fold($RATE * 2)"),
        "a larger loss": Swap("F.cross_entropy(logits, targets)", "F.cross_entropy(logits, targets) * 10"),
    },
    shown_by=("validation_shift",),
    hints=(
        "What would somebody reach who always gives the same answer?",
        "Work out the share of right answers for each class by itself, and average these.",
        "Count the labels that the report is an average of, and those that a batch is made of.",
    ),
    look_alikes=(
        LookAlike(
            "data/class_imbalance_ignored",
            "Average the recalls of the classes, each counted once, and lay the accuracy of the report beside it.",
            "The report is higher: `class_balance.flattery > 0.05`.",
            "They agree: `class_balance.flattery < 0.05`.",
        ),
        LookAlike(
            "fit/metric_on_train_set",
            "Look for the samples of the evaluation among those of the training.",
            "None of them is there: `train_validation_overlap.shared < 0.5`.",
            "All are: `train_validation_overlap.shared > 0.5`.",
        ),
        LookAlike(
            "data/leaky_split",
            "Take each sample out of the evaluation that comes in training too, and count what is left.",
            "All of them: `train_validation_overlap.shared < 0.1`.",
            "Many are gone: `train_validation_overlap.shared > 0.1`.",
        ),
    ),
    sources=(
        "https://scikit-learn.org/stable/modules/generated/sklearn.metrics.balanced_accuracy_score.html",
        "https://github.com/cgrtml/neural-trees/pull/75",
    ),
)
