"""Which one change helps: lower learning rate, clipping, full precision, two samples, another seed?

Five copies of the script are run, each with one change. A run that breaks, but not with a tenth of the learning rate, went too
fast. If clipping helps as well, a few gradients were too long. If full precision helps, the run left the range of its dtype. If
nothing helps, the cause is another one. If two samples are not learned, the training step is wrong, not the data. A difference
that another seed reverses was chance. A change that leaves every loss as it was had no effect: no gradient was longer than 1,
nothing ran in half precision, or there is no DataLoader.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.experiments import NAMES
from bugzoo.rerun.script import experimented, job_of
from bugzoo.running.job import Job
from bugzoo.running.result import Run

COST = 0
RERUNS = 5
_SAID = {
    "tenth_of_the_rate": "a tenth of the learning rate",
    "clipped": "gradients clipped to 1",
    "full_precision": "full precision",
    "two_samples": "two samples",
    "other_seed": "another seed",
}
SHOWN = {
    "first_loss": ("loss of the first step", ""),
    "final_loss": ("loss at the end", "far below the first"),
    "tenth_of_the_rate_final_loss": ("final loss with a tenth of the learning rate", ""),
    "clipped_final_loss": ("final loss with gradients clipped to 1", ""),
    "full_precision_final_loss": ("final loss with full precision", ""),
    "two_samples_final_loss": ("final loss with two samples", ""),
    "other_seed_final_loss": ("final loss with another seed", ""),
}
KNOWN_PROBLEMS = (
    "A false positive for a loss that is negative from the start, such as a Wasserstein loss, because it compares ratios of "
    "losses. "
    "It misses any run whose final loss is below 70 % of the first one, however early that run plateaus."
)
HEALTHY = example()
SICK = example(("torch.optim.Adam(model.parameters(), lr=1e-2)", "torch.optim.SGD(model.parameters(), lr=20.0)"))
STEPS = 20
BROKEN, LEARNT, BETTER = 1.0, 0.7, 0.6
"""Shares of the first loss: a run that ends above `BROKEN` is broken, one that ends below `LEARNT` has learned. A change helps if
it ends below `BETTER` times the final loss of the run itself."""


def again(job: Job) -> tuple[Run, ...]:
    """A run of each changed copy, in the order of NAMES. Raises NotApplicable."""
    return experimented(job)


def measure(run: Run, *more: Run) -> dict[str, Any]:
    """Final losses (nats, or squared units), and whether a change left all losses as they were. Raises NotApplicable."""
    need_steps(run, STEPS)
    more = more or again(job_of(run, "to run changed copies of it"))
    losses = column(run.trace.loss)
    finite = losses[np.isfinite(losses)]
    if not len(finite):
        raise NotApplicable("no loss of the run was finite")
    found = {"first_loss": float(finite[0]), "final_loss": _end(losses), "steps": float(len(losses))}
    for name, one in zip(NAMES, more, strict=True):
        other = column(one.trace.loss)
        ran = len(other) >= len(losses) // 2 and one.outcome in ("finished", "non_finite")
        found[f"{name}_ran"] = float(ran)
        found[f"{name}_first_loss"] = float(other[0]) if ran else math.nan
        found[f"{name}_final_loss"] = _end(other) if ran else math.nan
        found[f"{name}_same"] = float(np.array_equal(losses, other, equal_nan=True))
    return found


def _end(losses: np.ndarray) -> float:
    """Median of the last tenth of the losses; inf if one of these is not finite."""
    last = losses[-max(1, len(losses) // 10) :]
    return float(np.median(last)) if np.isfinite(last).all() else math.inf


def _helps(numbers: dict[str, Any], name: str) -> bool:
    end, first = numbers[f"{name}_final_loss"], numbers["first_loss"]
    if not numbers[f"{name}_ran"] or numbers[f"{name}_same"] or not math.isfinite(end):
        return False
    return end < BETTER * numbers["final_loss"] and end < BROKEN * abs(first)


def _showed(numbers: dict[str, Any]) -> str:
    """One sentence about all changes."""
    told = []
    for name, said in _SAID.items():
        end = numbers[f"{name}_final_loss"]
        if not numbers[f"{name}_ran"]:
            told.append(f"{said}: did not finish")
        elif numbers[f"{name}_same"]:
            told.append(f"{said}: the same losses")
        else:
            told.append(f"{said}: {end:.3g}" if math.isfinite(end) else f"{said}: NaN or infinity")
    return "; ".join(told)


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires if a run that broke or learned nothing is far better with one change."""
    shown = pick(numbers, *SHOWN)
    first, final = numbers["first_loss"], numbers["final_loss"]
    ended = f"{final:.3g}" if math.isfinite(final) else "NaN or infinity"
    text = f"the loss goes from {first:.3g} to {ended}; final losses after one change: {_showed(numbers)}"
    if first > 0 and final < LEARNT * first:
        return Verdict("five_minute_checklist", False, text, shown)
    rate, clip, full = (_helps(numbers, name) for name in ("tenth_of_the_rate", "clipped", "full_precision"))
    suspects = []
    if full:
        suspects.append(Suspect("precision/no_grad_scaler", 0.7, f"full precision helps: {text}"))
    if rate:
        suspects.append(
            Suspect("optimizer/lr_too_high", 0.5 if full else 0.7, f"a tenth of the learning rate helps: {text}")
        )
    if clip:
        suspects.append(Suspect("clipping/clipping_missing", 0.5, f"clipping helps: {text}"))
    message = suspects[0].reason if suspects else text
    return Verdict("five_minute_checklist", bool(suspects), message, shown, tuple(suspects))
