"""Which one change helps: lower learning rate, clipping, full precision, two samples, another seed?

Five copies of the script are run, each with one change. A run that breaks, but not with a tenth of the learning rate, went too
fast. If clipping helps as well, a few gradients were too long. If full precision helps, the run left the range of its dtype. If
nothing helps, the cause is another one. If two samples are not learned, the training step is wrong, not the data. A difference
that another seed reverses was chance. A change that leaves every loss as it was had no effect: no gradient was longer than 1,
nothing ran in half precision, or there is no DataLoader.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.conditions import Alarm, Condition
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.experiments import NAMES
from bugzoo.rerun.script import experimented, job_of
from bugzoo.running.job import Job
from bugzoo.running.result import Run

COST = 0
TITLE = "Runs with one change"
RERUNS = 5
_CHANGES = {
    "tenth_of_the_rate": "a tenth of the learning rate",
    "clipped": "gradients clipped to 1",
    "full_precision": "full precision",
    "two_samples": "two samples",
    "other_seed": "another seed",
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


@dataclass(kw_only=True)
class Numbers(Measured):
    """Losses, inf where one is not finite and NaN for a copy that did not run; `_ran` and `_same` are 0 or 1."""

    first_loss: float = number("loss of the first step")
    final_loss: float = number("loss at the end", "far below the first")
    tenth_of_the_rate_final_loss: float = number("final loss with a tenth of the learning rate")
    clipped_final_loss: float = number("final loss with gradients clipped to 1")
    full_precision_final_loss: float = number("final loss with full precision")
    two_samples_final_loss: float = number("final loss with two samples")
    other_seed_final_loss: float = number("final loss with another seed")
    steps: float
    tenth_of_the_rate_ran: float
    tenth_of_the_rate_first_loss: float
    tenth_of_the_rate_same: float
    clipped_ran: float
    clipped_first_loss: float
    clipped_same: float
    full_precision_ran: float
    full_precision_first_loss: float
    full_precision_same: float
    two_samples_ran: float
    two_samples_first_loss: float
    two_samples_same: float
    other_seed_ran: float
    other_seed_first_loss: float
    other_seed_same: float


def _copy(numbers: Measured | Mapping[str, Any], change: str) -> tuple[float, float, float]:
    """(did the copy with this change run? 0/1, are all its losses the same? 0/1, its final loss)."""
    return numbers[f"{change}_ran"], numbers[f"{change}_same"], numbers[f"{change}_final_loss"]


def _helps(change: str) -> Condition:
    """Return a condition: the copy with this change ends far lower than the run itself."""

    def far_lower(numbers: Measured | Mapping[str, Any]) -> bool:
        ran, same, end = _copy(numbers, change)
        if not ran or same or not math.isfinite(end):
            return False
        return end < BETTER * numbers["final_loss"] and end < BROKEN * abs(numbers["first_loss"])

    return Condition(far_lower, {f"{change}_final_loss": BETTER})


rate_helps, clipping_helps, precision_helps = map(_helps, ("tenth_of_the_rate", "clipped", "full_precision"))
high_loss = Condition(
    lambda numbers: not (numbers["first_loss"] > 0 and numbers["final_loss"] < LEARNT * numbers["first_loss"]),
    {"final_loss": LEARNT},
)
helped = Alarm(
    high_loss & (rate_helps | clipping_helps | precision_helps),
    "The script ran again with one change at a time. As it is, its loss goes from {first_loss:.3g} to "
    "{final_loss:.3g}.",
    "At most {limits[final_loss]:.1f} times the first loss passes.",
)
ALARMS = (helped,)


def again(job: Job) -> tuple[Run, ...]:
    """A run of each changed copy, in the order of NAMES. Raises NotApplicable."""
    return experimented(job)


def measure(run: Run, *more: Run) -> Numbers:
    """Final losses (nats, or squared units), and whether a change left all losses as they were. Raises NotApplicable."""
    need_steps(run, STEPS)
    more = more or again(job_of(run, "to run changed copies of it"))
    losses = column(run.trace.loss)
    finite = losses[np.isfinite(losses)]
    if not len(finite):
        raise NotApplicable("no loss of the run was finite")
    numbers = {"first_loss": float(finite[0]), "final_loss": _end(losses), "steps": float(len(losses))}
    for name, copy in zip(NAMES, more, strict=True):
        other = column(copy.trace.loss)
        ran = len(other) >= len(losses) // 2 and copy.outcome in ("finished", "non_finite")
        numbers[f"{name}_ran"] = float(ran)
        numbers[f"{name}_first_loss"] = float(other[0]) if ran else math.nan
        numbers[f"{name}_final_loss"] = _end(other) if ran else math.nan
        numbers[f"{name}_same"] = float(np.array_equal(losses, other, equal_nan=True))
    return Numbers.from_mapping(numbers)


def _end(losses: np.ndarray) -> float:
    """Median of the last tenth of the losses; inf if one of these is not finite."""
    last = losses[-max(1, len(losses) // 10) :]
    return float(np.median(last)) if np.isfinite(last).all() else math.inf


def _showed(numbers: Numbers) -> str:
    """One sentence about all changes."""
    parts = []
    for change, words in _CHANGES.items():
        ran, same, end = _copy(numbers, change)
        loss = f"{end:.3g}" if math.isfinite(end) else "NaN or infinity"
        parts.append(f"{words}: {'did not finish' if not ran else 'the same losses' if same else loss}")
    return "; ".join(parts)


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if a run that broke or learned nothing is far better with one change."""
    first, final = numbers.first_loss, numbers.final_loss
    ended = f"{final:.3g}" if math.isfinite(final) else "NaN or infinity"
    text = f"the loss goes from {first:.3g} to {ended}; final losses after one change: {_showed(numbers)}"
    suspects: list[Suspect] = []
    if helped(numbers):
        if precision_helps(numbers):
            suspects.append(Suspect("precision/no_grad_scaler", 0.7, f"full precision helps: {text}"))
        if rate_helps(numbers):
            reason = f"a tenth of the learning rate helps: {text}"
            suspects.append(Suspect("optimizer/lr_too_high", 0.5 if precision_helps(numbers) else 0.7, reason))
        if clipping_helps(numbers):
            suspects.append(Suspect("clipping/clipping_missing", 0.5, f"clipping helps: {text}"))
    message = suspects[0].reason if suspects else text
    return Verdict("five_minute_checklist", bool(suspects), message, numbers.labeled(), tuple(suspects))
