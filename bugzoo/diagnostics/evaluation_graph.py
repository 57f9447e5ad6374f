"""Was the model evaluated without building a graph for a backward pass?

A forward pass with gradients keeps its activations for backward(). In evaluation nobody calls it: the memory of a
training batch is taken for nothing, and where outputs are collected it is never given back. `kept` counts forward
passes in evaluation mode, with gradients, that no backward() followed; the first one since the last backward() stands
for all of them. One that is followed by a backward() may be meant: frozen statistics, saliency, adversarial examples.
"""

from typing import Any

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "kept": ("evaluations that could have gone backward", "0"),
    "without": ("evaluations that could not", "all of them"),
}
HEALTHY = example()
SICK = example(("with torch.no_grad():\n        accuracy", "if True:\n        accuracy"))


def measure(run: Run) -> dict[str, Any]:
    """Counts of forward passes in evaluation mode. Raises NotApplicable where there was none."""
    need_steps(run, 1)
    judged = [one for one in run.trace.forwards if one.learns and not one.training and not one.followed_by_backward]
    without = sum(one.count for one in run.trace.forwards if one.learns and not one.training and not one.grad)
    wanted = any(one.trainable for one in run.trace.parameters)  # where no parameter wants a gradient no graph is built
    kept = sum(one.count for one in judged if one.grad and wanted)
    if not kept and not without and wanted:
        raise NotApplicable("the trained model was not evaluated")
    return {"kept": float(kept), "without": float(without)}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where an evaluation kept its graph and no backward() came."""
    shown = pick(numbers, "kept", "without")
    if numbers["kept"] > 0:
        text = "the model was called in evaluation mode with gradients on, and no backward() followed: its graph is for nobody"
        # it costs memory and no accuracy: whatever keeps a model from learning stands before it
        suspects = (Suspect("modes/no_grad_missing", 0.6, text), Suspect("memory/evaluation_keeps_graph", 0.4, text))
        return Verdict("evaluation_graph", True, text, shown, suspects)
    return Verdict("evaluation_graph", False, "evaluations ran without a graph", shown)
