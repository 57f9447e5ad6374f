"""The device of each tensor in a run that crashed, and the line that put it there."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import torch

from bugzoo.diagnostics._source import name_of, targets
from bugzoo.running.result import Run
from bugzoo.syntax import parse

MESSAGES = (
    r"[Ee]xpected all tensors to be on the same device|is not on the expected device|are not at the same device|"
    r"Expected object of device type|Input type .* and weight type .* should be the same|out of meta tensor|"
    r"on meta tensors"
)
"""What torch says, by version and operation, if tensors are on several devices or have no data ('meta')."""
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
Tensor = dict[str, Any]
"""{"name", "device", "line"}: the line (from 1) in which the script created or moved it, None if that is unknown."""


def placed(run: Run) -> dict[str, Any]:
    """Numbers about devices: `weights`, `strays` and `batch`, lists of tensors, and the number of devices.

    `strays` are buffers and attributes of a model on another device than its weights. `batch` holds the tensors that the
    failing line of the loop names.
    """
    held, lines = _held(run), _Lines(run.source or "")
    weights: list[Tensor] = []
    strays: list[Tensor] = []
    for owner, root in _roots(run, held):
        mine = list(root.named_parameters())
        homes = {str(weight.device) for _, weight in mine}
        for home in sorted(homes):
            name = next(name for name, weight in mine if str(weight.device) == home)
            weights.append({"name": name, "device": home, "line": lines.of_name(owner)})
        for name, tensor in _others(root):
            if len(homes) == 1 and str(tensor.device) not in homes:
                strays.append({"name": name, "device": str(tensor.device), "line": lines.of_attribute(name)})
    batch = [
        {"name": name, "device": str(held[name].device), "line": lines.of_name(name, before=_failing(run))}
        | {"dealt": name in lines.dealt}
        for name in lines.named_in(_failing(run))
        if isinstance(held.get(name), torch.Tensor)
    ]
    homes = {one["device"] for one in weights}
    apart = [one for one in batch if one["device"] not in homes] if homes else []
    return {
        "devices": float(len(homes | {one["device"] for one in (*strays, *batch)})),
        "weights": weights,
        "strays": strays,
        "batch": batch,
        "stray_tensors": float(len(strays)),
        "batch_apart": float(any(one["dealt"] for one in apart)),
        "made_apart": float(bool(apart) and not any(one["dealt"] for one in apart)),
    }


def where(numbers: dict[str, Any]) -> tuple[str, str]:
    """(cause, which tensor is on which device) from the numbers of `placed`."""
    weights, strays, batch = numbers["weights"], numbers["strays"], numbers["batch"]
    if strays:
        return "device/tensor_created_on_default_device", f"{_listed(strays)}, but the weights are on {_homes(weights)}"
    if len(weights) > 1:
        return "device/half_on_cpu_half_on_gpu", f"the weights are on {len(weights)} devices: {_listed(weights)}"
    if numbers["batch_apart"] or numbers["made_apart"]:
        name = "batch_left_on_cpu" if numbers["batch_apart"] else "tensor_created_on_default_device"
        return f"device/{name}", f"{_listed(batch)}, but the weights are on {_homes(weights)}: {_listed(weights)}"
    if weights and batch and len({one["device"] for one in (*weights, *batch)}) == 1:
        text = f"weights and batch are on {_homes(weights)}, so the line itself creates a tensor on another device"
        return "device/tensor_created_on_default_device", text
    return "device/batch_left_on_cpu", _listed([*batch, *weights]) or "the tensors on that line are unknown"


def _listed(tensors: list[Tensor]) -> str:
    said = [f"{one['name']} on {one['device']}" + (f" (line {one['line']})" if one["line"] else "") for one in tensors]
    return ", ".join(said[:4]) + (f" and {len(said) - 4} more" if len(said) > 4 else "")


def _homes(tensors: list[Tensor]) -> str:
    return " and ".join(sorted({one["device"] for one in tensors})) or "another device"


def _held(run: Run) -> dict[str, Any]:
    """The variables of the script, and of the frame with its loop."""
    live = getattr(run.trace, "live", None)
    return {**run.namespace, **(live.namespace if live else {})}


def _roots(run: Run, held: dict[str, Any]) -> Iterator[tuple[str, torch.nn.Module]]:
    """Models with their names in the script. A model that is part of another one is left out."""
    live = getattr(run.trace, "live", None)
    found = [(name, value) for name, value in held.items() if isinstance(value, torch.nn.Module)]
    found += [("", model) for model in (live.models if live else ()) if not any(model is one for _, one in found)]
    inner = {id(child) for _, one in found for child in one.modules() if child is not one}
    for name, module in found:
        if id(module) not in inner and next(module.parameters(), None) is not None:
            yield name, module


def _others(root: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Buffers, and tensors that are plain attributes, which .to() does not move."""
    yield from root.named_buffers()
    for path, module in root.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                yield f"{path}.{name}".lstrip("."), value


def _failing(run: Run) -> int | None:
    """The line of the script's outermost frame: a line of the loop, if the error was raised inside a model."""
    frames = [one for one in _FRAME.finditer(run.trace.error.get("traceback") or "") if one["file"] == run.file]
    return int(frames[0]["line"]) if frames else run.trace.error.get("line")


class _Lines:
    """Where a script assigns its variables."""

    def __init__(self, source: str) -> None:
        try:
            self.tree = parse(source)
        except (SyntaxError, ValueError, RecursionError):
            self.tree = ast.Module([], [])
        self.assigned = [node for node in ast.walk(self.tree) if isinstance(node, ast.Assign)]
        self.loops = [node for node in ast.walk(self.tree) if isinstance(node, ast.For)]
        self.dealt = {n.id for loop in self.loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        """Names that are assigned within a loop, mostly those of a batch."""
        within = {n for loop in self.loops for n in ast.walk(loop) if isinstance(n, ast.Assign)}
        self.dealt |= {name_of(t) for n in within for t in targets(n)}

    def of_name(self, name: str, before: int | None = None) -> int | None:
        """The last line (before line `before`) that assigns `name`, or that loops with `name` as its target."""
        found = [n.lineno for n in self.assigned for t in targets(n) if name_of(t) == name]
        found += [n.lineno for n in self.loops for t in ast.walk(n.target) if isinstance(t, ast.Name) and t.id == name]
        return max((line for line in found if before is None or line < before), default=None)

    def of_attribute(self, path: str) -> int | None:
        """The line that sets `self.NAME`, or registers a buffer of that name."""
        name = path.rpartition(".")[2]
        found = [n.lineno for n in self.assigned for t in targets(n) if isinstance(t, ast.Attribute) and t.attr == name]
        found += [
            n.lineno
            for n in ast.walk(self.tree)
            if isinstance(n, ast.Call)
            and name_of(n.func).endswith("register_buffer")
            and n.args
            and isinstance(n.args[0], ast.Constant)
            and n.args[0].value == name
        ]
        return min(found, default=None)

    def named_in(self, line: int | None) -> list[str]:
        """Names that the innermost statement at a line reads, each once."""
        mine = [
            n
            for n in ast.walk(self.tree)
            if isinstance(n, ast.stmt) and line is not None and n.lineno <= line <= (n.end_lineno or n.lineno)
        ]
        if not mine:
            return []
        smallest = min(mine, key=lambda n: (n.end_lineno or n.lineno) - n.lineno)
        used = [n.id for n in ast.walk(smallest) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        return list(dict.fromkeys(used))
