"""The training loop: zero_grad, step, scheduler, gradient accumulation."""

from bugzoo.faults.model import Cause

CAUSE = Cause(
    "an optimizer step that is missing or misplaced",
    also=("missing step", "optimizer not called", "missing optimizer.step"),
)
