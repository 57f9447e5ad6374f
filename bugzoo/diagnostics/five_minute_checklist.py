"""What becomes of the run with a tenth of the rate, clipped gradients, full precision, two samples, another seed?

Five copies of the script are run, each with one thing changed and nothing else. A run that breaks and does not with a tenth of
the rate went too fast; one that clipping saves as well met a few gradients that were too long; one that full precision saves
left the range of its numbers. Where nothing helps, the cause is none of these. Two samples that are not learnt say that the
step is wrong and not the data. What another seed turns round was chance. A change that leaves every loss as it was changed
nothing: no gradient was that long, nothing ran in half precision, no DataLoader was made.
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
    "tenth_of_the_rate": "a tenth of the rate",
    "clipped": "gradients clipped to 1",
    "full_precision": "full precision",
    "two_samples": "two samples",
    "other_seed": "another seed",
}
SHOWN = {
    "first_loss": ("loss at first", ""),
    "final_loss": ("loss at the end", "far below"),
    "tenth_of_the_rate_final_loss": ("the same with a tenth of the rate", ""),
    "clipped_final_loss": ("the same with gradients clipped to 1", ""),
    "full_precision_final_loss": ("the same with full precision", ""),
    "two_samples_final_loss": ("the same with two samples", ""),
    "other_seed_final_loss": ("the same with another seed", ""),
}
HEALTHY = example()
SICK = example(("torch.optim.Adam(model.parameters(), lr=1e-2)", "torch.optim.SGD(model.parameters(), lr=20.0)"))
STEPS = 20
BROKEN, LEARNT, BETTER = 1.0, 0.7, 0.6
"""Parts of the first loss: a run that ends above the first is broken, one below the second has learnt; an experiment helps
that ends below the third part of where the run itself ended."""


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
    """Median of the last tenth; inf where one of these is no number any more."""
    last = losses[-max(1, len(losses) // 10) :]
    return float(np.median(last)) if np.isfinite(last).all() else math.inf


def _helps(numbers: dict[str, Any], name: str) -> bool:
    end, first = numbers[f"{name}_final_loss"], numbers["first_loss"]
    if not numbers[f"{name}_ran"] or numbers[f"{name}_same"] or not math.isfinite(end):
        return False
    return end < BETTER * numbers["final_loss"] and end < BROKEN * abs(first)


def _showed(numbers: dict[str, Any]) -> str:
    """A sentence for all experiments."""
    told = []
    for name, said in _SAID.items():
        end = numbers[f"{name}_final_loss"]
        if not numbers[f"{name}_ran"]:
            told.append(f"{said}: did not come to its end")
        elif numbers[f"{name}_same"]:
            told.append(f"{said}: the very same run")
        else:
            told.append(f"{said}: {end:.3g}" if math.isfinite(end) else f"{said}: no number any more")
    return "; ".join(told)


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when a run that broke or learnt nothing is far better with one thing changed."""
    shown = pick(numbers, *SHOWN)
    first, final = numbers["first_loss"], numbers["final_loss"]
    ended = f"{final:.3g}" if math.isfinite(final) else "no number any more"
    text = f"the loss went from {first:.3g} to {ended}; {_showed(numbers)}"
    if first > 0 and final < LEARNT * first:
        return Verdict("five_minute_checklist", False, text, shown)
    rate, clip, full = (_helps(numbers, name) for name in ("tenth_of_the_rate", "clipped", "full_precision"))
    suspects = []
    if full:
        suspects.append(Suspect("precision/no_grad_scaler", 0.7, f"full precision mends it: {text}"))
    if rate:
        suspects.append(Suspect("optimizer/lr_too_high", 0.5 if full else 0.7, f"a tenth of the rate mends it: {text}"))
    if clip:
        suspects.append(Suspect("clipping/clipping_missing", 0.5, f"clipping mends it: {text}"))
    message = suspects[0].evidence if suspects else text
    return Verdict("five_minute_checklist", bool(suspects), message, shown, tuple(suspects))
