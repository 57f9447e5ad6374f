"""How large are the gradients in each layer, and do they vanish or explode?

Usual: gradient norm over parameter norm between 1e-4 and 1e-1, layers within a few powers of ten of each other, a total that
falls slowly. A total that grows without end: stale gradients, or a learning rate that is too high. A first layer a million times
smaller than the last: saturated, or too deep without skip connections. Exact zeros everywhere below one layer: dead units, or
zero weights. Compare with a healthy run: alone it fires on the extremes only.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, median, need_steps
from bugzoo.diagnostics.conditions import Alarm, above, below, measured
from bugzoo.diagnostics.numbers import OWN, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
VIEW = "gradients"
TITLE = "Gradient norms of the layers"
KNOWN_PROBLEMS = (
    "A false positive where the first weight matrix gets a zero gradient at most steps by design, as a rarely chosen expert "
    "does. "
    "For vanishing gradients it compares only the first with the last of four or more weight matrices, and misses ratios "
    "above 1e-7."
)
HEALTHY = example()
SICK = example(("nn.ReLU()", "*(part() for part in 12 * [nn.Sigmoid, lambda: nn.Linear(32, 32)])"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Norms and their ratios, medians over the steps; `norms`: one for each of `names`, first layer to last."""

    total_norm: float = number("norm of all gradients together, median over the steps")
    growth: float = number("norm of all gradients together, late over early", (0, 50))
    first_over_last: float | None = optional("gradient norm of the first trained layer over the last", (0.0001, 1e4))
    largest_norm: float = number("norm of all gradients together, largest of a step", "a few times the median")
    missing_share: float | None = optional("share of weight matrices without a gradient", (0, 0), hidden=OWN)
    zero_share: float | None = optional("share of weight matrices whose gradient is exactly 0", (0, 0), hidden=OWN)
    non_finite_share: float
    update_ratio: float
    smallest_ratio: float | None = None
    largest_ratio: float | None = None
    layers: float | None = None
    names: list[str] | None = None
    norms: list[float] | None = None


no_gradient = Alarm(
    measured("total_norm") & ~above("total_norm"),
    "The gradient norm was recorded at every step. At half of the steps or more it is exactly {total_norm:.0f}.",
    "It should be above 0.",
)
zero_matrices = Alarm(
    above("zero_share", 0.9) & above("layers", 1),
    "The gradient of each weight matrix was recorded. For {zero_share:.0%} of them it is exactly 0.",
    "At most {limits[zero_share]:.0%} passes; {usual[zero_share]} is usual.",
)
vanishing = Alarm(
    above("layers", 3) & below("first_over_last", 1e-7),
    "The gradient norms of the layers were compared. The first layer's is {first_over_last:.2g} of the last layer's.",
    "At least {limits[first_over_last]:.0g} passes; {usual[first_over_last]} is usual.",
)
exploding = Alarm(
    above("layers", 3) & above("first_over_last", 1e5),
    "The gradient norms of the layers were compared. The first layer's is {first_over_last:.2g} of the last layer's.",
    "At most {limits[first_over_last]:.0f} passes; {usual[first_over_last]} is usual.",
)
ALARMS = (no_gradient, zero_matrices, vanishing, exploding)


def measure(run: Run) -> Numbers:
    """Norms and ratios; medians over the steps. Raises NotApplicable below 2 steps or without any gradient."""
    trace = run.trace
    need_steps(run, 2)
    total = column(trace.grad_norm)
    finite = total[np.isfinite(total)]
    if not len(finite):
        raise NotApplicable("no step had a finite gradient")
    fifth = max(1, len(finite) // 5)
    numbers = Numbers(
        total_norm=float(np.median(finite)),
        largest_norm=float(finite.max()),
        growth=float(np.median(finite[-fifth:]) / (np.median(finite[:fifth]) + 1e-30)),
        non_finite_share=float((~np.isfinite(total)).mean()),
        update_ratio=median(trace.update_ratio),
    )
    norms = np.asarray(trace.param_grad_norm, dtype=np.float64)
    if norms.ndim == 2 and norms.shape[1] == len(trace.parameters) and norms.size:
        _add_layers(numbers, trace, norms)
    return numbers


def _add_layers(numbers: Numbers, trace: Any, norms: np.ndarray) -> None:
    """Add what the norms (steps, parameters) say of the weight matrices."""
    weights = [i for i, p in enumerate(trace.parameters) if len(p.shape) >= 2 and p.trainable and p.group is not None]
    masked = np.where(np.isfinite(norms), norms, np.nan)
    typical = np.asarray([median(masked[:, i], math.nan) for i in range(norms.shape[1])])
    present = [i for i in weights if np.isfinite(typical[i])]
    sizes = np.asarray(trace.param_norm, dtype=np.float64)
    ratios = []
    if sizes.ndim == 2 and sizes.size and sizes.shape[1] == len(typical):
        last = sizes[-1]
        ratios = [typical[i] / last[i] for i in present if last[i] > 0]
    first, final = (typical[present[0]], typical[present[-1]]) if present else (math.nan, math.nan)
    numbers.missing_share = 1 - len(present) / len(weights) if weights else 0.0
    numbers.zero_share = float(np.mean([typical[i] == 0 for i in present])) if present else 0.0
    numbers.first_over_last = float(first / final) if present and final > 0 else math.nan
    numbers.smallest_ratio = float(min(ratios)) if ratios else math.nan
    numbers.largest_ratio = float(max(ratios)) if ratios else math.nan
    numbers.layers = float(len(present))
    numbers.names = [trace.parameters[i].name for i in present][:40]
    numbers.norms = [float(typical[i]) for i in present][:40]


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if gradients shrink by 1e-7 from the last to the first layer, grow by 1e5, or are zero."""
    ratio = math.nan if numbers.first_over_last is None else numbers.first_over_last
    suspects: tuple[Suspect, ...] = ()
    if no_gradient(numbers):
        text = "the gradient is exactly zero in at least half of the steps (usually in none)"
        suspects = (Suspect("initialisation/zero_weights", 0.4, text),)
    elif zero_matrices(numbers):
        text = "the gradient of nearly every weight matrix is exactly zero "
        text += f"(usually of {Numbers.usual('zero_share')}): only biases learn"
        suspects = (Suspect("initialisation/zero_weights", 0.6, text), Suspect("initialisation/dead_relu", 0.5, text))
    elif vanishing(numbers):
        text = f"the first layer's gradient norm is {ratio:.1g} of the last layer's "
        text += f"(usually {Numbers.usual('first_over_last')}): gradients vanish"
        suspects = (Suspect("initialisation/saturating_stack", 0.6, text),)
    elif exploding(numbers):
        text = (
            f"the first layer's gradient norm is {ratio:.1g} times the last layer's: gradients explode on the way back"
        )
        suspects = (Suspect("initialisation/weights_too_large", 0.5, text),)
    else:
        text = f"the median gradient norm is {numbers.total_norm:.3g} (largest {numbers.largest_norm:.3g})"
        if not math.isnan(ratio):
            text += f"; the first layer's is {ratio:.2g} of the last layer's"
    return Verdict("gradient_health", bool(suspects), text, numbers.labeled(), suspects)
