"""Dead, saturated, exploding, vanishing: what do the activations look like?

A unit behind a ReLU that is 0 for every sample is dead: it adds nothing, and no gradient comes through it to bring it
back. A tanh or sigmoid within 0.03 of its bounds passes hardly any gradient. Both are looked for by calling the model
with the kept batches, in evaluation mode. `growth` compares the first forward pass's last layer with its first one, by
their spread: each layer multiplies, so that weights ten times too large come out a hundred times too large after two.
"""

import math
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import batches, model_of, need_steps, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "dead_share": ("share of units that are 0 for every sample", "a few"),
    "worst_dead_share": ("the same in the worst layer", "less than half"),
    "saturated_share": ("share of tanh and sigmoid values at their bounds", "a few"),
    "inner_growth": ("spread of the last layer but one over that of the first, at the start", "between 0.01 and 5"),
    "growth": ("spread of the last layer over that of the first, at the start", "between 0.01 and 10"),
}
HEALTHY = example()
SICK = example(("optimizer = ", "torch.nn.init.constant_(model[0].bias, -20.0)\noptimizer = "))
LEAST = 16
"""Samples, below which a unit that is never above 0 says little."""
_LAYERS = ("(Linear)", "(Conv1d)", "(Conv2d)", "(Conv3d)")


class _Activations(TorchDispatchMode):
    """Follows every ReLU, tanh and sigmoid of one call. `alive`: by place in the call, (units,) above 0 at least once."""

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
            seen = self.alive.get(self.place)
            self.alive[self.place] = above if seen is None or seen.shape != above.shape else seen | above
            self.place += 1
        elif name in ("tanh", "sigmoid") and result.is_floating_point():
            edge = result.abs() > 0.97 if name == "tanh" else (result > 0.97) | (result < 0.03)
            self.saturated += int(edge.sum())
            self.bounded += result.numel()
        return result


def _growth(run: Run) -> dict[str, float]:
    """Spread of the last layer's output, and of the last but one, over that of the first one's, at the first step."""
    stats = np.asarray(run.trace.module_stats, dtype=np.float64)
    if stats.ndim != 3 or not len(stats):
        return {}
    spreads = [stats[0, i, 1] for i, name in enumerate(run.trace.modules) if name.endswith(_LAYERS)]
    spreads = [one for one in spreads if math.isfinite(one)]
    if len(spreads) < 2 or not spreads[0] > 0 or not spreads[-1] > 0:  # one row, or a last layer that begins at zero
        return {}
    return {"growth": spreads[-1] / spreads[0], "inner_growth": spreads[-2] / spreads[0]}


def measure(run: Run) -> dict[str, Any]:
    """Shares between 0 and 1, and the growth of the spread. Raises NotApplicable without a batch."""
    need_steps(run, 2)
    kept = batches(run)
    alive: dict[int, torch.Tensor] = {}
    saturated = bounded = samples = 0
    finite = True
    with quiet(model_of(run, kept[-1])) as model:
        for batch in kept:
            with _Activations(alive) as seen:
                out = call(model, batch.args, batch.kwargs)
            saturated, bounded, samples = saturated + seen.saturated, bounded + seen.bounded, samples + len(out)
            finite = finite and bool(torch.isfinite(out).all())
    if not finite:
        raise NotApplicable("the model's answers are not finite: nothing can be said of its units")
    numbers: dict[str, Any] = _growth(run) | {"samples": float(samples), "rectifiers": float(len(alive))}
    if alive:
        dead = [float((~one).float().mean()) for one in alive.values()]
        units = torch.cat([one.flatten() for one in alive.values()])
        numbers |= {"dead_share": float((~units).float().mean()), "worst_dead_share": max(dead)}
    if bounded:
        numbers["saturated_share"] = saturated / bounded
    return numbers


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where nearly a whole layer is dead or saturated, and where the signal explodes or vanishes at the start."""
    shown = pick(numbers, "dead_share", "worst_dead_share", "saturated_share", "growth", "inner_growth")
    worst, growth = numbers.get("worst_dead_share", 0.0), numbers.get("growth", 1.0)
    if worst > 0.9 and numbers["samples"] >= LEAST:
        text = f"{share(worst)} of the units of a layer are 0 for every sample, and no gradient comes through them"
        suspects = (Suspect("initialisation/dead_relu", 0.7, text), Suspect("initialisation/zero_weights", 0.5, text))
        return Verdict("activation_stats", True, text, shown, suspects)
    if numbers.get("saturated_share", 0.0) > 0.75:
        text = f"{share(numbers['saturated_share'])} of the tanh and sigmoid values lie at their bounds"
        # an LSTM with shut gates has 4 of 5 of its numbers there
        suspects = (
            Suspect("initialisation/saturating_stack", 0.6, text),
            Suspect("recurrent/gates_saturated", 0.4, text),
        )
        return Verdict("activation_stats", True, text, shown, suspects)
    if growth > 30 or numbers.get("inner_growth", 1.0) > 10:
        text = f"at the start the last layer's outputs spread {growth:.0f} times as far as the first one's: the signal explodes"
        cause = "weights_too_large" if numbers["inner_growth"] > 10 else "confident_head"
        return Verdict("activation_stats", True, text, shown, (Suspect(f"initialisation/{cause}", 0.7, text),))
    if growth < 1e-3:
        text = f"at the start the last layer's outputs spread {growth:.1g} times as far as the first one's: the signal vanishes"
        return Verdict("activation_stats", True, text, shown, (Suspect("initialisation/weights_too_small", 0.7, text),))
    return Verdict("activation_stats", False, "units are alive, and the signal keeps its size", shown)
