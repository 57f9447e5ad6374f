"""Does the model recognize rare classes as well as common ones?

The targets of the kept training batches are counted. The script's own evaluation is run once more for the recall of each class:
the share of its samples that the model labels correctly. A class is rare if it comes less than a third as often as it would with
even classes. If rare classes have a far lower recall, a loss that averages over samples has neglected them. If they are rare in
the evaluation as well, an accuracy that averages over samples hides it.
"""

import math
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.running.result import Run

COST = 1
WHOLE = True  # it cannot judge a training that was cut short
SHOWN = {
    "classes": ("classes in the evaluation", ""),
    "rare_classes": ("classes under a third of an even share in training", ""),
    "rarity": ("training samples of a rare class over a usual one", ""),
    "common_recall": ("mean recall of the common classes", ""),
    "rare_recall": ("mean recall of the rare classes", "about that of the common ones"),
    "recall_gap": ("recall of common classes minus recall of rare ones", "near 0"),
    "accuracy": ("accuracy over all samples", "about the balanced accuracy"),
    "balanced_accuracy": ("balanced accuracy: mean recall of the classes", ""),
    "flattery": ("accuracy minus balanced accuracy", "near 0"),
}
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


def measure(run: Run) -> dict[str, Any]:
    """Counts and recalls. Raises NotApplicable unless training and evaluation have one class label per row."""
    labels = [b.targets.detach().cpu() for b in batches(run) if b.targets is not None]
    trained = [y.long() for y in labels if not y.is_floating_point() and y.ndim == 1]
    if sum(map(len, trained)) < LEAST:
        raise NotApplicable(f"fewer than {LEAST} training samples with a class label were kept")
    found = evaluated(run)
    if not found.pairs or not found.classifies or any(y.ndim != 1 or x.ndim != 2 for x, y in found.pairs):
        raise NotApplicable("the script's evaluation computes no cross-entropy with one class label per row")
    asked = torch.cat([y.long().cpu() for _, y in found.pairs])
    right = torch.cat([(x.argmax(-1) == y).cpu() for x, y in found.pairs]).double()
    classes = asked.unique()
    counts = (torch.cat(trained)[:, None] == classes).sum(0).double()
    recalls = torch.stack([right[asked == one].mean() for one in classes])
    even = float(counts.mean())
    # in few samples a class may be rare by chance
    rare = counts < min(RARE * even, even - SIGMAS * math.sqrt(even))
    accuracy, balanced = float(right.mean()), float(recalls.mean())
    numbers: dict[str, Any] = {
        "classes": float(len(classes)),
        "rare_classes": float(rare.sum()),
        "accuracy": accuracy,
        "balanced_accuracy": balanced,
        "flattery": accuracy - balanced,
        "recall_gap": 0.0,
        "rarity": 1.0,
    }
    if rare.any():
        common, seldom = float(recalls[~rare].mean()), float(recalls[rare].mean())
        numbers |= {
            "common_recall": common,
            "rare_recall": seldom,
            "recall_gap": common - seldom,
            "rarity": float(counts[rare].mean() / counts[~rare].mean()),
        }
    return numbers


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires if the recall of rare classes is more than 0.2 below that of common ones."""
    shown = pick(numbers, *SHOWN)
    text = f"{numbers['rare_classes']:.0f} of {numbers['classes']:.0f} classes are rare in training"
    if numbers["recall_gap"] <= GAP:
        return Verdict("class_balance", False, text, shown)
    text += f" ({numbers['rarity']:.2g} times as frequent); their recall is {numbers['rare_recall']:.0%}, "
    text += f"that of the others {numbers['common_recall']:.0%}"
    flattered = numbers["flattery"] > FLATTERY
    if flattered:
        text += f"; accuracy {numbers['accuracy']:.2f}, balanced accuracy {numbers['balanced_accuracy']:.2f}"
    suspects = (
        Suspect("metrics/accuracy_on_imbalance", 0.9 if flattered else 0.2, text),
        Suspect("data/class_imbalance_ignored", 0.4 if flattered else 0.7, text),
    )
    return Verdict("class_balance", True, text, shown, tuple(sorted(suspects, key=lambda one: -one.score)))
