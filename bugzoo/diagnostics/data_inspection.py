"""What do the inputs and labels look like, and do the labels belong to the inputs?

Shapes, dtypes, ranges and label counts of the kept batches are listed. `neighbour_agreement` is the share of similar samples that
have the same label, and `chance_agreement` the same with shuffled labels. Images and tables are far above chance. Agreement at
chance, with a loss that does not fall below the labels' entropy: the labels belong to other samples. Texts and parity-like tasks
agree weakly by nature, so agreement alone raises no alarm.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import Call
from bugzoo.diagnostics._tools import batches, column, share
from bugzoo.diagnostics.conditions import Alarm, Condition, above, below, measured
from bugzoo.diagnostics.numbers import ANY, FLAG, OWN, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 1
VIEW = "batch"
TITLE = "Inputs and labels"
KNOWN_PROBLEMS = (
    "A false positive for inputs below 0.1 in their own units, and for parity-like labels while the model has not learned "
    "them yet. "
    "It misses wrong labels that the model memorizes, and never compares the labels of token inputs, regression targets or "
    "fewer than 64 samples."
)
HEALTHY = example()
SICK = example(("for epoch", "targets = targets[torch.randperm(256)]\nfor epoch"))
NEIGHBOURS, SHUFFLES, LEAST = 5, 30, 64
TINY = 0.1
"""All inputs are smaller than this if they were scaled twice. Scaled once, they reach about 1."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Inputs in their own units, losses and entropy in nats, shares between 0 and 1."""

    samples: float = number("samples in all kept batches")
    max: float | None = optional("largest input value in all kept batches", (0.1, ANY))
    non_finite_share: float = number("share of input values that are not finite", (0, 0))
    label_entropy: float | None = optional("entropy of the labels in all kept batches (nats)")
    neighbour_agreement: float | None = optional("share of near neighbors with one label", "well above chance")
    chance_agreement: float | None = optional("share of near neighbors with one label, by chance")
    agreement_over_chance: float | None = optional("share of near neighbors with one label, above chance", (0.1, 1))
    min: float | None = optional("smallest input value", hidden=OWN)
    mean: float | None = optional(
        "mean of the inputs", hidden="the picture shows the values, and the smallest and the largest stand beside it"
    )
    std: float | None = optional(
        "standard deviation of the inputs",
        "near 1 if they were standardized",
        hidden="the picture shows the values, and the smallest and the largest stand beside it",
    )
    classes: float | None = optional("classes among the labels", hidden=OWN)
    outer_broadcast: float = number(view="outputs", hidden=FLAG)
    shape: list[int]
    dtype: str
    final_loss: float = number(hidden="the view of the loss has it")
    early_loss: float
    mask_stretched: float
    commonest_token_share: float | None = None
    majority_share: float | None = None
    agreement_sigmas: float | None = None


def _near_entropy(numbers: Measured | Mapping[str, Any]) -> bool:
    """Return whether the loss stays near the labels' entropy."""
    entropy = numbers["label_entropy"]
    return numbers["early_loss"] > 0.9 * entropy and numbers["final_loss"] > 0.6 * entropy


non_finite = Alarm(
    above("non_finite_share") | ~measured("non_finite_share"),
    "The batches were inspected. {non_finite_share:.2%} of the inputs are NaN or infinite.",
    "All of them should be finite ({limits[non_finite_share]:.0%}).",
)
many_targets = Alarm(
    above("outer_broadcast"),
    "The shapes in the loss were compared. The loss compares each output with more than 1 target.",
    "Each output should be compared with 1 target.",
)
repeated_losses = Alarm(
    above("mask_stretched"),
    "The shapes in the loss were compared. Each loss counts more than 1 time.",
    "Each loss should count 1 time.",
)
by_chance = Alarm(
    below("agreement_sigmas", 3)
    & below("agreement_over_chance", 0.06)
    & above("label_entropy", 0.3)
    & Condition(_near_entropy, {}),
    "The labels of similar examples were compared. {neighbour_agreement:.0%} of near neighbors share their target "
    "({chance_agreement:.0%} by chance), and the loss ends at {final_loss:.3g}.",
    "More neighbors should share it, or the loss should end lower.",
)
tiny = Alarm(
    (above("max") | below("min", 0)) & above("min", -TINY) & below("max", TINY),
    "The batches were inspected. The inputs lie between {min:.3g} and {max:.3g}.",
    "Inputs should reach at least {limits[max]:g}.",
)
ALARMS = (non_finite, many_targets, repeated_losses, tiny, by_chance)


def _table(run: Run) -> tuple[torch.Tensor, torch.Tensor | None]:
    """(samples, ...) inputs and (samples,) or (samples, ...) targets of all kept batches whose shapes agree."""
    inputs, targets = [], []
    for batch in batches(run):
        arguments = Call.of(batch)
        main = arguments.main()
        if main is None:
            continue
        x = arguments.leaves[main].detach().cpu()
        if inputs and x.shape[1:] != inputs[0].shape[1:]:
            continue
        inputs.append(x)
        y = batch.targets
        targets.append(y.detach().cpu() if y is not None and y.ndim and y.shape[0] == x.shape[0] else None)
    if not inputs:
        raise NotApplicable("the model was called with no tensor of tokens or numbers")
    one_shape = all(y is not None and y.shape[1:] == targets[0].shape[1:] for y in targets)
    return torch.cat(inputs), torch.cat(targets) if one_shape else None


def _as_classes(y: torch.Tensor) -> torch.Tensor | None:
    """(samples,) classes 0 and 1 of float targets as a binary cross-entropy takes them; None for any other numbers."""
    flat = y.flatten() if y.ndim == 2 and y.shape[1] == 1 else y
    return flat.long() if flat.ndim == 1 and bool(((flat == 0) | (flat == 1)).all()) else None


def agreement(x: torch.Tensor, labels: torch.Tensor) -> tuple[float, float, float]:
    """(share of neighbors with the same label, the same under shuffled labels, its standard deviation).

    x: (samples, features). Exact copies of a sample do not count as neighbors: they agree anyway.
    """
    x = x.double()
    x = (x - x.mean(0)) / (x.std(0) + 1e-6 + 0.05 * x.std())
    distance = torch.cdist(x, x)
    distance[distance < 1e-5] = math.inf
    near = distance.topk(min(NEIGHBOURS, len(x) - 1), largest=False).indices
    agreeing = float((labels[near] == labels[:, None]).float().mean())
    generator = torch.Generator().manual_seed(0)
    by_chance = []
    for _ in range(SHUFFLES):
        mixed = labels[torch.randperm(len(labels), generator=generator)]
        by_chance.append(float((mixed[near] == mixed[:, None]).float().mean()))
    chance = torch.tensor(by_chance)
    return agreeing, float(chance.mean()), float(chance.std()) + 1e-9


def _losses(run: Run) -> tuple[float, float]:
    """Mean losses of the last tenth of the steps and of the second eighth; NaN without a loss."""
    losses = column(run.trace.loss)
    losses = torch.as_tensor(losses[losses == losses])
    if not len(losses):
        return math.nan, math.nan
    early = losses[: max(3, len(losses) // 4)]
    return float(losses[-max(3, len(losses) // 10) :].mean()), float(early[len(early) // 2 :].mean())


def measure(run: Run) -> Numbers:
    """Ranges and counts of the model's inputs. Raises NotApplicable if no batch was kept."""
    x, y = _table(run)
    values = x.float()
    final_loss, early_loss = _losses(run)
    numbers = Numbers(
        samples=float(len(x)),
        shape=list(x.shape[1:]),
        dtype=str(x.dtype).removeprefix("torch."),
        non_finite_share=float((~torch.isfinite(values)).float().mean()),
        final_loss=final_loss,
        early_loss=early_loss,
        outer_broadcast=float(run.trace.graph.outer_broadcast),
        mask_stretched=float(run.trace.graph.mask_stretched),
    )
    finite = values[torch.isfinite(values)]
    if finite.numel():
        numbers.min, numbers.max = float(finite.min()), float(finite.max())
        numbers.mean, numbers.std = float(finite.mean()), float(finite.std(correction=0))
    if not x.is_floating_point():
        numbers.commonest_token_share = float((x == x.flatten().mode().values).float().mean())
    if y is not None and y.is_floating_point():
        y = _as_classes(y)
    if y is None or y.ndim != 1:
        return numbers
    counts = torch.bincount(y.long().clamp(min=0))
    shares = counts[counts > 0].double() / counts.sum()
    numbers.classes, numbers.majority_share = float((counts > 0).sum()), float(shares.max())
    numbers.label_entropy = float(-(shares * shares.log()).sum())
    if len(x) >= LEAST and x.is_floating_point() and numbers.classes >= 2 and not numbers.non_finite_share:
        near, chance, spread = agreement(values.flatten(1), y)
        numbers.neighbour_agreement, numbers.chance_agreement = near, chance
        numbers.agreement_over_chance = near - chance
        numbers.agreement_sigmas = (near - chance) / spread
    return numbers


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on NaN or tiny inputs, on broadcast targets or masks, and on labels at chance that the loss does not beat."""
    text = f"{numbers.samples:.0f} samples of shape {tuple(numbers.shape)}, {numbers.dtype}"
    if numbers.min is not None and numbers.max is not None:
        text += f", values {numbers.min:.3g} .. {numbers.max:.3g}"
    suspects: tuple[Suspect, ...] = ()
    if non_finite(numbers):
        text += f"; {share(numbers.non_finite_share)} of the inputs are NaN or infinite"
        text += f" (usually {Numbers.usual('non_finite_share')})"
        suspects = (Suspect("numerics/nan_in_data", 0.9, text),)
    elif many_targets(numbers):
        text += ". Outputs (N, 1) and targets (N,) broadcast to (N, N): every output is compared with every target"
        suspects = (Suspect("loss/target_column_broadcast", 0.9, text),)
    elif repeated_losses(numbers):
        text += ". A mask or weights and the losses, of shapes (N,) and (N, 1), broadcast to (N, N): each loss counts with all"
        suspects = (Suspect("loss/mask_broadcast", 0.85, text),)
    elif numbers.dtype.startswith(("float", "bfloat")) and tiny(numbers):
        text += f". No input is larger than {TINY:g} (scaled once they reach about 1): they were scaled twice"
        suspects = (Suspect("data/double_scaling", 0.7, text),)
    elif numbers.neighbour_agreement is not None:
        near, chance = numbers.neighbour_agreement, numbers.chance_agreement or 0.0
        text += f". {share(near)} of near neighbors share a label ({share(chance)} by chance)"
        if by_chance(numbers):
            text += f", and the loss ({numbers.final_loss:.3g}) does not fall below the labels' entropy"
            text += f" ({numbers.label_entropy:.3g})"
            suspects = (Suspect("data/labels_out_of_sync", 0.8, text),)
    return Verdict("data_inspection", bool(suspects), text, numbers.labeled(), suspects)
