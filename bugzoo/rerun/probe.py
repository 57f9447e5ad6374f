"""Find the first operation whose result is not finite, in a step that is being re-run."""

import linecache
import re
import sys
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as torch_module
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.hooks import RemovableHandle

from bugzoo.watching.graph import nodes
from bugzoo.watching.loop import is_user_file, user_frames

_FILLS = (
    "masked_fill", "where", "full", "fill", "tensor", "as_tensor", "new_", "empty", "zeros", "ones", "to", "clone",
    "detach", "triu", "tril", "index_fill", "scatter", "setitem", "getitem", "copy",
)  # fmt: skip
"""Operations that write a given value: -inf from them is a mask, not a bug."""
_NAMES = {
    "truediv": "div", "rtruediv": "div", "radd": "add", "rmul": "mul", "rsub": "sub", "rpow": "pow", "iadd": "add",
    "imul": "mul", "isub": "sub", "itruediv": "div",
}  # fmt: skip


def _leaves(value: Any) -> list[torch.Tensor]:
    leaves = [t for t in tree_leaves(value) if isinstance(t, torch.Tensor) and t.is_floating_point() and t.numel()]
    return [t._values() if t.layout is torch.sparse_coo else t for t in leaves]


def op_name(function: Any) -> str:
    """Return `log` for torch.log, Tensor.log_ and the like, `div` for the operator."""
    name = getattr(function, "__name__", str(function)).strip("_")
    return _NAMES.get(name, name)


def place(frame: Any) -> dict[str, Any]:
    """Return file, line and text of the watched code's innermost line."""
    for inner in user_frames(frame):
        file, line = inner.f_code.co_filename, inner.f_lineno
        return {"file": file, "line": line, "code": linecache.getline(file, line).strip()}
    return {"file": None, "line": None, "code": ""}


class Probe(TorchFunctionMode):
    """Checks every operation's result while it is active, forward and backward. `first` is the earliest finding."""

    def __init__(self, names: dict[int, str]) -> None:
        super().__init__()
        self.names = names
        self.first: dict[str, Any] | None = None
        self.watching = True
        self._stack: list[nn.Module] = []
        self._owner: dict[Any, dict[str, Any]] = {}
        self._suspect: dict[str, Any] | None = None

    # -- modules ------------------------------------------------------------------------------------------------------

    def __enter__(self) -> "Probe":
        pre, post = torch_module._global_forward_pre_hooks, torch_module._global_forward_hooks
        self._ids = RemovableHandle(pre).id, RemovableHandle(post).id
        pre[self._ids[0]] = self._enter
        post[self._ids[1]] = self._leave
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        torch_module._global_forward_pre_hooks.pop(self._ids[0], None)
        torch_module._global_forward_hooks.pop(self._ids[1], None)

    def _enter(self, module: nn.Module, args: Any) -> None:
        if not self._stack and self.first is None and self.watching and _nan(_leaves(args)):
            self.first = {"module": self._name(module), "op": "input", "direction": "forward"}
            self.first |= place(sys._getframe(1))
        self._stack.append(module)

    def _leave(self, module: nn.Module, args: Any, output: Any) -> None:
        if self._suspect is None and self.first is None and self.watching:
            # An operation that no function mode sees (a custom autograd.Function) is at least found by its module.
            if _bad(_leaves(output)) and not _bad(_leaves(args)):
                self._suspect = {"module": self._name(module), "op": type(module).__name__, "direction": "forward"}
                self._suspect |= place(sys._getframe(1))
        while self._stack and self._stack.pop() is not module:
            pass

    def _name(self, module: nn.Module | None) -> str:
        if module is None:
            return "training loop"
        return self.names.get(id(module), type(module).__name__)

    # -- forward ------------------------------------------------------------------------------------------------------

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = op_name(func)
        if name in ("get", "backward", "set", "repr", "dim", "size", "register_hook", "requires_grad"):
            return func(*args, **kwargs)
        inputs = _leaves((args, kwargs)) if self.watching else []
        clean = self.first is None and self.watching
        had_nan, had_inf = (_nan(inputs), _inf(inputs)) if clean else (False, False)
        result = func(*args, **kwargs)
        if not self.watching:
            return result
        out = _leaves(result)
        here = None
        if clean and out:
            nan, inf = _nan(out), _inf(out)
            numbers = (leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, float))
            explicit = name.startswith(_FILLS) or any(number - number != 0 for number in numbers)
            if not had_nan and ((nan and (had_inf or not explicit)) or (inf and not had_inf and not explicit)):
                here = self._here(name)
                self.first = {**here, "direction": "forward"}
            elif nan and had_nan:  # no earlier operation made it: it came in from outside
                self.first = {**self._here("input"), "direction": "forward"}
        for tensor in out:
            if tensor.grad_fn is not None:
                self._own(tensor.grad_fn, inputs, here or self._here(name))
        return result

    def _here(self, name: str) -> dict[str, Any]:
        module = self._stack[-1] if self._stack else None
        return {"module": self._name(module), "op": name, **place(sys._getframe(2))}

    def _own(self, node: Any, given: list[torch.Tensor], owner: dict[str, Any]) -> None:
        """Record the line that made `node` and the earlier nodes of the same call."""
        queue = [node]
        while queue:
            head = queue.pop()
            if head is None or head in self._owner or head.name().endswith("AccumulateGrad"):
                continue
            self._owner[head] = owner
            queue += [parent for parent, _ in head.next_functions]

    # -- backward -----------------------------------------------------------------------------------------------------

    def before_backward(self, root: Any) -> None:
        """Put a hook on every node of the graph of `root`."""
        roots = root if isinstance(root, list | tuple) else [root]
        for tensor in roots:
            if isinstance(tensor, torch.Tensor) and tensor.grad_fn is not None and self.watching:
                for node in nodes(tensor.grad_fn):
                    if not node.name().endswith("AccumulateGrad"):
                        node.register_hook(self._hook(node))

    def _hook(self, node: Any) -> Any:
        def look(grad_inputs: Any, grad_outputs: Any) -> None:
            if self.first is None and self.watching:
                if _bad(_leaves(grad_inputs)) and not _bad(_leaves(grad_outputs)):
                    origin = self._owner.get(node) or _from_anomaly(node)
                    self.first = {**origin, "op": _short(node.name()), "direction": "backward"}

        return look

    def result(self) -> dict[str, Any] | None:
        """Return the first finding: {"module", "op", "direction", "file", "line", "code"}."""
        return self.first or self._suspect


def _short(name: str) -> str:
    """Return `log` for LogBackward0."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", re.sub(r"Backward\d*$", "", name)).lower()


def _from_anomaly(node: Any) -> dict[str, Any]:
    """Return the line that anomaly mode recorded when the node was made."""
    lines = "".join(node.metadata.get("traceback_", ()))
    places = [m for m in re.findall(r'File "([^"]+)", line (\d+)', lines) if is_user_file(m[0])]
    file, line = places[-1] if places else (None, 0)
    code = linecache.getline(file or "", int(line)).strip()
    return {"module": None, "file": file, "line": int(line) or None, "code": code}


def _nan(tensors: list[torch.Tensor]) -> bool:
    return any(bool(torch.isnan(t).any()) for t in tensors)


def _inf(tensors: list[torch.Tensor]) -> bool:
    return any(bool(torch.isinf(t).any()) for t in tensors)


def _bad(tensors: list[torch.Tensor]) -> bool:
    return any(not bool(torch.isfinite(t).all()) for t in tensors)
