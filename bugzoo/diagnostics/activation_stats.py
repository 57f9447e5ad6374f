"""Are units dead or activations saturated, and does the signal explode or vanish across the layers?

A unit after a ReLU that is 0 for every sample is dead. It adds nothing, and no gradient flows through it to bring it back. A tanh
or sigmoid within 0.03 of its bounds passes hardly any gradient. Both are measured in eval mode on the kept batches. `growth` is
the spread of the last layer's outputs over that of the first layer's, in the first forward pass. Each layer multiplies: after two
layers with weights ten times too large, outputs are a hundred times too large.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, model_of, need_steps, share
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 1
VIEW = "layers"
TITLE = "Outputs of the layers"
KNOWN_PROBLEMS = (
    "A false positive for a confident model that ends in its only sigmoid, where more than 75 % of outputs are near 0 or 1. "
    "It misses dead units of activations other than ReLU, and one saturated layer among many, because all tanh and sigmoid "
    "outputs share one number."
)
HEALTHY = example()
SICK = example(("optimizer = ", "torch.nn.init.constant_(model[0].bias, -20.0)\noptimizer = "))
_LAYERS = ("(Linear)", "(Conv1d)", "(Conv2d)", "(Conv3d)")


@dataclass(kw_only=True)
class Numbers(Measured):
    """Shares between 0 and 1; spreads over that of the first layer."""

    growth: float | None = optional("spread of the last layer over the first, first step", (0.01, 10))
    inner_growth: float | None = optional("spread of the second-last layer over the first, first step", (0.01, 10))
    samples: float = number("samples in the kept batches")
    dead_share: float | None = optional("share of ReLU units that are 0 for every sample", (0, 0.75))
    worst_dead_share: float | None = optional(
        "share of ReLU units that are 0 for every sample, worst module", (0, 0.75)
    )
    saturated_share: float | None = optional("share of tanh and sigmoid outputs at their bounds", (0, 0.5))
    rectifiers: float | None = None


explosion = above("growth", 30)
vanishing = below("growth", 1e-3)

dead = Alarm(
    above("worst_dead_share", 0.9) & above("samples") & ~below("samples", 16),
    "The outputs of each layer were recorded. In one layer {worst_dead_share:.0%} of the units are 0 for every "
    "example.",
    "At most {limits[worst_dead_share]:.0%} passes; {usual[worst_dead_share]} is usual.",
)
"""With fewer samples, a unit that is never above 0 means little."""
saturation = Alarm(
    above("saturated_share", 0.75),
    "The outputs of each layer were recorded. {saturated_share:.0%} of the bounded ones are at their bounds.",
    "At most {limits[saturated_share]:.0%} passes; {usual[saturated_share]} is usual.",
)
inner_explosion = Alarm(
    above("inner_growth", 10),
    "The outputs of the layers were compared at the start. The second-last layer's spread is {inner_growth:.2g} times "
    "the first one's.",
    "Up to {limits[inner_growth]:.0f} times passes.",
)
outer_growth = Alarm(
    explosion | vanishing,
    "The outputs of the layers were compared at the start. The last layer's spread is {growth:.2g} times the first "
    "one's.",
    f"From {vanishing.limits['growth']:.3f} to {explosion.limits['growth']:.0f} times passes.",
)
ALARMS = (dead, saturation, inner_explosion, outer_growth)


class _Activations(TorchDispatchMode):
    """Follows every ReLU, tanh and sigmoid of one forward pass.

    `alive`: for each ReLU, by its place in the pass, (units,) which were above 0 at least once.
    """

    def __init__(self, alive: dict[int, torch.Tensor]) -> None:
        super().__init__()
        self.alive = alive
        self.place = 0
        self.saturated = self.bounded = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = function.__name__.split(".")[0].rstrip("_")
        if name == "relu" and result.ndim >= 2:
            units = 1 if result.ndim >= 4 else result.ndim - 1  # channels of images, else the last axis
            others = tuple(axis for axis in range(result.ndim) if axis != units)
            above = (result > 0).any(dim=others) if others else result > 0
            before = self.alive.get(self.place)
            self.alive[self.place] = above if before is None or before.shape != above.shape else before | above
            self.place += 1
        elif name in ("tanh", "sigmoid") and result.is_floating_point():
            edge = result.abs() > 0.97 if name == "tanh" else (result > 0.97) | (result < 0.03)
            self.saturated += int(edge.sum())
            self.bounded += result.numel()
        return result


def _growth(run: Run) -> tuple[float | None, float | None]:
    """Output spread of the last and of the second-last layer over that of the first layer, at the first step."""
    stats = np.asarray(run.trace.module_stats, dtype=np.float64)
    if stats.ndim != 3 or not len(stats):
        return None, None
    spreads = [stats[0, i, 1] for i, name in enumerate(run.trace.modules) if name.endswith(_LAYERS)]
    spreads = [spread for spread in spreads if math.isfinite(spread)]
    if len(spreads) < 2 or not spreads[0] > 0 or not spreads[-1] > 0:  # one row, or a last layer that begins at zero
        return None, None
    return spreads[-1] / spreads[0], spreads[-2] / spreads[0]


def measure(run: Run) -> Numbers:
    """Shares between 0 and 1, and the growth of the spread. Raises NotApplicable without a batch."""
    need_steps(run, 2)
    examples = batches(run)
    alive: dict[int, torch.Tensor] = {}
    saturated = bounded = samples = 0
    finite = True
    with quiet(model_of(run, examples[-1])) as model:
        for batch in examples:
            with _Activations(alive) as activations:
                out = call(model, batch.args, batch.kwargs)
            saturated, bounded = saturated + activations.saturated, bounded + activations.bounded
            samples, finite = samples + len(out), finite and bool(torch.isfinite(out).all())
    if not finite:
        raise NotApplicable("the model's outputs are not finite, so its units cannot be judged")
    growth, inner_growth = _growth(run)
    numbers = Numbers(growth=growth, inner_growth=inner_growth, samples=float(samples), rectifiers=float(len(alive)))
    if alive:
        units = torch.cat([unit.flatten() for unit in alive.values()])
        numbers.dead_share = float((~units).float().mean())
        numbers.worst_dead_share = max(float((~unit).float().mean()) for unit in alive.values())
    if bounded:
        numbers.saturated_share = saturated / bounded
    return numbers


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if nearly all units of a layer are dead, most values saturated, or the signal explodes or vanishes at the start."""
    worst, saturated = numbers.worst_dead_share or 0.0, numbers.saturated_share or 0.0
    growth = 1.0 if numbers.growth is None else numbers.growth
    inner = 1.0 if numbers.inner_growth is None else numbers.inner_growth
    suspects: tuple[Suspect, ...] = ()
    text = "no layer is dead or saturated, and the signal keeps its size"
    if dead(numbers):
        text = (
            f"{share(worst)} of the worst layer's units are 0 for every sample "
            f"(usually {Numbers.usual('worst_dead_share')}) and pass no gradient"
        )
        suspects = (Suspect("initialisation/dead_relu", 0.7, text), Suspect("initialisation/zero_weights", 0.5, text))
    elif saturation(numbers):
        text = f"{share(saturated)} of the tanh and sigmoid outputs are at their bounds"
        text += f" (usually {Numbers.usual('saturated_share')})"
        # in an LSTM with closed gates 4 of 5 values are there
        suspects = (
            Suspect("initialisation/saturating_stack", 0.6, text),
            Suspect("recurrent/gates_saturated", 0.4, text),
        )
    elif inner_explosion(numbers) or explosion(numbers):
        text = (
            f"the signal explodes at the start: the last two layers' outputs spread {inner:.2g} and "
            f"{growth:.0f} times as far as the first layer's (usually {Numbers.usual('growth')})"
        )
        cause = "weights_too_large" if inner_explosion(numbers) else "confident_head"
        suspects = (Suspect(f"initialisation/{cause}", 0.7, text),)
    elif vanishing(numbers):
        text = (
            f"the signal vanishes at the start: the last layer's outputs spread {growth:.1g} times as far as the first "
            f"layer's (usually {Numbers.usual('growth')})"
        )
        suspects = (Suspect("initialisation/weights_too_small", 0.7, text),)
    return Verdict("activation_stats", bool(suspects), text, numbers.labeled(), suspects)
