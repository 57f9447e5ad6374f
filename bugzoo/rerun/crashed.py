"""Re-run a forward pass that crashed, or whose backward pass crashed, silently, and record what happens in it."""

import contextlib
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
"""How many modules are recorded."""


def found(crash: Crashed) -> dict[str, Any]:
    """Return findings of another forward pass about a crash, as plain values: see `bugzoo.watching.scene.scene`.

    `way`: the failed forward pass is called again without gradients, with copies of its arguments. Each module's output
    is recorded until it fails again. `changed` or `stepped`: the forward pass before a failed backward() is called again.
    Tensors that it saves for backward() and changes later are recorded. Buffers, modes and RNG states are restored.
    """
    findings: dict[str, Any] = {}
    with contextlib.suppress(Exception):  # a failed explanation must not raise
        if crash.failed is not None:
            findings["way"] = _way(crash.failed)
        if crash.before is not None:
            findings |= _changed(crash.before, crash.message)
    return findings


def _way(failed: ModuleCall) -> list[list[str]]:
    """Return [name, output] of each module without submodules, until the call fails again."""
    root, outputs = failed.module, list[list[str]]()
    names = {part: name for name, part in root.named_modules()}

    def note(module: nn.Module, _: Any, output: Any) -> None:
        tensor = next((leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor)), None)
        if tensor is not None and len(outputs) < MOST:
            outputs.append([names[module], describe(tensor)])

    leaves = [part for part in names if part is not root and not any(True for _ in part.children())]
    args, kwargs = tree_map(lambda leaf: leaf.clone() if torch.is_tensor(leaf) else leaf, (failed.args, failed.kwargs))
    with contextlib.suppress(Exception), contextlib.ExitStack() as hooks:
        for part in leaves:
            hooks.enter_context(part.register_forward_hook(note))
        with silent(), unchanged(root), torch.no_grad():
            root(*args, **kwargs)
    return outputs


def _changed(before: ModuleCall, message: str) -> dict[str, Any]:
    """Return tensors that the forward pass saves for backward() and changes later, else the parameter changed by a step."""
    model = before.module
    packed: list[tuple[torch.Tensor, int, int]] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        frame = next(user_frames(sys._getframe(1)), None)
        packed.append((tensor, tensor._version, frame.f_lineno if frame is not None else 0))
        return tensor

    saved = torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one)
    with silent(), unchanged(model), torch.enable_grad(), saved:
        model(*before.args, **before.kwargs)
    changed = [[line, describe(tensor)] for tensor, version, line in packed if tensor._version != version]
    if changed:
        return {"changed": changed[:3]}
    match = re.search(r"FloatTensor \[([\d, ]*)\].*is at version (\d+)", message)
    if match is None:
        return {}
    shape, version = [int(size) for size in match[1].split(",")], int(match[2])
    owned = [[name, describe(p)] for name, p in model.named_parameters()
             if p._version == version and list(p.shape) in (shape, shape[::-1])]  # fmt: skip
    return {"stepped": owned[0]} if owned else {}
