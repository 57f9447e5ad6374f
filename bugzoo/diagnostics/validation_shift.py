"""Do the validation inputs and labels have the same distribution as the training data?

Three things are compared between training and the script's evaluation. Classes: only one of them has some (a split without a
shuffle). Mean and spread of the inputs: they differ (preprocessing that one of them lacks). Repetition: the evaluation's inputs
change when it runs again on the same targets (augmentation left on). Where the script evaluates at several places, the
inputs that are furthest from training count.
"""

import math
from collections import Counter
from typing import Any

import torch

from bugzoo.diagnostics._data import rows, training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import Call
from bugzoo.diagnostics._tools import batches, model_of, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.model import live, tensors
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "label_distance": ("share of labels to change until both sets match", "0 to 0.25"),
    "unseen_classes": ("share of validation labels not in training", "0 to 0.05"),
    "mean_shift": ("shift of the mean input, in training deviations", "0 to 0.3"),
    "spread_ratio": ("deviation of validation inputs over training inputs", "0.5 to 2"),
    "redrawn": ("share of inputs that change when it runs again", "0"),
}
KNOWN_PROBLEMS = (
    "A false positive for a training set balanced on purpose, a test set from another domain, or random test-time "
    "augmentation. "
    "It compares one mean and one spread over all features: a shift of single channels or of tokens stays unseen."
)
_TAIL = """\
model.eval()
with torch.no_grad():
    for rows in torch.arange(256).split(100):
        validation_loss = F.cross_entropy(model(inputs[rows]), targets[rows])
"""
_LAST = "        accuracy = (model(inputs).argmax(1) == targets).float().mean()\n"
HEALTHY = example((_LAST, _LAST + _TAIL))
SICK = example((_LAST, _LAST + _TAIL.replace("model(inputs[rows])", "model(inputs[rows] * 16)")))
FAR, OTHER_CLASSES, SPREADS, LEAST = 0.3, 0.3, (0.5, 2.0), 1e-6
ROWS, VERY_FAR, OFF = 16, 1.0, 4.0
"""For inputs that were only seen: fewest samples, smallest mean shift in spreads, smallest ratio of the spreads."""


def measure(run: Run) -> dict[str, Any]:
    """Differences of labels and inputs; absent where there is nothing to compare. Raises NotApplicable."""
    kept = batches(run)
    numbers = _shifted(run, kept)
    try:
        found = evaluated(run)
    except NotApplicable:
        if not numbers:
            raise
        return numbers
    if found.classifies and all(y.ndim == 1 for _, y in found.pairs):
        validated = torch.cat([y.long().cpu() for _, y in found.pairs])
        trained = _labels(run, kept)
        trained = trained[trained != found.ignored]
        if len(trained) and len(validated):
            numbers |= _labelled(trained, validated)
    if trained_on := _floats(kept):
        alike = [x for x in found.inputs if x.is_floating_point() and x.shape[1:] == trained_on[0].shape[1:]]
        numbers = _furthest([numbers, _shift(trained_on, alike)])
    # random windows of a text are not augmentation, nor is the input noise of a generator
    if any(x.is_floating_point() for x in found.inputs) and (found.pairs or found.loaders):
        second = evaluated(run, again=True)
        if _each([y for _, y in found.pairs]) == _each([y for _, y in second.pairs]):
            numbers["redrawn"] = _redrawn(found.inputs, second.inputs)
    if not numbers:
        raise NotApplicable("the evaluation has neither class labels nor inputs to compare")
    return numbers


def _floats(kept: list[Any]) -> list[torch.Tensor]:
    """The main inputs of the kept batches, those that are not tokens."""
    inputs = [Call.of(batch).leaves[main] for batch in kept if (main := Call.of(batch).main()) is not None]
    return [x for x in inputs if x.is_floating_point()]


def _shifted(run: Run, kept: list[Any]) -> dict[str, Any]:
    """How far off the inputs are that the trained model got without gradients while the script ran, at the worst place.

    Only a place that is far off counts: a playing agent, or a grid for a plot, need not look like the training data.
    """
    trained, model = _floats(kept), model_of(run, kept[0])
    shifts = []
    for one in live(run).evaluations:
        inputs = [x for x in tensors(one.args)[:1] if x.is_floating_point()]
        if (
            one.module is model
            and inputs
            and len(inputs[0]) >= ROWS
            and trained
            and inputs[0].shape[1:] == trained[0].shape[1:]
        ):
            shift = _shift(trained, inputs)
            if shift and (shift["mean_shift"] > VERY_FAR or not 1 / OFF < shift["spread_ratio"] < OFF):
                shifts.append(shift)
    return _furthest(shifts)


def _shift(trained: list[torch.Tensor], asked: list[torch.Tensor]) -> dict[str, float]:
    """Distance of the means over the training spread, and ratio of the spreads; {} where there is nothing to compare."""
    if not asked:
        return {}
    one, two = (torch.cat([x.detach().float().cpu().flatten() for x in some]) for some in (trained, asked))
    spread = float(one.std(correction=0))
    if spread <= LEAST * float(one.abs().max()):  # a single point, such as a boundary, has no spread to compare with
        return {}
    return {"mean_shift": abs(float(two.mean() - one.mean())) / spread, "spread_ratio": float(two.std()) / spread}


def _furthest(shifts: list[dict[str, Any]]) -> dict[str, Any]:
    """All numbers of several places, with the largest difference."""
    known = [one for one in shifts if "spread_ratio" in one]
    worst = max(known, key=lambda one: max(one["mean_shift"], abs(math.log(one["spread_ratio"] + 1e-9))), default={})
    rest = {name: value for one in shifts for name, value in one.items()}
    return rest | {name: worst[name] for name in ("mean_shift", "spread_ratio") if worst}


def _labels(run: Run, kept: list[Any]) -> torch.Tensor:
    """All labels of the loader that training reads, else those of the kept batches."""
    loader = training_loader(run)
    if loader is not None:
        try:
            return torch.tensor(rows(loader.dataset)[1]).long()
        except NotApplicable:
            pass
    found = [b.targets.cpu() for b in kept if b.targets is not None and b.targets.ndim == 1]
    return torch.cat(found).long() if found else torch.empty(0).long()


def _labelled(trained: torch.Tensor, validated: torch.Tensor) -> dict[str, float]:
    """Half the sum of the differences of class shares (total variation), and the share of labels of new classes.

    A random split of the same labels gives the values by chance, which are subtracted. Few samples of many rare classes,
    such as the words of a text, never match.
    """
    every = torch.cat([trained, validated]).clamp(min=0)
    dealt = every[torch.randperm(len(every), generator=torch.Generator().manual_seed(0))]
    apart, chance = (_apart(*one.split([len(trained), len(validated)])) for one in (every, dealt))
    names = ("label_distance", "unseen_classes")
    return {name: max(0.0, one - other) for name, one, other in zip(names, apart, chance, strict=True)}


def _apart(trained: torch.Tensor, validated: torch.Tensor) -> tuple[float, float]:
    most = int(max(trained.max(), validated.max())) + 1
    one, two = (torch.bincount(y, minlength=most).double() / len(y) for y in (trained, validated))
    return float((one - two).abs().sum() / 2), float(two[one == 0].sum())


def _redrawn(first: list[torch.Tensor], second: list[torch.Tensor]) -> float:
    """Share of samples that did not occur the first time, to the bit and in any order."""
    one, two = _each(first), _each(second)
    return (two - one).total() / max(1, two.total())


def _each(tensors: list[torch.Tensor]) -> Counter[bytes]:
    """How often each row of a list of tensors occurs."""
    return Counter(row.tobytes() for x in tensors for row in torch.atleast_1d(x.detach().float().cpu()).numpy())


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on labels more than 30 % apart, a mean 0.3 spreads off, a spread twice or half as large, inputs that change."""
    shown = pick(numbers, "label_distance", "unseen_classes", "mean_shift", "spread_ratio", "redrawn")
    suspects = []
    if numbers.get("label_distance", 0.0) > OTHER_CLASSES:
        text = (
            f"{share(numbers['label_distance'])} of the labels must change until training and validation match "
            "(usually near 0)"
        )
        if numbers["unseen_classes"] > 0.01:
            text += f"; {share(numbers['unseen_classes'])} of the validation labels never occur in training"
        suspects.append(Suspect("data/ordered_split", 0.85, text))
    mean, ratio = numbers.get("mean_shift", 0.0), numbers.get("spread_ratio", 1.0)
    if mean > FAR or not SPREADS[0] < ratio < SPREADS[1]:
        text = (
            f"the mean of validation inputs is {mean:.2g} training spreads off (usually near 0), "
            f"and their spread is {ratio:.2g} times that in training (usually near 1)"
        )
        suspects.append(Suspect("data/wrong_normalisation", 0.8, text))
    if numbers.get("redrawn", 0.0) > 0:
        text = f"{share(numbers['redrawn'])} of the evaluation's inputs change when it runs a second time (usually 0)"
        suspects.append(Suspect("data/augmented_validation", 0.85, text))
    message = suspects[0].reason if suspects else "training and evaluation get the same kind of data"
    return Verdict("validation_shift", bool(suspects), message, shown, tuple(suspects))
