"""What ended a run: steps with numbers that are not finite, and the part of the step that raised an error."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from bugzoo.diagnostics._devices import MESSAGES, placed
from bugzoo.diagnostics._tools import column
from bugzoo.running.result import Run

if TYPE_CHECKING:
    from bugzoo.views.layers import Numbers

MOST = 4
"""Tensors that are listed with their devices."""


def not_finite(trace: Any) -> set[int]:
    """Return the steps with a loss or gradient that is not finite, without those that a GradScaler skipped."""
    loss, norm, step = column(trace.loss), column(trace.grad_norm), column(trace.step)
    backwards = column(trace.backwards)
    backwards = backwards if len(backwards) == len(loss) else np.ones(len(loss))  # a trace that was cut short
    bad = {int(number) for number in step[(~np.isfinite(loss) & (backwards > 0)) | np.isinf(norm)]}
    norms = np.asarray(trace.param_grad_norm, dtype=np.float64)
    no_gradient = norms.size > 0 and bool(np.isnan(norms).all() and np.isfinite(loss).all())
    for event in trace.events:
        if event.kind == "non_finite" and event.data.get("direction") in ("loss", "gradient", "backward"):
            bad |= set() if no_gradient else {event.step}
    return bad - {event.step for event in trace.events if event.kind == "skipped_step"}


def add_failure(numbers: "Numbers", run: Run) -> None:
    """Add where the error was raised, in which module, and the devices if it names them."""
    error = run.trace.error or {}
    text, module = str(error.get("traceback") or "").replace("\\", "/"), dict(error.get("scene") or {}).get("module")
    part = "forward pass" if module else "script"
    part = "backward()" if re.search(r"torch/autograd/|\.backward\(", text.rpartition("File ")[2]) else part
    numbers.part = "optimizer.step()" if "torch/optim/" in text else part
    if module:
        kind = str(module.get("repr", ""))
        numbers.failed = f"{module['name']} {kind}" if module["name"] != kind else kind
        numbers.failed_given = ", ".join(module.get("given", [])[:3])
        weights = module.get("parameters", [])[:3]
        numbers.failed_weights = ", ".join(f"{name} {tuple(shape)}".replace(",)", ")") for name, shape in weights)
    if re.search(MESSAGES, str(error.get("message") or "")):
        places = placed(run)
        tensors = [*places.strays, *places.batch, *places.weights][:MOST]
        numbers.devices = float(places.devices)
        numbers.placed = ", ".join(f"{tensor['name']} on {tensor['device']}" for tensor in tensors)
