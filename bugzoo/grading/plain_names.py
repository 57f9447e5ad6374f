"""What a hand-in may import, and what a chain such as `torch.nn.functional.relu` is."""

import ast
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

MODULES = frozenset((
    "collections", "collections.abc", "copy", "dataclasses", "functools", "itertools", "math", "random", "time", "typing",
    "numpy", "numpy.fft", "numpy.linalg", "numpy.random",
    "sklearn", "sklearn.datasets", "sklearn.metrics", "sklearn.model_selection", "sklearn.preprocessing", "sklearn.utils",
    "torch", "torch.amp", "torch.autograd", "torch.autograd.functional", "torch.backends", "torch.backends.cuda",
    "torch.backends.cudnn", "torch.backends.mkldnn", "torch.backends.mps", "torch.compiler", "torch.cpu", "torch.cuda",
    "torch.cuda.amp", "torch.distributed", "torch.distributions", "torch.fft", "torch.func", "torch.linalg",
    "torch.nested", "torch.nn", "torch.nn.attention", "torch.nn.functional", "torch.nn.init", "torch.nn.parallel",
    "torch.nn.parameter", "torch.nn.utils", "torch.nn.utils.parametrizations", "torch.nn.utils.rnn", "torch.optim",
    "torch.optim.lr_scheduler", "torch.optim.swa_utils", "torch.random", "torch.sparse", "torch.special", "torch.utils",
    "torch.utils.checkpoint", "torch.utils.data", "torch.utils.data.distributed", "torch.version",
    "torchvision", "torchvision.ops", "torchvision.transforms", "torchvision.transforms.functional",
    "torchvision.transforms.v2", "torchvision.transforms.v2.functional",
))  # fmt: skip
"""What a hand-in may import, and the modules that a chain may pass through."""
FILES_AND_MODES = frozenset((
    "load", "save", "hub", "from_file", "compile_with_cxx", "set_default_device", "set_default_dtype",
    "set_default_tensor_type", "savez", "savez_compressed", "savetxt", "loadtxt", "genfromtxt", "fromfile", "fromregex",
    "memmap", "load_files", "load_svmlight_file", "dump_svmlight_file", "fetch_openml", "get_type_hints", "ForwardRef",
    "get_include", "run_module", "spawn", "register_module_forward_hook", "import_ir_module",
))  # fmt: skip
"""Functions of these modules that read or write files, evaluate text, or change a mode of the whole process."""
CONTAINERS = (dict, list, set)


Reason = tuple[str, str]
"""The name that an instructor would have to allow, and why it is outside."""


@dataclass(frozen=True)
class Imported:
    """Something that belongs to an imported module, and its dotted path."""

    path: str
    value: Any


def within(name: str, allowed: Sequence[str]) -> bool:
    """Return whether a name is allowed, itself or with a module around it."""
    return any(name == one or name.startswith(one + ".") for one in allowed)


class Imports:
    """The names that a program's imports bind, and the chains that begin with them."""

    def __init__(self, tree: ast.Module) -> None:
        self.bound: dict[str, Imported] = {}
        for node in ast.walk(tree):
            for name, path in _names(node):
                if (_listed(path) or _listed(path.rpartition(".")[0])) and (value := _load(path)) is not None:
                    self.bound[name] = Imported(path, value)
        for node in ast.walk(tree):  # `F = torch.nn.functional` is another name for it
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                found = self.resolve(node.value)
                if found and isinstance(found.value, ModuleType | type):
                    self.bound[node.targets[0].id] = found

    def refused(self, node: ast.Import | ast.ImportFrom) -> list[Reason]:
        """Return why an import is outside."""
        if isinstance(node, ast.ImportFrom) and (node.level or any(one.name == "*" for one in node.names)):
            return [(node.module or ".", "an import that does not say which names it binds")]
        found: list[Reason] = []
        for _, path in _names(node):
            owner, _, last = path.rpartition(".")
            if not (_listed(path) or (isinstance(node, ast.ImportFrom) and _listed(owner))):
                found.append((path, f"`{path}` is not among the modules that a repair may import"))
            elif last.startswith("_"):
                found.append((path, f"`{last}` begins with an underscore"))
            elif isinstance(node, ast.ImportFrom):
                found += _closed(path, _load(path))
        return found

    def path(self, node: ast.AST) -> str:
        """Return the dotted path of what belongs to an imported module; "" for anything else."""
        found = self.resolve(node)
        return found.path if found else ""

    def resolve(self, node: ast.AST) -> Imported | None:
        """Return what a name or a chain of attributes is, if an import binds its first name; else None."""
        chain: list[str] = []
        while isinstance(node, ast.Attribute):
            chain.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.bound:
            return None
        found = self.bound[node.id]
        for name in chain:
            path = f"{found.path}.{name}"
            if _listed(path):
                _load(path)  # a submodule is an attribute once it is imported
            if not hasattr(found.value, name):
                return None
            found = Imported(path, getattr(found.value, name))
        return found

    def as_value(self, node: ast.Name | ast.Attribute, parent: ast.AST) -> list[Reason]:
        """Return why a chain is outside: it ends in a module that is not on the list, or hands on a module itself."""
        found = self.resolve(node)
        if found is None:
            return []
        read_on = isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Assign) and parent.value is node)
        if why := _closed(found.path, found.value):
            return why
        if isinstance(found.value, ModuleType) and not read_on and isinstance(node.ctx, ast.Load):
            return [(found.path, f"`{found.path}` is handed on as a value")]
        return []


def _listed(path: str) -> bool:
    return path in MODULES


def _closed(path: str, value: Any) -> list[Reason]:
    """Return why what a path leads to is outside."""
    owner, _, name = path.rpartition(".")
    if isinstance(value, ModuleType):
        real = value.__name__
        return [] if _listed(real) or _listed(path) else [(real, f"`{path}` leads to the module `{real}`")]
    if name in FILES_AND_MODES or name.startswith("register_module_"):
        return [(path, f"`{path}` reads or writes files, or changes a mode of the whole process")]
    if isinstance(value, CONTAINERS) and owner in MODULES and not owner.startswith("torch.backends"):
        return [(path, f"`{path}` is a container that its module reads")]
    return []


def _names(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (name, dotted path) that an import binds; `import torch.nn` binds `torch`."""
    if isinstance(node, ast.Import):
        for one in node.names:
            yield (one.asname, one.name) if one.asname else (one.name.partition(".")[0], one.name.partition(".")[0])
            if not one.asname and "." in one.name:
                yield one.name, one.name  # never a name of the program, but a path that is checked
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for one in node.names:
            yield one.asname or one.name, f"{node.module}.{one.name}"


def _load(path: str) -> Any:
    """Return what a dotted path of a module on the list leads to; None where there is no such thing here."""
    try:
        return importlib.import_module(path)
    except Exception:
        owner, _, name = path.rpartition(".")
        try:
            return getattr(importlib.import_module(owner), name, None) if owner else None
        except Exception:
            return None
