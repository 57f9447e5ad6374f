"""A forward pass that crashed, or whose backward pass did, made once more, unheard, to see what happens on its way."""

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from bugzoo.watching.loop import user_frames

MOST = 40
"""Modules on the way that are noted."""
Call = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
"""A model and what it was called with."""


@contextlib.contextmanager
def _unheard(model: nn.Module) -> Iterator[None]:
    """What it prints is not heard; random numbers of torch and buffers of the model are as before afterwards."""
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        torch.random.fork_rng(devices=devices),
    ):
        try:
            yield
        finally:
            with torch.no_grad():
                for name, buffer in model.named_buffers():
                    buffer.copy_(buffers[name])


def way(root: nn.Module, names: dict[nn.Module, str], args: Any, kwargs: Any) -> list[list[str]]:
    """[name, what came out] of each module that has no modules of its own, until the call fails again."""
    found: list[list[str]] = []

    def note(module: nn.Module, _: Any, output: Any) -> None:
        made = next((one for one in tree_leaves(output) if isinstance(one, torch.Tensor)), None)
        if made is not None and len(found) < MOST:
            found.append([names[module], describe(made)])

    leaves = [one for one in names if one is not root and not any(True for _ in one.children())]
    handles = [one.register_forward_hook(note) for one in leaves]
    args, kwargs = tree_map(lambda one: one.detach().clone() if isinstance(one, torch.Tensor) else one, (args, kwargs))
    try:
        with _unheard(root), torch.no_grad():
            root(*args, **kwargs)
    except Exception:
        pass
    finally:
        for handle in handles:
            handle.remove()
    return found


def changed(latest: Call, message: str) -> dict[str, Any]:
    """What the forward pass keeps for backward() and changes later; else the parameter that a step has changed."""
    model, args, kwargs = latest
    kept: list[tuple[torch.Tensor, int, int]] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        frame = next(user_frames(sys._getframe(1)), None)
        kept.append((tensor, tensor._version, frame.f_lineno if frame is not None else 0))
        return tensor

    with _unheard(model), torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one):
        model(*args, **kwargs)
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


def describe(tensor: torch.Tensor) -> str:
    """Such as "(32, 64) float32"; of whole numbers their range, and the device where it is not the CPU."""
    text = f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"
    if tensor.device.type != "cpu":
        return f"{text} on {tensor.device}"
    if (
        not tensor.is_floating_point()
        and not tensor.is_complex()
        and tensor.dtype != torch.bool
        and 0 < tensor.numel() < 10**7
    ):
        text += f", {int(tensor.min())} to {int(tensor.max())}"
    return text
