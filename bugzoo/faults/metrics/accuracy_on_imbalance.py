"""The script reports an accuracy above 0.9. Users of the model say that it never gets some classes right."""

from bugzoo.faults import words
from bugzoo.faults.data.class_imbalance_ignored import DRAWN, OF_DIGITS, OF_TEXTS, PICKED
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
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
    title="Accuracy instead of balanced accuracy under class imbalance",
    level=3,
    symptom="too_good",
    edits=(either(OF_DIGITS, OF_TEXTS), AS_OFTEN),
    params={"ratio": Param(10, 10, 20, "samples of a common class for each sample of a rare class")},
    evidence=("class_balance.flattery > 0.05",),
    effect="class_balance.balanced_accuracy < healthy",
    why=(
        "A common class has ten samples for each sample of a rare class. Accuracy then counts the recall of the "
        'common class ten times and that of the rare class once. A review classifier that never predicts "negative" '
        "is right in 10 of 11 cases. The training data has the same class frequencies, so missing the rare classes "
        "hardly costs any loss either."
    ),
    fix=(
        "Report the recall of each class or their mean (balanced accuracy), on data with equally many samples of "
        "each class. Then fix the training: class weights in the loss, or classes drawn equally often."
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
    free=("gradient", "order"),
    shown_by=("validation_shift",),
    hints=(
        "What would the script report for a model that always predicts the same class?",
        "Compute the recall of each class separately, then take the mean of the recalls.",
        "Count the labels in the validation data and in the training batches.",
    ),
    look_alikes=(
        LookAlike(
            "data/class_imbalance_ignored",
            "Compute the mean recall over the classes, and compare it with the reported accuracy.",
            "The reported accuracy is higher: `class_balance.flattery > 0.05`.",
            "Both numbers agree: `class_balance.flattery < 0.05`.",
        ),
        LookAlike(
            "fit/metric_on_train_set",
            "Look up the evaluation samples among the training samples, and count the matches.",
            "No evaluation sample is among the training samples: `train_validation_overlap.shared < 0.5`.",
            "All evaluation samples are among the training samples: `train_validation_overlap.shared > 0.5`.",
        ),
        LookAlike(
            "data/leaky_split",
            "Remove each evaluation sample that is also in the training set, and count the rest.",
            "All evaluation samples are left: `train_validation_overlap.shared < 0.1`.",
            "Many evaluation samples are gone: `train_validation_overlap.shared > 0.1`.",
        ),
    ),
    sources=(
        "https://scikit-learn.org/stable/modules/generated/sklearn.metrics.balanced_accuracy_score.html",
        "https://github.com/cgrtml/neural-trees/pull/75",
    ),
    cause=Cause(words.IMBALANCE, either={words.METRIC: {}}),
    terms=("accuracy on imbalanced classes", "confusion matrix", "baseline", "class imbalance"),
)
