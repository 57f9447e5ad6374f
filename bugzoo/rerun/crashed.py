"""A forward pass that crashed, or whose backward pass did, made once more, in silence, to see what happens on its way."""

import re
import sys
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from bugzoo.rerun.restore import unchanged
from bugzoo.rerun.silence import silent
from bugzoo.watching.describe import describe
from bugzoo.watching.live import Crashed, ModuleCall
from bugzoo.watching.loop import user_frames

MOST = 40
"""Modules on the way that are noted."""


def found(crash: Crashed) -> dict[str, Any]:
    """What another forward pass tells of a crash, in plain values: see `bugzoo.watching.scene.scene`.

    `way`: the forward pass that failed is called again without gradients, with copies of its arguments, and each module's
    output is noted until it fails again. `changed` or `stepped`: the one before a backward() that failed is made again, and
    what it keeps for backward() and changes afterwards is noted. Buffers, modes and random numbers are as before afterwards.
    """
    told: dict[str, Any] = {}
    try:
        if crash.failed is not None:
            told["way"] = _way(crash.failed)
        if crash.before is not None:
            told |= _changed(crash.before, crash.message)
    except Exception:  # an explanation is no reason to fail
        pass
    return told


def _way(failed: ModuleCall) -> list[list[str]]:
    """[name, what came out] of each module that has no modules of its own, until the call fails again."""
    root, found = failed.module, list[list[str]]()
    names = {one: name for name, one in root.named_modules()}

    def note(module: nn.Module, _: Any, output: Any) -> None:
        made = next((one for one in tree_leaves(output) if isinstance(one, torch.Tensor)), None)
        if made is not None and len(found) < MOST:
            found.append([names[module], describe(made)])

    leaves = [one for one in names if one is not root and not any(True for _ in one.children())]
    handles = [one.register_forward_hook(note) for one in leaves]
    args, kwargs = tree_map(
        lambda one: one.clone() if isinstance(one, torch.Tensor) else one, (failed.args, failed.kwargs)
    )
    try:
        with silent(), unchanged(root), torch.no_grad():
            root(*args, **kwargs)
    except Exception:
        pass
    finally:
        for handle in handles:
            handle.remove()
    return found


def _changed(before: ModuleCall, message: str) -> dict[str, Any]:
    """What the forward pass keeps for backward() and changes later; else the parameter that a step has changed."""
    model = before.module
    kept: list[tuple[torch.Tensor, int, int]] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        frame = next(user_frames(sys._getframe(1)), None)
        kept.append((tensor, tensor._version, frame.f_lineno if frame is not None else 0))
        return tensor

    saved = torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one)
    with silent(), unchanged(model), torch.enable_grad(), saved:
        model(*before.args, **before.kwargs)
    changed = [[line, describe(tensor)] for tensor, version, line in kept if tensor._version != version]
    if changed:
        return {"changed": changed[:3]}
    said = re.search(r"FloatTensor \[([\d, ]*)\].*is at version (\d+)", message)
    if said is None:
        return {}
    shape, version = [int(size) for size in said[1].split(",")], int(said[2])
    owned = [[name, describe(p)] for name, p in model.named_parameters()
             if p._version == version and list(p.shape) in (shape, shape[::-1])]  # fmt: skip
    return {"stepped": owned[0]} if owned else {}
