"""Does backward() free the activations that the forward pass saved for it?

A forward pass saves activations for its backward pass, which frees them on its way. With retain_graph=True they stay until the
variables that lead to them are overwritten. That is in the next step, when the next forward pass has already saved its own.
The loop's body runs again on its first batch, and afterwards the graphs that went backward are checked. `kept_share` is the
share of operations that still hold saved tensors, `kept_mib` their size beside the parameters. Where a step calls backward()
several times, only what no backward() freed counts.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.rerun.model import live
from bugzoo.running.result import Run
from bugzoo.watching.graph import nodes

COST = 1
SHOWN = {
    "kept_share": ("share of operations with activations after backward()", "0 to 0.5"),
    "kept_mib": ("activations alive after backward() (MiB)", ""),
    "backwards": ("backward passes per step", ""),
}
KNOWN_PROBLEMS = (
    "A false positive for a GAN whose discriminator step keeps its graph because the generator step goes back "
    "through the same samples. "
    "It misses graphs that torch.autograd.grad retains, and says nothing where the loop's body cannot run again."
)
HEALTHY = example()
SICK = example(("loss.backward()", "loss.backward(retain_graph=True)"))
TIMES = 3


@contextlib.contextmanager
def _went_backward() -> Iterator[list[list[torch.Tensor]]]:
    """The tensors on which backward() was called inside it, per optimizer step; the last list is what followed."""
    heard: list[list[torch.Tensor]] = [[]]
    backward = torch.autograd.backward

    def listening(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        heard[-1].extend([tensors] if isinstance(tensors, torch.Tensor) else tensors)
        return backward(tensors, *args, **kwargs)

    handle = register_optimizer_step_post_hook(lambda *_: heard.append([]))
    torch.autograd.backward = listening
    try:
        yield heard
    finally:
        handle.remove()
        torch.autograd.backward = backward


def held(node: Any) -> tuple[bool, list[torch.Tensor]] | None:
    """(does it still hold what it saved?, those tensors) of one operation of a graph; None if it saves no tensor."""
    kept, found = False, []
    for name in dir(node):
        if not name.startswith("_saved_") and name != "saved_tensors":
            continue
        try:
            value = getattr(node, name)
        except RuntimeError as error:
            if "second time" in str(error):  # freed
                return False, []
            kept = True  # still there, and changed in place since, as the optimizer changes a weight
            continue
        tensors = value if isinstance(value, list | tuple) else [value]
        found += [one for one in tensors if isinstance(one, torch.Tensor)]
    return (True, found) if found or kept else None


def measure(run: Run) -> dict[str, Any]:
    """Shares and MiB. Raises NotApplicable where the loop's body cannot run again."""
    own = {p.untyped_storage().data_ptr() for model in live(run).models for p in model.parameters()}
    with _went_backward() as heard:
        again(run, TIMES)
    steps = [some for some in heard if some]
    if not steps:
        raise NotApplicable("the loop's body called no backward() when it ran again")
    looked = [_kept(some, own) for some in steps]
    return {
        "kept_share": max(kept for kept, _ in looked),
        "kept_mib": max(size for _, size in looked) / 2**20,
        "backwards": sum(map(len, steps)) / len(steps),
    }


def _kept(losses: list[torch.Tensor], own: set[int]) -> tuple[float, int]:
    """(share of the operations, bytes beside the storages in `own`) that the graphs of one step still hold."""
    order = dict.fromkeys(node for loss in losses if loss.grad_fn is not None for node in nodes(loss.grad_fn))
    said = [one for one in map(held, order) if one is not None]
    storages = {one.untyped_storage().data_ptr(): one.untyped_storage() for _, some in said for one in some}
    size = sum(storage.nbytes() for place, storage in storages.items() if place not in own)
    return sum(kept for kept, _ in said) / max(len(said), 1), size


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where more than half of the operations still hold their saved tensors after all backward passes."""
    shown = pick(numbers, *SHOWN)
    kept = numbers["kept_share"]
    if kept > 0.5:
        text = f"after backward() {share(kept)} of the operations hold saved tensors (usually 0): {numbers['kept_mib']:.2g} MiB"
        return Verdict("retain_graph", True, text, shown, (Suspect("memory/retain_graph_left_on", 0.85, text),))
    return Verdict("retain_graph", False, "backward() frees what the forward pass saved for it", shown)
