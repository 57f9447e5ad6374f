"""Can the program's own step learn four batches by heart together, where it can learn one alone?

The training loop's body is run again on four batches in turn, up to seventy times each, from the weights that the training
began with; and on the first of them alone, as often as it came round. `overfit_one_batch` begins the random numbers anew
at each repetition and never sees a second batch. Here they go on: what the step draws besides its batch is another one at
each visit. Where both curves fall, the step is right, and what goes wrong is in the rest of the data. Where the one falls and
the other stands still, look at what differs from visit to visit, labels first. Where both stand still, see
`overfit_one_batch`.

Measured on its own small script, over the first loss: healthy 0.09 together; labels shuffled within the step 0.95 together, while
one batch, alone and in `overfit_one_batch`, comes below 0.3. Labels that are wrong in the same way at each visit (0.27), a
zero_grad that is missing (Adam 0.30, SGD 0.05) are learnt by heart as they are there: no more is seen of them here. Healthy `mlp`
comes to 0.12, `digits_cnn` to 0.22, `regression_mlp` to 0.26. It accuses nobody: noise on the targets may be meant.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, column, interleaved, live, model_of, pick
from bugzoo.diagnostics.verdict import NotApplicable, Verdict
from bugzoo.errors import UserError
from bugzoo.running.result import Run

COST = 1
TRAINS = True
ACCUSES = False
SHOWN = {
    "batches": ("batches that took turns", ""),
    "together": ("lowest mean loss of them, over the first", "below 0.5"),
    "alone": ("the same of one batch as often as it came round", "below 0.5"),
    "passes": ("turns", ""),
}
HEALTHY = example()
SICK = example(("targets[rows])", "targets[rows][torch.randperm(len(rows))])"))
BATCHES, STEPS, SECONDS = 4, 280, 4.0
ENOUGH = 0.1
"""Part of the first loss at which the question is answered."""
LEAST = 20
"""Turns below which nothing is said of a loss that is still high."""
ALONE, STILL, FLAT = 0.5, 0.8, 0.05
"""Parts of the first loss: one batch is learnt below the first, together they are not above the second; who falls by less
than the third in the last third of the turns stands still."""


def measure(run: Run) -> dict[str, Any]:
    """Means of each turn, and what one batch alone came to. Raises NotApplicable."""
    kept = live(run)
    if kept.by_heart is None:
        raise NotApplicable("needs the live loop; this trace has numbers only")
    if interleaved(run.trace) > 1:
        raise NotApplicable("optimisers take turns: there is no single loss that has to fall")
    batch = batches(run)[0]
    trainable = sum(p.numel() for p in model_of(run, batch).parameters() if p.requires_grad)
    wanted = 0 if batch.targets is None else BATCHES * batch.targets.numel()
    if trainable < wanted:
        raise NotApplicable(f"{trainable} trainable numbers need not be able to learn {wanted} targets by heart")
    try:
        found = kept.by_heart(STEPS, SECONDS, ENOUGH, batches=BATCHES)
        if found.batches < 2:
            raise NotApplicable("no second batch of this run is still held, or all its batches are the same")
        means = _turns(column(found.losses), column(found.rates), found.batches)
        if len(means) < 2:
            raise NotApplicable(f"only {len(found.losses)} steps could be made{found.error and f' ({found.error})'}")
        alone = column(kept.by_heart(len(means), SECONDS / 2, 0.0).losses)
    except UserError as why:
        raise NotApplicable(str(why)) from None
    if len(alone) < 2 or not means[0] > 0 or not alone[0] > 0:
        raise NotApplicable("the loss does not begin at a positive number, so that a part of it says nothing")
    early = means[: max(1, len(means) * 2 // 3)]
    return {
        "batches": float(found.batches), "passes": float(len(means)), "first_loss": float(means[0]),
        "best_loss": float(means.min()), "together": float(means.min() / means[0]),
        "late_fall": float(early.min() - means.min()) / float(means[0]),
        "alone": float(np.nanmin(alone) / alone[0]), "repetitions": [float(n + 1) for n in range(len(means))],
        "losses": [float(one) for one in means],
    }  # fmt: skip


def _turns(losses: np.ndarray, rates: np.ndarray, size: int) -> np.ndarray:
    """(turns,) mean losses of whole turns until one is not finite, or a schedule has come to its end."""
    over = np.flatnonzero(rates < 0.05 * np.maximum.accumulate(np.nan_to_num(rates)))
    losses = losses[: over[0]] if len(over) else losses
    means = losses[: len(losses) // size * size].reshape(-1, size).mean(1)
    lost = np.flatnonzero(~np.isfinite(means))
    return means[: lost[0]] if len(lost) else means


def judge(numbers: dict[str, Any]) -> Verdict:
    """Never fires; says so where one batch is learnt and several together stand still near their first loss."""
    shown = pick(numbers, "batches", "together", "alone", "passes", "first_loss", "best_loss")
    count, together, alone = numbers["batches"], numbers["together"], numbers["alone"]
    text = f"{count:.0f} batches in turn, {numbers['passes']:.0f} times: loss {numbers['first_loss']:.3g} -> "
    text += f"{numbers['best_loss']:.3g}; one of them alone comes to {alone:.2g} of its first loss"
    flat = numbers.get("late_fall", math.inf) < FLAT
    if numbers["passes"] >= LEAST and alone <= ALONE and together >= STILL and flat:
        text += f", together they stay at {together:.2g}: what is asked for differs from visit to visit, or one undoes another"
    return Verdict("tiny_subset", False, text, shown)
