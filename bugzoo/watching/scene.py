"""Where a run crashed: the module that was being called, what reached it on which way, and the tensors in the line.

Read from the traceback's frames while they are there; nothing is run. What takes another forward pass is left to
`bugzoo.rerun.crashed`, which needs the call of the model: `calls` keeps it.
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
"""The model that was called last on a sampled step, and what with."""


def scene(error: BaseException, latest: Latest | None = None) -> dict[str, Any]:
    """What is known of a crash beyond its message, in plain values; what cannot be found out is left out.

    `module`: the innermost module in whose forward() it happened: name, repr, shapes of its parameters and of what it got.
    `line`: [name, tensor] of the tensors that the failing line of the script names. `called`: the same of the arguments of the
    last function of torch. `carried`: tensors with a graph that the loop takes over from one turn to the next. Of `latest`, the
    call of a model before a backward() that failed: `trainable`, how many parameters ask for gradients, and of how many.

    `bugzoo.rerun.crashed` adds, when it is asked: `way`, [name, what came out] of the modules that ran before `module` in the
    same call; `changed`, [line that kept a tensor, the tensor] of each that was changed before backward(); `stepped`, the
    parameter that was.
    """
    frames, message = list(_frames(error.__traceback__)), str(error)
    found: dict[str, Any] = {}
    parts = [lambda: _module(frames), lambda: _line(frames), lambda: _called(frames)]
    if "a second time" in message:
        parts.append(lambda: _carried(frames))
    if latest is not None and "does not require grad" in message:
        parts.append(
            lambda: {
                "trainable": [sum(p.requires_grad for p in latest[0].parameters()), len(list(latest[0].parameters()))]
            }
        )
    for part in parts:
        try:
            found |= part()
        except Exception:  # an explanation is no reason to fail
            continue
    return found


def calls(error: BaseException, latest: Latest | None = None) -> Crashed | None:
    """The forward pass that failed, or the one before a backward() that did; None where no other pass could tell more.

    Also where other processes take part: a forward pass that one of them makes alone might wait for the others for ever.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return None
    failed = None
    with contextlib.suppress(Exception):  # an explanation is no reason to fail
        failed = _failed([frame for frame, _ in _frames(error.__traceback__)])
    before = ModuleCall(*latest) if latest is not None and "inplace operation" in str(error) else None
    return Crashed(str(error), failed, before) if failed or before else None


def _failed(frames: list[FrameType]) -> ModuleCall | None:
    """The call of the outermost module in whose forward() it happened; None where it was outside of any."""
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
    """Those of modules' forward(), outermost first."""
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
    given = [value for name, value in forwards[-1].f_locals.items() if name in _parameters(forwards[-1])]
    return {
        "module": {
            "name": names.get(module, "") or type(module).__name__,
            "repr": repr(module).splitlines()[0].removesuffix("("),
            "parameters": [[name, list(p.shape)] for name, p in module.named_parameters(recurse=False)],
            "given": [describe(one) for one in tree_leaves(given) if isinstance(one, torch.Tensor)],
        }
    }


def _parameters(frame: FrameType) -> tuple[str, ...]:
    code = frame.f_code
    return code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)]


def _line(frames: list[tuple[FrameType, int]]) -> dict[str, Any]:
    """The tensors, and sizes, that the script's own failing line names."""
    user = [(frame, line) for frame, line in frames if is_user_file(frame.f_code.co_filename)]
    if not user:
        return {}
    frame, line = user[-1]
    text = "".join(linecache.getlines(frame.f_code.co_filename))
    statement = next(
        (node for node in reversed(_simple(parse(text))) if node.lineno <= line <= (node.end_lineno or line)), None
    )
    found = []
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Name | ast.Attribute):
            value = _value(node, frame)
            if isinstance(value, torch.Tensor):
                found.append([ast.unparse(node), describe(value)])
    return {"line": sorted(map(list, {tuple(one) for one in found}))}


def _simple(tree: ast.Module) -> list[ast.stmt]:
    """Statements that hold no others, in the order of the text."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body")]


def _value(node: ast.expr, frame: FrameType) -> Any:
    """The value of a name, or of an attribute of one; nothing is called."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, frame)
        return getattr(owner, node.attr, None) if isinstance(owner, nn.Module) else None
    return None


def _called(frames: list[tuple[FrameType, int]]) -> dict[str, Any]:
    """Tensors among the arguments of torch's own Python function, such as F.cross_entropy, that raised."""
    last = frames[-1][0] if frames else None
    if last is None or is_user_file(last.f_code.co_filename):
        return {}
    names = last.f_code.co_varnames[: last.f_code.co_argcount]
    values = [[name, last.f_locals.get(name)] for name in names]
    return {"called": [last.f_code.co_name, [[n, describe(v)] for n, v in values if isinstance(v, torch.Tensor)]]}


def _carried(frames: list[tuple[FrameType, int]]) -> dict[str, Any]:
    """Names that the innermost loop around the failing line reads before it binds them, and that hold a graph."""
    frame, line = [one for one in frames if is_user_file(one[0].f_code.co_filename)][-1]
    tree = parse("".join(linecache.getlines(frame.f_code.co_filename)))
    loops = [
        n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While) and n.lineno <= line <= (n.end_lineno or line)
    ]
    if not loops:
        return {}
    read, bound = set(), set()
    for statement in max(loops, key=lambda one: one.lineno).body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        read |= {node.id for node in names if isinstance(node.ctx, ast.Load)} - bound
        bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    values = {name: frame.f_locals.get(name, frame.f_globals.get(name)) for name in sorted(read & bound)}
    tensors = {
        name: [one for one in tree_leaves(value) if isinstance(one, torch.Tensor)] for name, value in values.items()
    }
    return {
        "carried": [[name, describe(some[0])] for name, some in tensors.items() if some and some[0].grad_fn is not None]
    }
