"""Are the losses that a script keeps those that it trains on, or still multiplied by a scaler's factor?

Under a gradient scaler the loss that backward() starts from is multiplied by its factor, 65536 at first, and whoever writes that
one down plots the factor. Looked at is the script's own list with one number a step: `kept_first` is what it begins with (median
of three), `chance` what guessing costs, `ratio` the one over the other, `scale` the scaler's factor at that time.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, median, need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "kept_first": ("first loss that the script keeps", "that of guessing"),
    "chance": ("loss of guessing (nats)", ""),
    "ratio": ("the one over the other", "about 1"),
    "scale": ("factor on the loss", ""),
}
_KEPT = "loss = scaler.scale(loss)\n        loss.backward()\n        losses.append(loss.item())"
_SCALED = (
    ("for epoch", 'scaler, losses = torch.amp.GradScaler("cpu"), []\nfor epoch'),
    ("optimizer.step()", "scaler.step(optimizer)\n        scaler.update()"),
)
HEALTHY = example(("loss.backward()", "losses.append(loss.item())\n        scaler.scale(loss).backward()"), *_SCALED)
SICK = example(("loss.backward()", _KEPT), *_SCALED)
LARGE, NEAR = 16.0, 2.0
"""A factor that nobody takes for another; times that the first loss may lie beside it, up or down."""


def _kept(names: Mapping[str, Any], steps: int) -> Sequence[float]:
    """The script's list of so many numbers, one that is named after the loss if there is one; empty without any."""
    found = [
        (name, value)
        for name, value in names.items()
        if isinstance(value, list) and len(value) == steps and all(isinstance(one, float) for one in value)
    ]
    return next((value for _, value in sorted(found, key=lambda one: "loss" not in one[0].lower())), [])


def measure(run: Run) -> dict[str, Any]:
    """Losses in nats, and a factor. Raises NotApplicable without a scaler, a cross-entropy or a list of the script's."""
    steps = need_steps(run, 3)
    scale = median(column(run.trace.scale)[:3])
    if not math.isfinite(scale):
        raise NotApplicable("no gradient scaler was seen")
    classes = run.trace.graph.classes or 0
    if classes < 2:
        raise NotApplicable("the loss is no cross-entropy over classes, so there is no ln C to compare with")
    kept = _kept(run.namespace or live(run).namespace, steps)
    if not len(kept):
        raise NotApplicable("the script keeps no list with one number a step")
    first, chance = median(kept[:3]), math.log(classes)
    return {"kept_first": first, "chance": chance, "ratio": first / chance, "scale": scale}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on losses that are about the scaler's factor times what guessing costs."""
    shown = pick(numbers, *SHOWN)
    text = (
        f"the losses that the script keeps begin at {numbers['kept_first']:.3g}, guessing costs {numbers['chance']:.3g}"
    )
    beside = numbers["ratio"] / numbers["scale"] if numbers["scale"] > LARGE else 0.0
    if 1 / NEAR < beside < NEAR:
        text += f": about {numbers['scale']:.3g} times as much, which is the scaler's factor"
        return Verdict("kept_losses", True, text, shown, (Suspect("precision/scaled_loss_logged", 0.85, text),))
    return Verdict("kept_losses", False, text, shown)
