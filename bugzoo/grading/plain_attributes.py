"""Which attributes a hand-in may read and set, and which names that begin with an underscore are its own."""

import ast
import sys
from collections.abc import Iterator
from functools import cache

from bugzoo.grading.plain_names import Reason, modules

SPECIAL = frozenset(f"__{name}__" for name in "init call len getitem iter next name enter exit".split())
"""Names with two underscores on both sides that may be read."""
METHODS = frozenset(f"__{name}__" for name in (
    "init post_init call len getitem setitem delitem contains iter next reversed enter exit repr str format eq ne lt le gt ge "
    "hash bool int float index add sub mul truediv floordiv mod pow matmul and or xor radd rsub rmul rtruediv rfloordiv rmod "
    "rpow rmatmul rand ror rxor iadd isub imul itruediv neg pos abs invert round missing length_hint"
).split())  # fmt: skip
"""Methods with two underscores that a class may define: none of them changes how attributes are found."""
LEADS_OUT = frozenset((
    "f_back", "f_globals", "f_locals", "f_builtins", "f_code", "gi_frame", "gi_code", "cr_frame", "ag_frame", "tb_frame",
    "tb_next", "with_traceback", "obj", "tofile", "from_file", "load_library", "open", "unlink", "rename", "chmod", "mkdir",
    "rmdir", "write_text", "write_bytes", "read_text", "read_bytes", "symlink_to", "hardlink_to", "iterdir", "fp", "stream",
    "setStream", "fileno", "stdin", "stdout", "stderr", "makefile", "multiprocessing_context", "reducer", "hub", "jit", "manager",
))  # fmt: skip
"""Attributes that lead to frames, files or another module, whatever they are read from."""
UNLESS_OWN = frozenset(("buffer", "classes", "dump", "export", "glob", "load", "ops", "save", "touch", "walk"))
"""The same, but for a program that defines them: these are usual names as well."""
NEVER = frozenset((
    "os", "sys", "io", "builtins", "importlib", "subprocess", "posix", "shutil", "socket", "ctypes", "inspect", "gc", "pathlib",
    "signal", "threading", "multiprocessing", "pickle", "marshal", "runpy", "code", "codeop", "tempfile", "mmap", "fcntl",
))  # fmt: skip
"""Modules whose names are no attributes of one's own classes either."""


@cache
def harmless() -> frozenset[str]:
    """Return names of modules that are usual attributes: of tensors, arrays and containers, or modules on the list."""
    import numpy
    import torch

    kinds = (torch.Tensor, numpy.ndarray, numpy.random.Generator, torch.nn.Module, str, list, dict, set)
    usual = {name for kind in kinds for name in dir(kind)}
    return frozenset(usual | {name.partition(".")[0] for name in modules()}) - NEVER


@cache
def private() -> frozenset[str]:
    """Return the private attributes of classes that programs derive from: these are not a program's own."""
    import torch
    from torch import nn
    from torch.optim.lr_scheduler import LRScheduler
    from torch.utils import data

    kinds = (
        nn.Module, nn.RNNBase, torch.Tensor, torch.optim.Optimizer, LRScheduler, torch.autograd.Function, data.DataLoader,
        data.Dataset, data.IterableDataset, data.Sampler, dict, list,
    )  # fmt: skip
    return frozenset(name for kind in kinds for name in dir(kind)) | frozenset(vars(nn.Module())) | _of_iterators()


def _of_iterators() -> frozenset[str]:
    return frozenset("_iterator _DataLoader__initialized _step_count _last_lr _fields _replace _asdict".split())


def own_attributes(tree: ast.AST) -> set[str]:
    """Return the attributes that a program sets itself: `self.rate = ...`, and what its classes define."""
    return set(_set(tree))


def _set(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.ClassDef):
            yield from (part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.ClassDef))
            for part in node.body:
                targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def attribute(name: str, own: set[str]) -> list[Reason]:
    """Return why an attribute is outside; `own` are those that the program sets itself."""
    if name in LEADS_OUT or (name in UNLESS_OWN and name not in own):
        return [(name, f"`{name}` leads to frames, files or another module")]
    if name in NEVER or (name in sys.stdlib_module_names and name not in own | harmless()):
        return [(name, f"`{name}` is the name of a module")]
    if name == "forward":
        return [(name, "`forward` by itself calls none of the hooks that see a batch")]
    return underscore(name, own)


def underscore(name: str, own: set[str]) -> list[Reason]:
    """Return why a name that begins with an underscore is outside; `own` are those that the program binds itself."""
    if not name.startswith("_") or not name.strip("_") or name in SPECIAL:
        return []
    if name in own and name not in private() and not name.endswith("__"):
        return []
    return [(name, f"`{name}` begins with an underscore, and the program does not define it")]
