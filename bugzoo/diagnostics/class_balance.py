"""Does the model recognize rare classes as well as common ones?

The targets of the kept training batches are counted. The script's own evaluation is run once more for the recall of each class:
the share of its samples that the model labels correctly. A class is rare if it comes less than a third as often as it would with
even classes. If rare classes have a far lower recall, a loss that averages over samples has neglected them. If they are rare in
the evaluation as well, an accuracy that averages over samples hides it.
"""

import math
from dataclasses import dataclass

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches
from bugzoo.diagnostics.conditions import Alarm, above, measured
from bugzoo.diagnostics.numbers import OWN, TWICE, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.running.result import Run

COST = 1
VIEW = "evaluation"
TITLE = "Rare classes"
WHOLE = True  # it cannot judge a training that was cut short
KNOWN_PROBLEMS = (
    "A false positive where a rare class has only a few samples in the evaluation, or stays hard although the loss weights "
    "it. "
    "It says nothing about evaluations without cross-entropy or nll_loss, labels that are not one per row, or fewer than 64 "
    "kept labels."
)
_TAIL = """\
model.eval()
with torch.no_grad():
    validation_loss = F.cross_entropy(model(inputs), targets)
"""
_LAST = "        accuracy = (model(inputs).argmax(1) == targets).float().mean()\n"
_SELDOM = "torch.multinomial((targets < 2) + 0.02, 256, replacement=True).split(32)"
HEALTHY = example((_LAST, _LAST + _TAIL))
SICK = example((_LAST, _LAST + _TAIL), ("torch.randperm(256).split(32)", _SELDOM))
RARE, GAP, FLATTERY, LEAST, SIGMAS = 1 / 3, 0.2, 0.1, 64, 3.0


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts, and recalls and accuracies between 0 and 1; the recall of a kind of class only where a class is rare."""

    classes: float = number("classes in the evaluation")
    rare_classes: float = number("classes under a third of an even share in training")
    rarity: float = number("training samples of a rare class over a usual one")
    common_recall: float | None = optional("mean recall of the common classes")
    rare_recall: float | None = optional("mean recall of the rare classes", "about that of the common ones")
    recall_gap: float = number("recall of common classes minus recall of rare ones", "near 0", hidden=OWN)
    accuracy: float = number("accuracy over all samples", "about the balanced accuracy", hidden=TWICE)
    balanced_accuracy: float = number("balanced accuracy: mean recall of the classes", hidden=OWN)
    flattery: float = number("accuracy minus balanced accuracy", "near 0", hidden=OWN)


low_recall = Alarm(
    above("recall_gap", GAP) | ~measured("recall_gap"),
    "The recall of each class was measured. It is {rare_recall:.0%} for {rare_classes:.0f} rare classes and "
    "{common_recall:.0%} for the others.",
    f"A gap of at most {100 * GAP:.0f} percentage points passes.",
)
ALARMS = (low_recall,)


def measure(run: Run) -> Numbers:
    """Counts and recalls. Raises NotApplicable unless training and evaluation have one class label per row."""
    labels = [b.targets.detach().cpu() for b in batches(run) if b.targets is not None]
    trained = [y.long() for y in labels if not y.is_floating_point() and y.ndim == 1]
    if sum(map(len, trained)) < LEAST:
        raise NotApplicable(f"fewer than {LEAST} training samples with a class label were kept")
    evaluation = evaluated(run)
    pairs = evaluation.pairs
    if not pairs or not evaluation.classifies or any(y.ndim != 1 or x.ndim != 2 for x, y in pairs):
        raise NotApplicable("the script's evaluation computes no cross-entropy with one class label per row")
    validated = torch.cat([y.long().cpu() for _, y in pairs])
    right = torch.cat([(x.argmax(-1) == y).cpu() for x, y in pairs]).double()
    classes = validated.unique()
    counts = (torch.cat(trained)[:, None] == classes).sum(0).double()
    recalls = torch.stack([right[validated == label].mean() for label in classes])
    even = float(counts.mean())
    # in few samples a class may be rare by chance
    rare = counts < min(RARE * even, even - SIGMAS * math.sqrt(even))
    accuracy, balanced = float(right.mean()), float(recalls.mean())
    numbers = Numbers(
        classes=float(len(classes)),
        rare_classes=float(rare.sum()),
        rarity=1.0,
        recall_gap=0.0,
        accuracy=accuracy,
        balanced_accuracy=balanced,
        flattery=accuracy - balanced,
    )
    if rare.any():
        common, seldom = float(recalls[~rare].mean()), float(recalls[rare].mean())
        numbers.common_recall, numbers.rare_recall, numbers.recall_gap = common, seldom, common - seldom
        numbers.rarity = float(counts[rare].mean() / counts[~rare].mean())
    return numbers


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if the recall of rare classes is more than 0.2 below that of common ones."""
    text = f"{numbers.rare_classes:.0f} of {numbers.classes:.0f} classes are rare in training"
    if not low_recall(numbers):
        return Verdict("class_balance", False, text, numbers.labeled())
    text += f" ({numbers.rarity:.2g} times as frequent); their recall is {numbers.rare_recall:.0%}, "
    text += f"that of the others {numbers.common_recall:.0%}"
    flattered = numbers.flattery > FLATTERY
    if flattered:
        text += f"; accuracy {numbers.accuracy:.2f}, balanced accuracy {numbers.balanced_accuracy:.2f}"
    suspects = (
        Suspect("metrics/accuracy_on_imbalance", 0.9 if flattered else 0.2, text),
        Suspect("data/class_imbalance_ignored", 0.4 if flattered else 0.7, text),
    )
    suspects = tuple(sorted(suspects, key=lambda suspect: -suspect.score))
    return Verdict("class_balance", True, text, numbers.labeled(), suspects)
