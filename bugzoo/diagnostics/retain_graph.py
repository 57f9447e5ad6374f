"""Does backward() free the activations that the forward pass saved for it?

A forward pass saves activations for its backward pass, which frees them on its way. With retain_graph=True they stay until the
variables that lead to them are overwritten. That is in the next step, when the next forward pass has already saved its own.
The loop's body runs again on its first batch, and afterwards the graphs that went backward are checked. `kept_share` is the
share of operations that still hold saved tensors, `kept_mib` their size beside the parameters. Where a step calls backward()
several times, only what no backward() freed counts.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import share
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.rerun.model import live
from bugzoo.running.result import Run
from bugzoo.watching.graph import nodes

COST = 1
VIEW = "memory"
TITLE = "Memory after backward()"
KNOWN_PROBLEMS = (
    "A false positive for a GAN whose discriminator step keeps its graph because the generator step goes back "
    "through the same samples. "
    "It misses graphs that torch.autograd.grad retains, and says nothing where the loop's body cannot run again."
)
HEALTHY = example()
SICK = example(("loss.backward()", "loss.backward(retain_graph=True)"))
TIMES = 3


@dataclass(kw_only=True)
class Numbers(Measured):
    """A share between 0 and 1, MiB, and a count."""

    kept_share: float = number("share of operations with activations after backward()", (0, 0.5))
    kept_mib: float = number("activations alive after backward() (MiB)")
    backwards: float = number("backward passes per step", hidden="the view of gradients has it")


unfreed = Alarm(
    above("kept_share", 0.5),
    "Memory was measured after backward(). {kept_share:.0%} of the operations still hold tensors, {kept_mib:.2g} MiB.",
    "At most {limits[kept_share]:.0%} passes.",
)
ALARMS = (unfreed,)


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
    changed, saved = False, []
    for name in dir(node):
        if not name.startswith("_saved_") and name != "saved_tensors":
            continue
        try:
            value = getattr(node, name)
        except RuntimeError as error:
            if "second time" in str(error):  # freed
                return False, []
            changed = True  # still there, and changed in place since, as the optimizer changes a weight
            continue
        tensors = value if isinstance(value, list | tuple) else [value]
        saved += [tensor for tensor in tensors if isinstance(tensor, torch.Tensor)]
    return (True, saved) if saved or changed else None


def measure(run: Run) -> Numbers:
    """Shares and MiB. Raises NotApplicable where the loop's body cannot run again."""
    parameters = {p.untyped_storage().data_ptr() for model in live(run).models for p in model.parameters()}
    with _went_backward() as heard:
        again(run, TIMES)
    steps = [losses for losses in heard if losses]
    if not steps:
        raise NotApplicable("the loop's body called no backward() when it ran again")
    shares, sizes = zip(*(_holding(losses, parameters) for losses in steps), strict=True)
    return Numbers(kept_share=max(shares), kept_mib=max(sizes) / 2**20, backwards=sum(map(len, steps)) / len(steps))


def _holding(losses: list[torch.Tensor], parameters: set[int]) -> tuple[float, int]:
    """(share of the operations, bytes beside the storages in `parameters`) that the graphs of one step still hold."""
    order = dict.fromkeys(node for loss in losses if loss.grad_fn is not None for node in nodes(loss.grad_fn))
    states = [state for state in map(held, order) if state is not None]
    storages = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage() for _, saved in states for tensor in saved
    }
    size = sum(storage.nbytes() for place, storage in storages.items() if place not in parameters)
    return sum(holds for holds, _ in states) / max(len(states), 1), size


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires where more than half of the operations still hold their saved tensors after all backward passes."""
    suspects: tuple[Suspect, ...] = ()
    text = "backward() frees what the forward pass saved for it"
    if unfreed(numbers):
        text = (
            f"after backward() {share(numbers.kept_share)} of the operations hold saved tensors "
            f"(usually {Numbers.usual('kept_share')}): {numbers.kept_mib:.2g} MiB"
        )
        suspects = (Suspect("memory/retain_graph_left_on", 0.85, text),)
    return Verdict("retain_graph", bool(suspects), text, numbers.labeled(), suspects)
