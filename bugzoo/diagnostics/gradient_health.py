"""How large are the gradients in each layer, and do they vanish or explode?

Usual: gradient norm over parameter norm between 1e-4 and 1e-1, layers within a few powers of ten of each other, a total that
falls slowly. A total that grows without end: stale gradients, or a learning rate that is too high. A first layer a million times
smaller than the last: saturated, or too deep without skip connections. Exact zeros everywhere below one layer: dead units, or
zero weights. Compare with a healthy run: alone it fires on the extremes only.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, median, need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "total_norm": ("norm of all gradients together, median over the steps", ""),
    "largest_norm": ("norm of all gradients together, largest of a step", "a few times the median"),
    "growth": ("norm of all gradients together, late over early", "0 to 50"),
    "first_over_last": ("gradient norm of the first trained layer over the last", "0.0001 to 10000"),
    "missing_share": ("share of weight matrices without a gradient", "0"),
    "zero_share": ("share of weight matrices whose gradient is exactly 0", "0"),
}
KNOWN_PROBLEMS = (
    "A false positive where the first weight matrix gets a zero gradient at most steps by design, as a rarely chosen expert "
    "does. "
    "For vanishing gradients it compares only the first with the last of four or more weight matrices, and misses ratios "
    "above 1e-7."
)
HEALTHY = example()
SICK = example(("nn.ReLU()", "*(part() for part in 12 * [nn.Sigmoid, lambda: nn.Linear(32, 32)])"))


def measure(run: Run) -> dict[str, Any]:
    """Norms and ratios; medians over the steps. Raises NotApplicable below 2 steps or without any gradient."""
    trace = run.trace
    need_steps(run, 2)
    total = column(trace.grad_norm)
    finite = total[np.isfinite(total)]
    if not len(finite):
        raise NotApplicable("no step had a finite gradient")
    numbers: dict[str, Any] = {
        "total_norm": float(np.median(finite)),
        "largest_norm": float(finite.max()),
        "growth": float(
            np.median(finite[-max(1, len(finite) // 5) :]) / (np.median(finite[: max(1, len(finite) // 5)]) + 1e-30)
        ),
        "non_finite_share": float((~np.isfinite(total)).mean()),
        "update_ratio": median(trace.update_ratio),
    }
    norms = np.asarray(trace.param_grad_norm, dtype=np.float64)
    if norms.ndim == 2 and norms.shape[1] == len(trace.parameters) and norms.size:
        numbers |= _by_layer(trace, norms)
    return numbers


def _by_layer(trace: Any, norms: np.ndarray) -> dict[str, Any]:
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
    return {
        "missing_share": 1 - len(present) / len(weights) if weights else 0.0,
        "zero_share": float(np.mean([typical[i] == 0 for i in present])) if present else 0.0,
        "first_over_last": float(first / final) if present and final > 0 else math.nan,
        "smallest_ratio": float(min(ratios)) if ratios else math.nan,
        "largest_ratio": float(max(ratios)) if ratios else math.nan,
        "layers": float(len(present)),
        "names": [trace.parameters[i].name for i in present][:40],
        "norms": [float(typical[i]) for i in present][:40],
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires if gradients shrink by 1e-7 from the last to the first layer, grow by 1e5, or are zero."""
    shown = pick(numbers, "total_norm", "largest_norm", "growth", "first_over_last", "missing_share", "zero_share")
    ratio, layers = numbers.get("first_over_last", math.nan), numbers.get("layers", 0)
    if numbers["total_norm"] == 0:
        text = "the gradient is exactly zero in at least half of the steps (usually in none)"
        return Verdict("gradient_health", True, text, shown, (Suspect("initialisation/zero_weights", 0.4, text),))
    if numbers.get("zero_share", 0.0) > 0.9 and layers >= 2:
        text = "the gradient of nearly every weight matrix is exactly zero (usually of none): only biases learn"
        suspects = (Suspect("initialisation/zero_weights", 0.6, text), Suspect("initialisation/dead_relu", 0.5, text))
        return Verdict("gradient_health", True, text, shown, suspects)
    if layers >= 4 and ratio < 1e-7:
        text = (
            f"the first layer's gradient norm is {ratio:.1g} of the last layer's (usually above 1e-4): gradients vanish"
        )
        return Verdict("gradient_health", True, text, shown, (Suspect("initialisation/saturating_stack", 0.6, text),))
    if layers >= 4 and ratio > 1e5:
        text = (
            f"the first layer's gradient norm is {ratio:.1g} times the last layer's: gradients explode on the way back"
        )
        return Verdict("gradient_health", True, text, shown, (Suspect("initialisation/weights_too_large", 0.5, text),))
    text = f"the median gradient norm is {numbers['total_norm']:.3g} (largest {numbers['largest_norm']:.3g})"
    if not math.isnan(ratio):
        text += f"; the first layer's is {ratio:.2g} of the last layer's"
    return Verdict("gradient_health", False, text, shown)
