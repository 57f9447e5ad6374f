"""How many forward passes could still go backward when the script is over?

A forward pass with gradients keeps what its backward pass would need until that comes, or until nobody holds its output any
more. One such pass may be left over at the end. Several mean that outputs of passes that never went backward were put aside: an
evaluation that collects its answers holds the activations of the whole validation set at once. `passes` counts, by the weight
that is used least often, the passes whose activations are still there; `held_mib` is what they hold beside the parameters.
"""

import gc
from collections import Counter
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps, pick
from bugzoo.diagnostics.kept_for_backward import held
from bugzoo.diagnostics.verdict import Suspect, Verdict
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "passes": ("forward passes whose activations are still held", "0 or 1"),
    "held_mib": ("MiB that they hold", "0"),
}
_EVALUATION = "    with torch.no_grad():\n        accuracy = (model(inputs).argmax(1) == targets).float().mean()\n"
HEALTHY = example()
SICK = example(
    ("for epoch", "answers = []\nfor epoch"),
    (_EVALUATION, "    answers += [model(inputs[:64]), model(inputs[64:])]\n"),
)
MOST = 20_000
"""Operations that are looked at."""


def measure(run: Run) -> dict[str, Any]:
    """A count and MiB. Raises NotApplicable without the live objects."""
    need_steps(run, 1)
    own = {p.untyped_storage().data_ptr() for model in live(run).models for p in model.parameters()}
    weights = {id(p) for model in live(run).models for p in model.parameters()}
    users: dict[int, Counter[bool]] = {}
    storages: dict[int, int] = {}
    seen: set[Any] = set()
    waiting = [one.grad_fn for one in gc.get_objects() if type(one) is torch.Tensor and one.grad_fn is not None]
    while waiting and len(seen) < MOST:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        state = held(node)
        if state is not None:
            tensors = state[1]
            sizes = {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in tensors}
            storages |= {place: size for place, size in sizes.items() if place not in own}
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


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where the activations of more than one forward pass are still held."""
    shown, passes = pick(numbers, *SHOWN), numbers["passes"]
    if passes > 1:
        text = f"{passes:.0f} forward passes could still go backward: {numbers['held_mib']:.2g} MiB are held for them"
        suspects = (
            Suspect("memory/evaluation_keeps_graph", 0.7, text),
            Suspect("memory/retain_graph_left_on", 0.3, text),
        )
        return Verdict("graphs_left", True, text, shown, suspects)
    return Verdict("graphs_left", False, "no row of forward passes is held for a backward that does not come", shown)
