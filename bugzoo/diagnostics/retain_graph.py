"""Does backward() give back what the forward pass kept for it?

A forward pass keeps activations for its backward pass, which lets go of them as it goes through. With retain_graph=True it
does not, and they stay until the names that lead to them are written over: in the next step, when the next forward pass has
already taken its own. The loop's body is run again on its first batch, and afterwards the graphs that went backward are asked
what they still hold: `kept_share` of the operations that kept something, `kept_mib` beside parameters. Where a step goes
backward several times only what no backward() let go counts.
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
    "kept_share": ("share of the operations that still hold what they kept", "0"),
    "kept_mib": ("MiB that they hold beside the parameters", "0"),
    "backwards": ("backward passes of a step", ""),
}
HEALTHY = example()
SICK = example(("loss.backward()", "loss.backward(retain_graph=True)"))
TIMES = 3


@contextlib.contextmanager
def _went_backward() -> Iterator[list[list[torch.Tensor]]]:
    """The tensors on which backward() was called in it, for each step of an optimiser; the last list is what followed."""
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
    """(has it still what it saved?, those tensors) of one operation of a graph; None for one that saves no tensor."""
    kept, found = False, []
    for name in dir(node):
        if not name.startswith("_saved_") and name != "saved_tensors":
            continue
        try:
            value = getattr(node, name)
        except RuntimeError as error:
            if "second time" in str(error):  # given back
                return False, []
            kept = True  # still there, and changed in place since, as a weight is by the optimiser
            continue
        tensors = value if isinstance(value, list | tuple) else [value]
        found += [one for one in tensors if isinstance(one, torch.Tensor)]
    return (True, found) if found or kept else None


def measure(run: Run) -> dict[str, Any]:
    """Shares and MiB. Raises NotApplicable where the loop's body cannot be run again."""
    own = {p.untyped_storage().data_ptr() for model in live(run).models for p in model.parameters()}
    with _went_backward() as heard:
        again(run, TIMES)
    steps = [some for some in heard if some]
    if not steps:
        raise NotApplicable("nothing went backward when the loop's body was run again")
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
    """Fires where more than half of the operations hold on to what they kept when all backward passes are over."""
    shown = pick(numbers, *SHOWN)
    kept = numbers["kept_share"]
    if kept > 0.5:
        text = f"after backward() {share(kept)} of the operations still hold what they kept for it, {numbers['kept_mib']:.2g} MiB"
        return Verdict("retain_graph", True, text, shown, (Suspect("memory/retain_graph_left_on", 0.85, text),))
    return Verdict("retain_graph", False, "backward() gives back what was kept for it", shown)
