"""The device of each tensor in a run that crashed, and the line that put it there."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NotRequired, TypedDict

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


class Tensor(TypedDict):
    """`line` (from 1): where the script created or moved it. `dealt`: whether a loop assigns it; only in a batch."""

    name: str
    device: str
    line: int | None
    dealt: NotRequired[bool]


@dataclass(frozen=True)
class Placed:
    """Where the tensors of a crash are.

    `weights`: one for each device of each model. `strays`: buffers and attributes of a model on another device than its
    weights. `batch`: the tensors that the failing line of the loop names.
    """

    weights: list[Tensor]
    strays: list[Tensor]
    batch: list[Tensor]

    @property
    def devices(self) -> int:
        """Return the number of devices."""
        return len({tensor["device"] for tensor in (*self.weights, *self.strays, *self.batch)})

    @property
    def batch_apart(self) -> bool:
        """Return whether a tensor that the loop assigns is on another device than the weights."""
        return any(tensor.get("dealt") for tensor in self._elsewhere())

    @property
    def made_apart(self) -> bool:
        """Return whether only tensors that no loop assigns are on another device than the weights."""
        return bool(self._elsewhere()) and not self.batch_apart

    def _elsewhere(self) -> list[Tensor]:
        homes = {tensor["device"] for tensor in self.weights}
        return [tensor for tensor in self.batch if homes and tensor["device"] not in homes]


def placed(run: Run) -> Placed:
    """Return the tensors of a run that crashed, with their devices and lines."""
    variables, lines = _variables(run), _Lines(run.source or "")
    weights: list[Tensor] = []
    strays: list[Tensor] = []
    for owner, root in _roots(run, variables):
        parameters = list(root.named_parameters())
        homes = {str(weight.device) for _, weight in parameters}
        for home in sorted(homes):
            name = next(name for name, weight in parameters if str(weight.device) == home)
            weights.append({"name": name, "device": home, "line": lines.of_name(owner)})
        for name, tensor in _others(root):
            if len(homes) == 1 and str(tensor.device) not in homes:
                strays.append({"name": name, "device": str(tensor.device), "line": lines.of_attribute(name)})
    failing = _failing(run)
    batch = [
        Tensor(name=name, device=str(value.device), line=lines.of_name(name, before=failing), dealt=name in lines.dealt)
        for name in lines.named_in(failing)
        if isinstance(value := variables.get(name), torch.Tensor)
    ]
    return Placed(weights, strays, batch)


def where(tensors: Placed) -> tuple[str, str]:
    """(cause, which tensor is on which device)."""
    weights, strays, batch = tensors.weights, tensors.strays, tensors.batch
    if strays:
        return "device/tensor_created_on_default_device", f"{_listed(strays)}, but the weights are on {_homes(weights)}"
    if len(weights) > 1:
        return "device/half_on_cpu_half_on_gpu", f"the weights are on {len(weights)} devices: {_listed(weights)}"
    if tensors.batch_apart or tensors.made_apart:
        name = "batch_left_on_cpu" if tensors.batch_apart else "tensor_created_on_default_device"
        return f"device/{name}", f"{_listed(batch)}, but the weights are on {_homes(weights)}: {_listed(weights)}"
    if weights and batch and tensors.devices == 1:
        text = f"weights and batch are on {_homes(weights)}, so the line itself creates a tensor on another device"
        return "device/tensor_created_on_default_device", text
    return "device/batch_left_on_cpu", _listed([*batch, *weights]) or "the tensors on that line are unknown"


def _listed(tensors: list[Tensor]) -> str:
    places = [
        f"{tensor['name']} on {tensor['device']}" + (f" (line {tensor['line']})" if tensor["line"] else "")
        for tensor in tensors
    ]
    return ", ".join(places[:4]) + (f" and {len(places) - 4} more" if len(places) > 4 else "")


def _homes(tensors: list[Tensor]) -> str:
    return " and ".join(sorted({tensor["device"] for tensor in tensors})) or "another device"


def _variables(run: Run) -> dict[str, object]:
    """The variables of the script, and of the frame with its loop."""
    live = getattr(run.trace, "live", None)
    return {**run.namespace, **(live.namespace if live else {})}


def _roots(run: Run, variables: dict[str, object]) -> Iterator[tuple[str, torch.nn.Module]]:
    """Models with their names in the script. A model that is part of another one is left out."""
    live = getattr(run.trace, "live", None)
    models = [(name, value) for name, value in variables.items() if isinstance(value, torch.nn.Module)]
    models += [("", model) for model in (live.models if live else ()) if not any(model is other for _, other in models)]
    inner = {id(child) for _, model in models for child in model.modules() if child is not model}
    for name, module in models:
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
    traceback = run.trace.error.get("traceback") or ""
    frames = [frame for frame in _FRAME.finditer(traceback) if frame["file"] == run.file]
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
        lines = [n.lineno for n in self.assigned for t in targets(n) if name_of(t) == name]
        lines += [n.lineno for n in self.loops for t in ast.walk(n.target) if isinstance(t, ast.Name) and t.id == name]
        return max((line for line in lines if before is None or line < before), default=None)

    def of_attribute(self, path: str) -> int | None:
        """The line that sets `self.NAME`, or registers a buffer of that name."""
        name = path.rpartition(".")[2]
        lines = [n.lineno for n in self.assigned for t in targets(n) if isinstance(t, ast.Attribute) and t.attr == name]
        lines += [
            n.lineno
            for n in ast.walk(self.tree)
            if isinstance(n, ast.Call)
            and name_of(n.func).endswith("register_buffer")
            and n.args
            and isinstance(n.args[0], ast.Constant)
            and n.args[0].value == name
        ]
        return min(lines, default=None)

    def named_in(self, line: int | None) -> list[str]:
        """Names that the innermost statement at a line reads, each once."""
        statements = [
            n
            for n in ast.walk(self.tree)
            if isinstance(n, ast.stmt) and line is not None and n.lineno <= line <= (n.end_lineno or n.lineno)
        ]
        if not statements:
            return []
        smallest = min(statements, key=lambda n: (n.end_lineno or n.lineno) - n.lineno)
        used = [n.id for n in ast.walk(smallest) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        return list(dict.fromkeys(used))
