"""What a training step keeps in memory, in MiB: parameters, gradients, optimizer state, activations."""

import contextlib
import math
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from bugzoo.diagnostics._tools import need_steps
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.machine import portable
from bugzoo.rerun.model import call, live, quiet, variables
from bugzoo.running.result import Run
from bugzoo.views import _calls

MIB = 2**20
ROWS = 8
"""Samples that are passed once more. Their activations are counted, and multiplied up to the whole batch."""


def parts(run: Run) -> dict[str, float]:
    """Return part -> MiB, and the number of samples in a batch; what cannot be known is left out.

    Raises NotApplicable without a live model.
    """
    models = live(run).models
    if not models:
        raise NotApplicable("no model is alive")
    parameters = {id(p): p for model in models for p in model.parameters()}.values()
    sizes = {
        "peak_mib": peak_mib(),
        "parameters_mib": sum(map(_bytes, parameters)) / MIB,
        "gradients_mib": sum(_bytes(p) for p in parameters if p.requires_grad) / MIB,
        "optimizer_mib": sum(_state(optimizer, run) for optimizer in optimizers(run)) / MIB,
    }
    with contextlib.suppress(Exception):  # a model may do anything when it is called with a part of its batch
        sizes |= _activations(run)
    return sizes


def peak_mib() -> float:
    """Return the most MiB that was resident in this process, NaN where the system does not tell."""
    if portable():
        return math.nan
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def optimizers(run: Run) -> list[torch.optim.Optimizer]:
    """Return the optimizers that have stepped; before any step, those among the script's variables."""
    names = variables(run)
    named = [optimizer for optimizer in names.values() if isinstance(optimizer, torch.optim.Optimizer)]
    return live(run).optimizers or list({id(optimizer): optimizer for optimizer in named}.values())


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _state(optimizer: torch.optim.Optimizer, run: Run) -> float:
    """Return the bytes of the optimizer's state; before the first step, those that torch's optimizers then allocate."""
    held = float(sum(_bytes(leaf) for leaf in tree_leaves(list(optimizer.state.values())) if torch.is_tensor(leaf)))
    with contextlib.suppress(NotApplicable):
        need_steps(run)
        return held
    if not type(optimizer).__module__.startswith("torch.optim"):
        return held
    elements = sum(p.numel() for group in optimizer.param_groups for p in group["params"] if p.requires_grad)
    with contextlib.suppress(Exception):
        return max(held, elements * _bytes_per_element(optimizer))
    return held


def _bytes_per_element(optimizer: torch.optim.Optimizer) -> float:
    """Return how many bytes of state an optimizer of this kind adds for each element of a parameter."""
    small = torch.zeros(8, 8, requires_grad=True)
    small.grad = torch.zeros(8, 8)
    options = {name: value for name, value in optimizer.param_groups[0].items() if name != "params"}
    twin: Any = type(optimizer)([{"params": [small], **options}])  # pyright: ignore[reportCallIssue]
    twin.step()
    states = [state for state in twin.state[small].values() if torch.is_tensor(state) and state.ndim]
    return sum(map(_bytes, states)) / small.numel()


def _activations(run: Run) -> dict[str, float]:
    """Return the MiB that a forward pass in train mode keeps for backward(), beside parameters and buffers."""
    last_call = _calls.latest(run)
    leaves = tree_leaves((last_call.args, last_call.kwargs))
    rows = next(leaf.shape[0] for leaf in leaves if torch.is_tensor(leaf) and leaf.ndim)
    some = min(rows, ROWS)

    def cut(leaf: Any) -> Any:
        return leaf[:some] if torch.is_tensor(leaf) and leaf.ndim and leaf.shape[0] == rows else leaf

    args, kwargs = tree_map(cut, (last_call.args, last_call.kwargs))
    always = [*last_call.module.parameters(), *last_call.module.buffers()]
    addresses = {weight.untyped_storage().data_ptr() for weight in always}
    saved_bytes: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        saved_bytes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor.detach()  # an operation that saved its own result would hold itself alive

    hooks = torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor)
    with quiet(last_call.module, training=True) as model, torch.enable_grad(), hooks:
        out = call(model, args, kwargs)  # its graph holds what it saved, so that no storage is used a second time
    size = sum(nbytes for place, nbytes in saved_bytes.items() if place not in addresses)
    del out
    return {"activations_mib": size / MIB * rows / some, "samples": float(rows)}
