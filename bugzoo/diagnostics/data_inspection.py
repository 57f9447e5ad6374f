"""What do the inputs and labels look like, and do the labels belong to the inputs?

Shapes, dtypes, ranges and label counts of the kept batches are listed. `neighbour_agreement` is the share of similar samples that
have the same label, and `chance_agreement` the same with shuffled labels. Images and tables are far above chance. Agreement at
chance, with a loss that does not fall below the labels' entropy: the labels belong to other samples. Texts and parity-like tasks
agree weakly by nature, so agreement alone raises no alarm.
"""

import math
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import Call
from bugzoo.diagnostics._tools import batches, column, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "samples": ("samples in all kept batches", ""),
    "min": ("smallest input value", ""),
    "max": ("largest input value in all kept batches", "from 0.1"),
    "mean": ("mean of the inputs", ""),
    "std": ("standard deviation of the inputs", "near 1 if they were standardized"),
    "classes": ("classes among the labels", ""),
    "neighbour_agreement": ("share of near neighbors with one label", "well above chance"),
    "chance_agreement": ("share of near neighbors with one label, by chance", ""),
    "label_entropy": ("entropy of the labels in all kept batches (nats)", ""),
}
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
    known = all(y is not None and y.shape[1:] == targets[0].shape[1:] for y in targets)
    return torch.cat(inputs), torch.cat(targets) if known else None


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
    found = float((labels[near] == labels[:, None]).float().mean())
    generator = torch.Generator().manual_seed(0)
    by_chance = []
    for _ in range(SHUFFLES):
        mixed = labels[torch.randperm(len(labels), generator=generator)]
        by_chance.append(float((mixed[near] == mixed[:, None]).float().mean()))
    chance = torch.tensor(by_chance)
    return found, float(chance.mean()), float(chance.std()) + 1e-9


def measure(run: Run) -> dict[str, Any]:
    """Ranges and counts of the model's inputs. Raises NotApplicable if no batch was kept."""
    x, y = _table(run)
    numbers: dict[str, Any] = {
        "samples": float(len(x)),
        "shape": list(x.shape[1:]),
        "dtype": str(x.dtype).removeprefix("torch."),
    }
    values = x.float()
    numbers["non_finite_share"] = float((~torch.isfinite(values)).float().mean())
    finite = values[torch.isfinite(values)]
    if finite.numel():
        numbers |= {
            "min": float(finite.min()),
            "max": float(finite.max()),
            "mean": float(finite.mean()),
            "std": float(finite.std(correction=0)),
        }
    if not x.is_floating_point():
        numbers["commonest_token_share"] = float((x == x.flatten().mode().values).float().mean())
    loss = column(run.trace.loss)
    finite_loss = torch.as_tensor(loss[~(loss != loss)])
    numbers["final_loss"] = (
        float(finite_loss[-max(3, len(finite_loss) // 10) :].mean()) if len(finite_loss) else math.nan
    )
    early = finite_loss[: max(3, len(finite_loss) // 4)]
    numbers["early_loss"] = float(early[len(early) // 2 :].mean()) if len(finite_loss) else math.nan
    numbers["outer_broadcast"] = float(run.trace.graph.outer_broadcast)
    numbers["mask_stretched"] = float(run.trace.graph.mask_stretched)
    if y is not None and y.is_floating_point():
        y = _as_classes(y)
    if y is None or y.ndim != 1:
        return numbers
    counts = torch.bincount(y.long().clamp(min=0))
    shares = counts[counts > 0].double() / counts.sum()
    numbers |= {"classes": float((counts > 0).sum()), "majority_share": float(shares.max()),
                "label_entropy": float(-(shares * shares.log()).sum())}  # fmt: skip
    if len(x) >= LEAST and x.is_floating_point() and numbers["classes"] >= 2 and not numbers["non_finite_share"]:
        found, chance, spread = agreement(values.flatten(1), y)
        numbers |= {
            "neighbour_agreement": found,
            "chance_agreement": chance,
            "agreement_over_chance": found - chance,
            "agreement_sigmas": (found - chance) / spread,
        }
    return numbers


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on NaN or tiny inputs, on broadcast targets or masks, and on labels at chance that the loss does not beat."""
    shown = pick(
        numbers, "samples", "min", "max", "classes", "neighbour_agreement", "agreement_over_chance", "final_loss"
    )
    text = f"{numbers['samples']:.0f} samples of shape {tuple(numbers['shape'])}, {numbers['dtype']}"
    if "min" in numbers:
        text += f", values {numbers['min']:.3g} .. {numbers['max']:.3g}"
    if numbers["non_finite_share"]:
        text += f"; {share(numbers['non_finite_share'])} of the inputs are NaN or infinite (usually 0%)"
        return Verdict("data_inspection", True, text, shown, (Suspect("numerics/nan_in_data", 0.9, text),))
    if numbers.get("outer_broadcast"):
        text += ". Outputs (N, 1) and targets (N,) broadcast to (N, N): every output is compared with every target"
        return Verdict("data_inspection", True, text, shown, (Suspect("loss/target_column_broadcast", 0.9, text),))
    if numbers.get("mask_stretched"):
        text += ". A mask or weights and the losses, of shapes (N,) and (N, 1), broadcast to (N, N): each loss counts with all"
        return Verdict("data_inspection", True, text, shown, (Suspect("loss/mask_broadcast", 0.85, text),))
    largest = max(abs(numbers.get("min", 1.0)), abs(numbers.get("max", 1.0)))
    if numbers["dtype"].startswith(("float", "bfloat")) and 0 < largest < TINY:
        text += f". No input is larger than {TINY:g} (scaled once they reach about 1): they were scaled twice"
        return Verdict("data_inspection", True, text, shown, (Suspect("data/double_scaling", 0.7, text),))
    agreement = numbers.get("neighbour_agreement")
    if agreement is not None:
        text += f". {share(agreement)} of near neighbors share a label ({share(numbers['chance_agreement'])} by chance)"
        chance = numbers["agreement_sigmas"] < 3 and numbers["agreement_over_chance"] < 0.06
        entropy = numbers["label_entropy"]
        untaught = numbers["early_loss"] > 0.9 * entropy and numbers["final_loss"] > 0.6 * entropy
        if chance and untaught and entropy > 0.3:
            text += (
                f", and the loss ({numbers['final_loss']:.3g}) does not fall below the labels' entropy ({entropy:.3g})"
            )
            return Verdict("data_inspection", True, text, shown, (Suspect("data/labels_out_of_sync", 0.8, text),))
    return Verdict("data_inspection", False, text, shown)
