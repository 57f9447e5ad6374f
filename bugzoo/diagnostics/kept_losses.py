"""Do the recorded losses start near the loss of guessing?

Under a GradScaler the loss that backward() starts from is multiplied by the loss scale, 65536 at first. A script that records
that product plots the loss scale. The script's own list with one number per step is read. `kept_first` is its start (median of
three), and `chance` is the loss of guessing. `ratio` is the first over the second, and `scale` is the loss scale at that time.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, median, need_steps
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import TWICE, Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import variables
from bugzoo.running.result import Run

COST = 1
VIEW = "loss_curve"
TITLE = "Recorded losses"
KNOWN_PROBLEMS = (
    "A false positive for few classes where the only list with one number per step holds the loss scale itself. "
    "It sees only a list of Python floats in a variable: not tensors, arrays, epoch means or the values of a logger."
)
_KEPT = "loss = scaler.scale(loss)\n        loss.backward()\n        losses.append(loss.item())"
_SCALED = (
    ("for epoch", 'scaler, losses = torch.amp.GradScaler("cpu"), []\nfor epoch'),
    ("optimizer.step()", "scaler.step(optimizer)\n        scaler.update()"),
)
HEALTHY = example(("loss.backward()", "losses.append(loss.item())\n        scaler.scale(loss).backward()"), *_SCALED)
SICK = example(("loss.backward()", _KEPT), *_SCALED)
LARGE, NEAR = 16.0, 2.0
"""A loss scale above `LARGE` is unmistakable. The first loss may be up to `NEAR` times above or below the expected one."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Losses in nats, and the loss scale at the first steps."""

    ratio: float = number("first loss that the script records, over the loss of guessing", (0.2, 5))
    kept_first: float = number(
        "first loss that the script records",
        "the loss of guessing",
        hidden="the ratio beside it does not depend on the number of classes",
    )
    chance: float = number("loss of guessing, ln C (nats)", hidden=TWICE)
    scale: float = number("loss scale of the GradScaler", hidden=TWICE)


scaled = Alarm(
    above("scale", LARGE) & above("ratio", LARGE / NEAR),
    "The first loss that the script records was compared with the loss of guessing. It is {kept_first:.3g}, "
    "{ratio:.2g} times as much.",
    "About 1 time as much passes.",
)
ALARMS = (scaled,)


def _recorded(names: Mapping[str, object], steps: int) -> Sequence[float]:
    """The script's list of `steps` numbers, preferably one named after the loss; empty without any."""
    lists = [
        (name, value)
        for name, value in names.items()
        if isinstance(value, list) and len(value) == steps and all(isinstance(item, float) for item in value)
    ]
    return next((value for _, value in sorted(lists, key=lambda pair: "loss" not in pair[0].lower())), [])


def measure(run: Run) -> Numbers:
    """Losses in nats, and a loss scale. Raises NotApplicable without a GradScaler, a cross-entropy or a list of losses."""
    steps = need_steps(run, 3)
    scale = median(column(run.trace.scale)[:3])
    if not math.isfinite(scale):
        raise NotApplicable("the script uses no GradScaler")
    classes = run.trace.graph.classes or 0
    if classes < 2:
        raise NotApplicable("the loss is not a cross-entropy over classes, so there is no ln C to compare with")
    losses = _recorded(variables(run), steps)
    if not len(losses):
        raise NotApplicable("the script keeps no list with one number per step")
    first, chance = median(losses[:3]), math.log(classes)
    return Numbers(kept_first=first, chance=chance, ratio=first / chance, scale=scale)


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on losses of about the loss scale times the loss of guessing."""
    text = f"the recorded losses begin at {numbers.kept_first:.3g}, and the loss of guessing is {numbers.chance:.3g}"
    suspects: tuple[Suspect, ...] = ()
    if scaled(numbers) and 1 / NEAR < numbers.ratio / numbers.scale < NEAR:
        text += f": about {numbers.scale:.3g} times as much, which is the loss scale"
        suspects = (Suspect("precision/scaled_loss_logged", 0.85, text),)
    return Verdict("kept_losses", bool(suspects), text, numbers.labeled(), suspects)
