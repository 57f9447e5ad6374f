"""How did the run end, and what does torch's error message mean?

Autograd's error messages name the place where a mistake was noticed, often not where it was made. For a tensor changed in place,
the place is the line that changed it, not backward(). Further facts come from the failing frames: the module and its inputs, the
line's tensors, what the loop carries over, what was changed meanwhile. If tensors are on two devices, those of the line and of
the model are listed, each with the line that put it there.
"""

import re
from dataclasses import dataclass
from typing import cast

from bugzoo.diagnostics._devices import MESSAGES, Placed, Tensor, placed, where
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._scene import Scene, facts
from bugzoo.diagnostics._tools import column
from bugzoo.diagnostics.conditions import Alarm, Condition
from bugzoo.diagnostics.numbers import FLAG, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import tensors
from bugzoo.running.result import Run

COST = 0
VIEW = "layers"
TITLE = "End of the run"
KNOWN_PROBLEMS = (
    "A false positive for a script that ends a complete training with an exception of its own, such as an early-stopping "
    "signal. "
    "It says nothing about exceptions that the script catches or about hangs, and names a cause only for torch's well-known "
    "messages."
)
HEALTHY = example()
SICK = example(("nn.Linear(8, 32)", "nn.Linear(9, 32)"))
OUTCOMES = ("crashed", "out_of_memory")
_MEANINGS = (
    (r"modified by an inplace operation", "graph/inplace_activation", 0.95,
     "an in-place operation changed a tensor that the forward pass had saved for backward()"),
    (r"Trying to backward through the graph a second time", "graph/backward_twice", 0.95,
     "backward() ran twice through one computation graph: a tensor of the step before was kept without detach()"),
    (r"leaf Variable that requires grad", "graph/leaf_changed_in_place", 0.95,
     "an in-place operation changed a parameter (a leaf tensor) outside torch.no_grad()"),
    (r"does not require grad and does not have a grad_fn", "graph/detached_activation", 0.8,
     "the loss has no computation graph: it was detached, rebuilt from a number, or computed under no_grad()"),
    (MESSAGES, "device/batch_left_on_cpu", 0.9, "one operation got tensors on different devices"),
    (r"shapes cannot be multiplied|size mismatch|shape '.*' is invalid|must match the size|sizes? of tensor",
     "shape/shape_mismatch_deep", 0.85, "the shapes of two tensors do not match"),
    (r"Target \S+ is out of bounds|Assertion .t >= 0 && t < n_classes", "loss/labels_off_by_one", 0.9,
     "a label is outside 0 .. C - 1, where C is the number of classes"),
    (r"can't convert|Can't call numpy\(\) on Tensor that requires grad", "graph/numpy_round_trip", 0.8,
     "a tensor with a computation graph was converted to a NumPy array"),
    (r"Only Tensors of floating point", "graph/integer_cast", 0.8,
     "an integer tensor cannot require a gradient: only floating-point tensors can"),
    (r"element 0 of tensors does not require grad", "graph/detached_activation", 0.8, "the loss has no computation graph"),
)  # fmt: skip


@dataclass(kw_only=True)
class Numbers(Measured):
    """How the run ended, and where the tensors are in an error over devices; `file` and `line` None where unknown."""

    type: str = number("type of the error")
    steps: float = number("optimizer steps before the error")
    batch_apart: float | None = optional(hidden=FLAG)
    in_step: float = number(hidden=FLAG)
    stray_tensors: float | None = optional(hidden=FLAG)
    outcome: str
    message: str
    file: str | None = None
    line: int | None = None
    told: list[str]
    devices: float
    weights: list[Tensor] | None = None
    strays: list[Tensor] | None = None
    batch: list[Tensor] | None = None
    made_apart: float | None = None


crashed = Alarm(
    Condition(lambda numbers: numbers["outcome"] in OUTCOMES, {}),
    "The run ended after {steps:.0f} optimizer steps, before its end.",
    "The run should finish.",
)
ALARMS = (crashed,)


def measure(run: Run) -> Numbers:
    """The outcome and the parts of the error. Raises NotApplicable if the run finished.

    With the live run at hand, the failed forward pass is run once more: see `Trace.explain`.
    """
    trace, error = run.trace, run.trace.error or {}
    if trace.outcome not in OUTCOMES:
        raise NotApplicable(f"the run did not crash (outcome: {trace.outcome})")
    if error.get("type") == "SystemExit" and len(column(trace.step)):
        raise NotApplicable(f"the run did not crash: it exited with {error.get('message')} after its training")
    message = str(error.get("message") or "")[:2000]
    trace.explain()
    numbers = Numbers(
        outcome=trace.outcome,
        steps=float(len(column(trace.step))),
        type=str(error.get("type") or ""),
        message=message,
        file=error.get("file"),
        line=error.get("line"),
        told=facts(cast(Scene, trace.error.get("scene", {})), message, _samples(run)),
        in_step=float("torch/optim/" in str(error.get("traceback") or "").replace("\\", "/")),
        devices=0.0,
    )
    if re.search(MESSAGES, message):
        tensors = placed(run)
        numbers.weights, numbers.strays, numbers.batch = tensors.weights, tensors.strays, tensors.batch
        numbers.devices, numbers.stray_tensors = float(tensors.devices), float(len(tensors.strays))
        numbers.batch_apart, numbers.made_apart = float(tensors.batch_apart), float(tensors.made_apart)
    return numbers


def _samples(run: Run) -> int | None:
    """Samples in each batch that succeeded, if all had the same number."""
    batches = getattr(getattr(run.trace, "live", None), "batches", [])
    sizes = {inputs[0].shape[0] for batch in batches[:-1] if (inputs := tensors(batch.args)) and inputs[0].ndim}
    return sizes.pop() if len(sizes) == 1 else None


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on every crash, and names a cause if the message is one of torch's well-known ones."""
    message, steps, file, line = numbers.message, numbers.steps, numbers.file, numbers.line
    if numbers.outcome == "out_of_memory":
        cause, score, why = "memory/losses_kept_with_graph", 0.5, "memory grew until then"
        if steps <= 2:
            cause, score, why = "memory/batch_too_large", 0.85, "the batch does not fit into memory"
        if steps <= 2 and numbers.in_step:
            cause = "memory/optimizer_state_ignored"
            why = "forward and backward pass fit into memory, but the optimizer state does not"
        text = f"out of memory (OOM) at step {steps + 1:.0f}: {why}"
        return Verdict("crash", True, text, {"steps": steps}, (Suspect(cause, score, text, file, line),))
    error = f"{numbers.type}: {message.splitlines()[0][:160] if message else ''}"
    scene = "".join(f"; {fact}" for fact in numbers.told)
    for pattern, cause, score, meaning in _MEANINGS:
        if re.search(pattern, message):
            if cause == "graph/detached_activation" and "none of the model" in scene:
                cause = "freezing/frozen_layers"
            if pattern is MESSAGES and numbers.devices:
                cause, listed = where(Placed(numbers.weights or [], numbers.strays or [], numbers.batch or []))
                meaning = f"{meaning}: {listed}"
            text = f"{meaning}{scene} ({error})"
            return Verdict("crash", True, text, {"steps": steps}, (Suspect(cause, score, text, file, line),))
    at = f" at line {line}" if line else ""
    text = f"the script stopped after {steps:.0f} optimizer steps with {error}{at}{scene}"
    return Verdict("crash", True, text, {"steps": steps})
