"""Does the script keep computation graphs that no backward pass will use?

A forward pass with gradients saves its activations until backward() frees them, or until the last reference to its output is
gone. Two things are looked at. In the trace: forward passes in eval mode with gradients on that no backward() followed, which
torch.no_grad() would have spared (`evaluations_with_graph`; the first one since the last backward() stands for all of them). One
that a backward() follows may be meant: frozen batch norm, saliency, adversarial examples. At the end of the script: how many
forward passes still hold their activations (`passes`, by the weight that is used least often; `held_mib` beside the parameters).
One such pass is usual. Several mean that a list collects outputs with their graphs: a memory leak.
"""

import gc
from collections import Counter
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, optional
from bugzoo.diagnostics.retain_graph import held
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import live
from bugzoo.running.result import Run
from bugzoo.watching.functional import wrapped

COST = 0
VIEW = "memory"
TITLE = "Computation graphs"
KNOWN_PROBLEMS = (
    "A false positive for saliency or adversarial inputs in eval mode that use torch.autograd.grad on the inputs "
    "instead of backward(). "
    "It misses an evaluation in train mode whose graph is freed before the script ends."
)
_EVALUATION = "    with torch.no_grad():\n        accuracy = (model(inputs).argmax(1) == targets).float().mean()\n"
HEALTHY = example()
SICK = example(
    ("for epoch", "outputs = []\nfor epoch"),
    (_EVALUATION, "    outputs += [model(inputs[:64]), model(inputs[64:])]\n"),
)
FURTHER = (
    (
        HEALTHY,
        example(("with torch.no_grad():\n        accuracy", "if True:\n        accuracy")),
    ),
)
MOST = 20_000
"""Operations that are looked at."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts of forward passes, and MiB. The first two need an evaluation, the last two the live model."""

    evaluations_without: float | None = optional("passes in eval mode without gradients", view="modes")
    evaluations_with_graph: float | None = optional(
        "passes in eval mode with gradients, no backward()", (0, 0), view="modes"
    )
    passes: float | None = optional("forward passes with activations alive at the end", (0, 1))
    held_mib: float | None = optional("activations alive at the end (MiB)")


live_activations = Alarm(
    above("passes", 1),
    "Memory was measured at the end. {passes:.0f} forward passes still hold their activations, {held_mib:.2g} MiB.",
    "At most {limits[passes]:.0f} of them may hold them.",
)
unused_graphs = Alarm(
    above("evaluations_with_graph"),
    "The evaluation's forward passes were recorded. {evaluations_with_graph:.0f} of them built a computation graph.",
    "None of them should ({limits[evaluations_with_graph]:.0f}).",
)
ALARMS = (live_activations, unused_graphs)


def measure(run: Run) -> Numbers:
    """Counts and MiB; absent where they cannot be known. Raises NotApplicable without an evaluation and live objects."""
    need_steps(run, 1)
    numbers: dict[str, float] = {}
    why = ""
    for part in (_evaluations, _left):
        try:
            numbers |= part(run)
        except NotApplicable as error:
            why = why or str(error)
    if not numbers:
        raise NotApplicable(why)
    return Numbers.from_mapping(numbers)


def _evaluations(run: Run) -> dict[str, float]:
    """Forward passes of the trained model in eval mode, with a graph that no backward() used, and without."""
    passes = [forward for forward in run.trace.forwards if forward.learns and not forward.training]
    without = sum(forward.count for forward in passes if not forward.grad)
    trains = any(
        parameter.trainable for parameter in run.trace.parameters
    )  # no graph is built where none wants a gradient
    unused = sum(forward.count for forward in passes if forward.grad and trains and not forward.followed_by_backward)
    if not unused and not without and trains:
        raise NotApplicable("the trained model was not evaluated")
    return {"evaluations_with_graph": float(unused), "evaluations_without": float(without)}


def _left(run: Run) -> dict[str, float]:
    """Forward passes whose activations are still in memory, and their size. Raises NotApplicable without live objects."""
    parameters = {p.untyped_storage().data_ptr() for model in live(run).models for p in model.parameters()}
    weights = {id(p) for model in live(run).models for p in model.parameters()}
    users: dict[int, Counter[bool]] = {}
    storages: dict[int, int] = {}
    visited: set[Any] = set()
    waiting = [
        tensor.grad_fn for tensor in gc.get_objects() if type(tensor) is torch.Tensor and tensor.grad_fn is not None
    ]
    while waiting and len(visited) < MOST:
        node = waiting.pop()
        if node in visited:
            continue
        visited.add(node)
        state = held(node)
        if state is not None:
            tensors = [tensor for tensor in state[1] if not wrapped(tensor)]  # what torch.func wraps has no storage
            sizes = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}
            storages |= {place: size for place, size in sizes.items() if place not in parameters}
        for parent, _ in node.next_functions:
            if parent is None:
                continue
            weight = getattr(parent, "variable", None)
            if weight is None:
                waiting.append(parent)
            elif state is not None and id(weight) in weights:
                users.setdefault(id(weight), Counter())[state[0]] += 1
    return {
        "passes": float(min((count[True] for count in users.values()), default=0)),
        "held_mib": sum(storages.values()) / 2**20,
    }


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on evaluations with a graph, and where more than one forward pass still holds its activations."""
    suspects: list[Suspect] = []
    if live_activations(numbers):
        text = (
            f"{numbers.passes:.0f} forward passes still hold their activations at the end: {numbers.held_mib:.2g} MiB"
        )
        suspects.append(Suspect("memory/evaluation_keeps_graph", 0.7, text))
        suspects.append(Suspect("memory/retain_graph_left_on", 0.3, text))
    if unused_graphs(numbers):
        text = f"{numbers.evaluations_with_graph:.0f} forward passes in eval mode built a graph, "
        text += f"and no backward() followed (usually {Numbers.usual('evaluations_with_graph')})"
        # it costs memory and no accuracy: whatever keeps a model from learning stands before it
        suspects.append(Suspect("modes/no_grad_missing", 0.6, text))
        suspects.append(Suspect("memory/evaluation_keeps_graph", 0.4, text))
    text = suspects[0].reason if suspects else "evaluation ran without a graph, and none is left at the end"
    return Verdict("retained_graphs", bool(suspects), text, numbers.labeled(), tuple(suspects))
