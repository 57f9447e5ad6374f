"""Where a run crashed: the module that was called, its inputs, and the tensors in the failing line.

All of it is read from the traceback's frames while they exist. Nothing is run. Parts that need another forward pass are
left to `bugzoo.rerun.crashed`. It needs the model's call, which `calls` keeps.
"""

import ast
import contextlib
import linecache
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from bugzoo.syntax import parse
from bugzoo.watching.describe import describe
from bugzoo.watching.live import Crashed, ModuleCall
from bugzoo.watching.loop import is_user_file
from bugzoo.watching.state import detached

Latest = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
"""The model that was called last on a sampled step, and its arguments."""


def scene(error: BaseException, latest: Latest | None = None) -> dict[str, Any]:
    """Return what is known about a crash beyond its message, as plain values. Unknown parts are left out.

    `module`: the innermost module whose forward() failed: name, repr, shapes of its parameters and of its inputs.
    `line`: [name, tensor] of the tensors in the failing line of the script. `called`: the same for the arguments of the
    last torch function. `carried`: tensors with a graph that the loop carries from one iteration to the next.
    `trainable`: how many parameters require gradients, and of how many, in the `latest` model called before a failed
    backward().

    `bugzoo.rerun.crashed` adds later: `way`, [name, output] of the modules that ran before `module` in the same call;
    `changed`, [line that saved a tensor, the tensor] of each tensor that was changed before backward(); `stepped`, the
    parameter that was changed by a step.
    """
    frames, message = list(_frames(error.__traceback__)), str(error)
    facts: dict[str, Any] = {}
    parts = [lambda: _module(frames), lambda: _line(frames), lambda: _called(frames)]
    if "a second time" in message:
        parts.append(lambda: _carried(frames))
    if latest is not None and "does not require grad" in message:
        parts.append(lambda: _trainable(latest[0]))
    for part in parts:
        try:
            facts |= part()
        except Exception:  # a failed explanation must not raise
            continue
    return facts


def calls(error: BaseException, latest: Latest | None = None) -> Crashed | None:
    """Return the forward pass that failed, or the one before a failed backward(). None if another pass would not help.

    Also None in distributed training: a forward pass on one rank alone might wait for the others forever.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return None
    failed = None
    with contextlib.suppress(Exception):  # a failed explanation must not raise
        failed = _failed([frame for frame, _ in _frames(error.__traceback__)])
    before = ModuleCall(*latest) if latest is not None and "inplace operation" in str(error) else None
    return Crashed(str(error), failed, before) if failed or before else None


def _failed(frames: list[FrameType]) -> ModuleCall | None:
    """Return the call of the outermost module whose forward() failed, None if the crash was outside any."""
    forwards = _forwards(frames)
    if not forwards:
        return None
    root = forwards[0].f_locals["self"]
    call = next((f for f in frames if f.f_code.co_name == "_call_impl" and f.f_locals.get("self") is root), None)
    if call is None:
        return None
    return ModuleCall(root, *detached((call.f_locals.get("args", ()), call.f_locals.get("kwargs", {}))))


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _forwards(frames: list[FrameType]) -> list[FrameType]:
    """Return the frames of modules' forward(), outermost first."""
    return [
        frame for frame in frames
        if frame.f_code.co_name == "forward" and isinstance(frame.f_locals.get("self"), nn.Module)
    ]  # fmt: skip


def _module(frames: list[tuple[FrameType, int]]) -> dict[str, Any]:
    forwards = _forwards([frame for frame, _ in frames])
    if not forwards:
        return {}
    root, module = forwards[0].f_locals["self"], forwards[-1].f_locals["self"]
    names = {one: name for name, one in root.named_modules()}
    arguments = [value for name, value in forwards[-1].f_locals.items() if name in _parameters(forwards[-1])]
    return {
        "module": {
            "name": names.get(module, "") or type(module).__name__,
            "repr": repr(module).splitlines()[0].removesuffix("("),
            "parameters": [[name, list(p.shape)] for name, p in module.named_parameters(recurse=False)],
            "given": [describe(one) for one in tree_leaves(arguments) if isinstance(one, torch.Tensor)],
        }
    }


def _parameters(frame: FrameType) -> tuple[str, ...]:
    code = frame.f_code
    return code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)]


def _line(frames: list[tuple[FrameType, int]]) -> dict[str, Any]:
    """Return the tensors that the script's own failing line names."""
    user = [(frame, line) for frame, line in frames if is_user_file(frame.f_code.co_filename)]
    if not user:
        return {}
    frame, line = user[-1]
    text = "".join(linecache.getlines(frame.f_code.co_filename))
    nodes = reversed(_simple(parse(text)))
    statement = next((node for node in nodes if node.lineno <= line <= (node.end_lineno or line)), None)
    tensors = []
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Name | ast.Attribute):
            value = _value(node, frame)
            if isinstance(value, torch.Tensor):
                tensors.append([ast.unparse(node), describe(value)])
    return {"line": sorted(map(list, {tuple(pair) for pair in tensors}))}


def _simple(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements without a body, in source order."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body")]


def _value(node: ast.expr, frame: FrameType) -> Any:
    """Return the value of a name or of its attribute, without calling anything."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, frame)
        return getattr(owner, node.attr, None) if isinstance(owner, nn.Module) else None
    return None


def _trainable(model: nn.Module) -> dict[str, Any]:
    parameters = list(model.parameters())
    return {"trainable": [sum(p.requires_grad for p in parameters), len(parameters)]}


def _called(frames: list[tuple[FrameType, int]]) -> dict[str, Any]:
    """Return the tensor arguments of the torch function in Python, such as F.cross_entropy, that raised."""
    last = frames[-1][0] if frames else None
    if last is None or is_user_file(last.f_code.co_filename):
        return {}
    names = last.f_code.co_varnames[: last.f_code.co_argcount]
    values = [[name, last.f_locals.get(name)] for name in names]
    return {"called": [last.f_code.co_name, [[n, describe(v)] for n, v in values if isinstance(v, torch.Tensor)]]}


def _carried(frames: list[tuple[FrameType, int]]) -> dict[str, Any]:
    """Return names with a graph that the innermost loop around the failing line reads before it assigns them."""
    frame, line = [one for one in frames if is_user_file(one[0].f_code.co_filename)][-1]
    tree = parse("".join(linecache.getlines(frame.f_code.co_filename)))
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    loops = [loop for loop in loops if loop.lineno <= line <= (loop.end_lineno or line)]
    if not loops:
        return {}
    read, bound = set(), set()
    for statement in max(loops, key=lambda one: one.lineno).body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        read |= {node.id for node in names if isinstance(node.ctx, ast.Load)} - bound
        bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    values = {name: frame.f_locals.get(name, frame.f_globals.get(name)) for name in sorted(read & bound)}
    leaves = {name: filter(torch.is_tensor, tree_leaves(value)) for name, value in values.items()}
    tensors = ((name, next(some, None)) for name, some in leaves.items())
    return {"carried": [[name, describe(t)] for name, t in tensors if t is not None and t.grad_fn is not None]}
