"""Gradients that are accumulated over several batches."""

from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

OFTEN = 5
"""Steps before which gradients were cleared unused: an analysis that reads gradients does so once, or after an epoch."""
SHARE = 0.4
"""Share of the looks that have to show it: of three batches a step, the first one is cleared rightly."""
_OPTIMIZER = torch.optim.Optimizer.profile_hook_step.__code__.co_filename
_LBFGS = (
    "optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=6)\ndef closure():\n    optimizer.zero_grad()\n"
    "    loss = (model(torch.ones(1, 2)) ** 2).sum()\n    loss.backward()\n    return loss\n"
    "for batch in range(64): optimizer.step(closure)"
)
_ATTACK = (
    "model = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "for batch in range(64):\n    inputs = torch.ones(1, 2)\n"
    "    for move in range(5):\n        inputs.requires_grad_()\n        model(inputs).sum().backward()\n"
    "        inputs = (inputs + 0.01 * inputs.grad.sign()).detach()\n        model.zero_grad()\n"
    "    optimizer.zero_grad()\n    model(inputs).sum().backward()\n    optimizer.step()\n"
)
_SHARPNESS = (
    "\nmodel = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\ndef gradient():\n"
    "    optimizer.zero_grad()\n    model(torch.ones(1, 2)).sum().backward()\n    return 0.1 * model.weight.grad\n"
    "for batch in range(64):\n    way = gradient()\n    with torch.no_grad(): model.weight.add_(way)\n"
    "    gradient()\n    with torch.no_grad(): model.weight.sub_(way)\n    optimizer.step()"
)
_LOOP = (
    "model = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "for batch in range(64):\n{0}    model(torch.ones(1, 2)).sum().backward()\n"
    "    if batch % 4 == 3:\n        optimizer.step()\n{1}"
)


def _unused(call: Call) -> Numbers | None:
    """Count the steps before which one line cleared gradients twice in a row, and the second time such as no step had used."""
    owner, notes = call["self"], call.about(call["self"])
    now, before = (call.site, call.count, call.made, _moves(owner)), notes.get("before")
    notes["before"] = now
    unused: dict[Any, int] = call.shared.setdefault("unused", {})
    # another line clears before the step, too: the gradients here were for something else, such as an attack
    call.shared.setdefault("aside", set()).update(
        site for site, steps_made in unused.items() if site != call.site and steps_made == call.made
    )
    if call.site in call.shared["aside"] or before is None or before[:2] != (call.site, call.count - 1):
        return None
    steps: set[int] = notes.setdefault(call.site, set())
    looks = notes["looks", call.site] = notes.get(("looks", call.site), 0) + 1
    # weights that the script itself has moved used these gradients, as those of a sharpness-aware step do
    if before[2:] != now[2:] or not _any(owner) or _in_step(call.frame):
        return None
    steps.add(call.made)
    unused[call.site] = call.made
    return {"before": float(len(steps)), "looks": float(looks)}


def _in_step(frame: FrameType | None) -> bool:
    """Return whether an optimizer's step asks for the gradients itself, by a closure, as in LBFGS."""
    while frame is not None:
        if frame.f_code.co_filename == _OPTIMIZER:
            return True
        frame = frame.f_back
    return False


def _parameters(owner: torch.optim.Optimizer | torch.nn.Module) -> Iterator[torch.Tensor]:
    if isinstance(owner, torch.nn.Module):
        return owner.parameters()
    return (parameter for group in owner.param_groups for parameter in group["params"])


def _moves(owner: torch.optim.Optimizer | torch.nn.Module) -> int:
    """Return how often the first trained parameter has been written in place."""
    return next((parameter._version for parameter in _parameters(owner) if parameter.requires_grad), 0)


def _any(owner: torch.optim.Optimizer | torch.nn.Module) -> bool:
    """Return whether a gradient is there that is not 0."""
    first = next((parameter.grad for parameter in _parameters(owner) if parameter.grad is not None), None)
    return first is not None and first.layout == torch.strided and bool(first.any())


CONTRACTS = (
    Contract(
        name="cleared_while_accumulating",
        on=("torch.optim.Optimizer.zero_grad", "torch.nn.Module.zero_grad"),
        demand="`backward()` adds to `.grad`: gradients that are accumulated are cleared once per step, not once per batch.",
        given="At {before:.0f} of {looks:.0f} calls that were looked at, the gradients to clear had not been used by any step.",
        instead="Call `zero_grad()` only after `optimizer.step()`, or only where a step's first batch begins.",
        page=PAGES + "generated/torch.optim.Optimizer.zero_grad.html",
        kind="order of calls",
        measure=_unused,
        broken=lambda numbers: numbers["before"] >= OFTEN and numbers["before"] >= SHARE * numbers["looks"],
        breaks=_LOOP.format("    optimizer.zero_grad()\n", ""),
        keeps=(
            _LOOP.format("", "        optimizer.zero_grad()\n")
            + _LOOP.format("    if batch % 4 == 0:\n        model.zero_grad()\n", "")
            + _ATTACK
            + _LBFGS
            + _SHARPNESS
        ),
        wrong="Gradients of single samples that are cleared by the line that also clears before each step.",
        explains=("by itself",),
        causes=("loop/gradients_wiped",),
        pairs=True,
    ),
)
