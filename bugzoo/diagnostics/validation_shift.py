"""Do the validation inputs and labels have the same distribution as the training data?

Three things are compared between training and the script's evaluation. Classes: only one of them has some (a split without a
shuffle). Mean and spread of the inputs: they differ (preprocessing that one of them lacks). Repetition: the evaluation's inputs
change when it runs again on the same targets (augmentation left on). Where the script evaluates at several places, the
inputs that are furthest from training count.
"""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._data import rows, training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import Call
from bugzoo.diagnostics._tools import batches, model_of, share
from bugzoo.diagnostics.conditions import Alarm, Condition, above, below
from bugzoo.diagnostics.numbers import Measured, judges, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.model import live, tensors
from bugzoo.running.result import Run

COST = 1
VIEW = "evaluation"
TITLE = "Validation data"
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
SPREADS, LEAST = (0.5, 2.0), 1e-6
ROWS, VERY_FAR, OFF = 16, 1.0, 4.0
"""For inputs that were only seen: fewest samples, smallest mean shift in spreads, smallest ratio of the spreads."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Shares between 0 and 1, a shift in training deviations, and a ratio; None where nothing can be compared."""

    label_distance: float | None = optional("share of labels to change until both sets match", (0, 0.25))
    unseen_classes: float | None = optional("share of validation labels not in training", (0, 0.05))
    mean_shift: float | None = optional("shift of the mean input, in training deviations", (0, 0.3))
    spread_ratio: float | None = optional("deviation of validation inputs over training inputs", (0.5, 2))
    redrawn: float | None = optional("share of inputs that change when it runs again", (0, 0))


other_labels = Alarm(
    above("label_distance", 0.3),
    "The labels of training and validation data were counted. {label_distance:.0%} must change until both match.",
    "At most {limits[label_distance]:.0%} passes; {usual[label_distance]} is usual.",
)
redrawn = Alarm(
    above("redrawn"),
    "The evaluation ran 2 times. {redrawn:.0%} of its inputs changed.",
    "Its inputs should not change ({limits[redrawn]:.0%}).",
)
# NaN, the spread of inputs with NaN, is an alarm; None, where nothing was compared, is not
_compared = Condition(lambda numbers: dict(numbers).get("spread_ratio") is not None, {})
_usual_spread = above("spread_ratio", SPREADS[0]) & below("spread_ratio", SPREADS[1])
shifted_inputs = Alarm(
    above("mean_shift", 0.3) | (_compared & ~_usual_spread),
    "Training and validation inputs were compared. The means are {mean_shift:.2g} training spreads apart, and the "
    "spread is {spread_ratio:.2g} times as large.",
    f"Up to {{limits[mean_shift]:g}} spreads and {SPREADS[0]:g} to {SPREADS[1]:g} times pass.",
)
ALARMS = (other_labels, redrawn, shifted_inputs)


def measure(run: Run) -> Numbers:
    """Differences of labels and inputs; absent where there is nothing to compare. Raises NotApplicable."""
    train_batches = batches(run)
    trained_on, shifts = _floats(train_batches), _far_shifts(run, train_batches)
    numbers = Numbers()
    numbers.mean_shift, numbers.spread_ratio = _furthest(shifts)
    try:
        evaluation = evaluated(run)
    except NotApplicable:
        if not shifts:
            raise
        return numbers
    if evaluation.classifies and all(y.ndim == 1 for _, y in evaluation.pairs):
        validated = torch.cat([y.long().cpu() for _, y in evaluation.pairs])
        trained = _labels(run, train_batches)
        trained = trained[trained != evaluation.ignored]
        if len(trained) and len(validated):
            numbers.label_distance, numbers.unseen_classes = _label_distance(trained, validated)
    if trained_on:
        shape = trained_on[0].shape[1:]
        shift = _shift(trained_on, [x for x in evaluation.inputs if x.is_floating_point() and x.shape[1:] == shape])
        numbers.mean_shift, numbers.spread_ratio = _furthest([*shifts, *shift])
    # random windows of a text are not augmentation, nor is the input noise of a generator
    if any(x.is_floating_point() for x in evaluation.inputs) and (evaluation.pairs or evaluation.loaders):
        second = evaluated(run, again=True)
        if _each([y for _, y in evaluation.pairs]) == _each([y for _, y in second.pairs]):
            numbers.redrawn = _redrawn(evaluation.inputs, second.inputs)
    if not numbers.measured():
        raise NotApplicable("the evaluation has neither class labels nor inputs to compare")
    return numbers


def _floats(train_batches: list[Any]) -> list[torch.Tensor]:
    """The main inputs of the kept batches, those that are not tokens."""
    inputs = [Call.of(batch).leaves[main] for batch in train_batches if (main := Call.of(batch).main()) is not None]
    return [x for x in inputs if x.is_floating_point()]


def _far_shifts(run: Run, train_batches: list[Any]) -> list[tuple[float, float]]:
    """How far off the inputs are that the trained model got without gradients while the script ran, by place.

    Only a place that is far off counts: a playing agent, or a grid for a plot, need not look like the training data.
    """
    trained, model = _floats(train_batches), model_of(run, train_batches[0])
    shifts = []
    for evaluation in live(run).evaluations:
        inputs = [x for x in tensors(evaluation.args)[:1] if x.is_floating_point()]
        if (
            evaluation.module is model
            and inputs
            and len(inputs[0]) >= ROWS
            and trained
            and inputs[0].shape[1:] == trained[0].shape[1:]
        ):
            shifts += _shift(trained, inputs)
    return [(mean, ratio) for mean, ratio in shifts if mean > VERY_FAR or not 1 / OFF < ratio < OFF]


def _shift(trained: list[torch.Tensor], validated: list[torch.Tensor]) -> list[tuple[float, float]]:
    """[(distance of the means over the training spread, ratio of the spreads)]; [] if nothing can be compared."""
    if not validated:
        return []
    one, two = (torch.cat([x.detach().float().cpu().flatten() for x in inputs]) for inputs in (trained, validated))
    spread = float(one.std(correction=0))
    if spread <= LEAST * float(one.abs().max()):  # a single point, such as a boundary, has no spread to compare with
        return []
    return [(abs(float(two.mean() - one.mean())) / spread, float(two.std()) / spread)]


def _furthest(shifts: list[tuple[float, float]]) -> tuple[float, float] | tuple[None, None]:
    """The shift with the largest difference, of the means or of the spreads; (None, None) without any."""
    return max(shifts, key=lambda shift: max(shift[0], abs(math.log(shift[1] + 1e-9))), default=(None, None))


def _labels(run: Run, train_batches: list[Any]) -> torch.Tensor:
    """All labels of the loader that training reads, else those of the kept batches."""
    loader = training_loader(run)
    if loader is not None:
        try:
            return torch.tensor(rows(loader.dataset)[1]).long()
        except NotApplicable:
            pass
    labels = [b.targets.cpu() for b in train_batches if b.targets is not None and b.targets.ndim == 1]
    return torch.cat(labels).long() if labels else torch.empty(0).long()


def _label_distance(trained: torch.Tensor, validated: torch.Tensor) -> tuple[float, float]:
    """Half the sum of the differences of class shares (total variation), and the share of labels of new classes.

    A random split of the same labels gives the values by chance, which are subtracted. Few samples of many rare classes,
    such as the words of a text, never match.
    """
    every = torch.cat([trained, validated]).clamp(min=0)
    dealt = every[torch.randperm(len(every), generator=torch.Generator().manual_seed(0))]
    distances, chance = (_distances(*y.split([len(trained), len(validated)])) for y in (every, dealt))
    return max(0.0, distances[0] - chance[0]), max(0.0, distances[1] - chance[1])


def _distances(trained: torch.Tensor, validated: torch.Tensor) -> tuple[float, float]:
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


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on labels more than 30 % apart, a mean 0.3 spreads off, a spread twice or half as large, inputs that change."""
    suspects = []
    unseen = numbers.unseen_classes or 0.0
    if other_labels(numbers):
        text = f"{share(numbers.label_distance or 0.0)} of the labels must change until training and validation match"
        text += f" (usually {Numbers.usual('label_distance')})"
        if unseen > 0.01:
            text += f"; {share(unseen)} of the validation labels never occur in training"
        suspects.append(Suspect("data/ordered_split", 0.85, text))
    mean, ratio = numbers.mean_shift or 0.0, 1.0 if numbers.spread_ratio is None else numbers.spread_ratio
    if shifted_inputs(numbers):
        text = (
            f"the mean of validation inputs is {mean:.2g} training spreads off "
            f"(usually {Numbers.usual('mean_shift')}), and their spread is {ratio:.2g} times that in training "
            f"(usually {Numbers.usual('spread_ratio')})"
        )
        suspects.append(Suspect("data/wrong_normalisation", 0.8, text))
    if redrawn(numbers):
        text = f"{share(numbers.redrawn or 0.0)} of the evaluation's inputs change when it runs a second time"
        text += f" (usually {Numbers.usual('redrawn')})"
        suspects.append(Suspect("data/augmented_validation", 0.85, text))
    message = suspects[0].reason if suspects else "training and evaluation get the same kind of data"
    return Verdict("validation_shift", bool(suspects), message, numbers.labeled(), tuple(suspects))
