"""The device that the programs of a notebook run on. The notebook's first line chooses it: `device = "cpu"`.

"auto" is `$BUGZOO_DEVICE` if that is set, else CUDA where torch finds a GPU, else the CPU. A program's text holds the
line `device = "cpu"`; on another device this line is replaced when the program runs. Graders keep to the CPU.
"""

import ast
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from bugzoo.errors import UserError
from bugzoo.syntax import assigned, parse, source_lines, written

CPU = "cpu"
VARIABLE = "BUGZOO_DEVICE"
"""Environment variable that decides for "auto", as in `BUGZOO_DEVICE=cpu bugzoo lab`."""
LINE = 'device = "cpu"  # or "auto", "cuda"'
"""The first line of a notebook's first code cell."""
ABOUT = (
    "The programs run on the CPU, where the numbers of the text were measured. On another CPU some of them differ a little. "
    'You may write `"cuda"`, or `"auto"` for a GPU where there is one. Numbers may differ there, and answers that depend on them.'
)
"""What stands below that cell."""
_CUDA = re.compile(r"cuda(:\d{1,3})?")
_ACCELERATOR = re.compile(r"(cuda|mps|xpu)(:\d{1,3})?")
_used = CPU


def resolved(choice: object, name: str = "device = ") -> str:
    """Return "cpu", "cuda" or such as "cuda:1" for a choice, which may be "auto". `name`: what was typed before it.

    Raises UserError for another value, and for a GPU that is not there.
    """
    if choice == "auto" and (setting := os.environ.get(VARIABLE, "auto")) != "auto":
        return resolved(setting, f"{VARIABLE}=")
    if choice == CPU:
        return CPU
    if choice != "auto" and not (isinstance(choice, str) and _CUDA.fullmatch(choice)):
        raise UserError(
            f'{name}{choice!r} is not allowed. Use "auto", "cpu" or "cuda"; of several GPUs, one is "cuda:1".'
        )
    import torch

    there = torch.cuda.is_available()
    if choice == "auto":
        return "cuda" if there else CPU
    if not there:
        raise UserError(
            f'{name}{choice!r}: torch finds no CUDA GPU here. Use "cpu", or "auto" for a GPU where there is one.'
        )
    if int(str(choice).partition(":")[2] or 0) >= (count := torch.cuda.device_count()):
        raise UserError(f"{name}{choice!r}: there is no such GPU here. The last one is cuda:{count - 1}.")
    return str(choice)


def use(choice: object) -> str:
    """Choose the device for the programs of this kernel, and return it. Raises UserError and changes nothing."""
    global _used
    _used = resolved(choice)
    return _used


def used() -> str:
    """Return the device that was chosen in this kernel; the CPU before that."""
    return _used


# ---- a program's text


def of_text(source: str) -> str:
    """Return the device that a program's line `device = "..."` names; the CPU without such a line."""
    try:
        value = assigned(source).get("device")
    except (SyntaxError, ValueError):
        return CPU
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else CPU


def on_device(source: str, device: str) -> str:
    """Return a program's text with its line `device = "cpu"` replaced.

    The text stays as it is for the CPU, without this very line, and while it is not valid Python.
    """
    if device == CPU:
        return source
    return _replaced(source, lambda value: [value] if getattr(value, "value", None) == CPU else [], device)


def on_cpu(source: str) -> str:
    """Return a submission's text for the grader: where its `device` names an accelerator, it names the CPU."""
    return _replaced(source, _accelerators, CPU)


def _replaced(source: str, which: Callable[[ast.expr], list[Any]], device: str) -> str:
    """Return `source` with strings in the values of `device` replaced; `which` returns the strings of one value."""
    try:
        strings = [string for value in _values(source) for string in which(value) if string.lineno == string.end_lineno]
    except (SyntaxError, ValueError, RecursionError):
        return source
    lines = source_lines(source, keepends=True)
    for node in sorted(strings, key=lambda one: one.col_offset, reverse=True):  # from the right: places stay
        written(lines, node, f'"{device}"')
    return "".join(lines)


def _values(source: str) -> Iterator[ast.expr]:
    """Yield what is assigned to `device` at the top level."""
    for node in parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "device" for target in targets) and getattr(
            node, "value", None
        ):
            yield node.value


def _accelerators(value: ast.expr) -> list[Any]:
    """Return the strings such as "cuda:0" in a value; none where a string is put together."""
    inner = list(ast.walk(value))
    if any(isinstance(node, ast.JoinedStr) for node in inner):
        return []
    return [node for node in inner if isinstance(node, ast.Constant) and _ACCELERATOR.fullmatch(str(node.value))]


# ---- what plots and tables say


def said(device: str) -> str:
    """Return a device in words: "the CPU", or its name."""
    return "the CPU" if device == CPU else device


def places(here: str, there: str, *, recorded: bool = False) -> tuple[str, str]:
    """Return what to add to the names of a run and of its twin: the device of each, nothing if both ran on the CPU.

    `recorded`: the twin did not run in this notebook, so that its device may be another.
    """
    if here == there == CPU:
        return "", ""
    how = "recorded on" if recorded and here != there else "on"
    return f", on {said(here)}", f", {how} {said(there)}"
