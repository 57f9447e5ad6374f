"""What a hand-in may import, and what a chain such as `torch.nn.functional.relu` is. Names only: nothing is imported here."""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

Reason = tuple[str, str]
"""The name that an instructor would have to allow, and why it is outside."""
CALLED: Mapping[str, tuple[int, tuple[str, ...]]] = {
    "functools.wraps": (1, ()),
    "logging.StreamHandler": (0, ()),
    "logging.basicConfig": (0, ("level", "format", "datefmt", "style", "force")),
    "numpy.save": (2, ("file", "arr")),
    "torch.save": (2, ("obj", "f")),
}
"""Functions that do more with other arguments: how many are given by place, and which by name."""


@cache
def modules() -> Mapping[str, frozenset[str]]:
    """Return module -> the names that it gives a hand-in (plain_modules.toml)."""
    with open(Path(__file__).with_name("plain_modules.toml"), "rb") as file:
        return {module: frozenset(names.split()) for module, names in tomllib.load(file).items()}


def within(name: str, allowed: Sequence[str]) -> bool:
    """Return whether a name is allowed, itself or with a module around it."""
    return any(name == entry or name.startswith(entry + ".") for entry in allowed)


class Imports:
    """The names that a program's imports bind, and the chains that begin with them."""

    def __init__(self, tree: ast.Module, times_bound: Counter[str]) -> None:
        self.bound = {name: path for node in ast.walk(tree) for name, path in _names(node)}
        self.aliases: set[ast.expr] = set()
        for node in tree.body:  # `F = torch.nn.functional` is another name for it
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                name, path = node.targets[0].id, self.path(node.value)
                if path and name not in self.bound and (not _is_module(path) or times_bound[name] == 1):
                    self.bound[name] = path
                    self.aliases.add(node.value)

    def of_import(self, node: ast.Import | ast.ImportFrom) -> list[Reason]:
        """Return why an import is outside."""
        if isinstance(node, ast.ImportFrom) and (node.level or any(alias.name == "*" for alias in node.names)):
            return [(node.module or ".", "an import that does not say which names it binds")]
        return [reason for _, path in _names(node) for reason in refused(path)]

    def path(self, node: ast.AST) -> str:
        """Return the dotted path of a name or a chain of attributes that begins with an import; else ""."""
        chain: list[str] = []
        while isinstance(node, ast.Attribute):
            chain.insert(0, node.attr)
            node = node.value
        return ".".join((self.bound[node.id], *chain)) if isinstance(node, ast.Name) and node.id in self.bound else ""

    def of_chain(self, node: ast.Name, parents: Mapping[ast.AST, ast.AST]) -> list[Reason]:
        """Return why the chain that begins with a name is outside: it leaves the list, or hands a module on as a value."""
        chain: ast.expr = node
        while isinstance(parent := parents[chain], ast.Attribute):
            chain = parent
        path = self.path(chain)
        if not path:
            return []
        if _is_module(path) and isinstance(parent, ast.Call) and constant_name(parent) and parent.args[0] is chain:
            return refused(f"{path}.{constant_name(parent)}")
        if _is_module(path) and chain not in self.aliases:
            return [(path, f"the module `{path}` is handed on as a value")]
        return refused(path) or _called(path, chain, parent)

    def read_as_chain(self, node: ast.Attribute) -> bool:
        """Return whether `of_chain` judges an attribute: it is read from a module, or from something off the list."""
        return _is_module(self.path(node.value)) or bool(self.path(node) and refused(self.path(node)))


def constant_name(call: ast.Call) -> str:
    """Return the name that `getattr(x, "name")`, `hasattr` or `setattr` is called with; "" for any other call."""
    by_name = isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr", "setattr")
    name = call.args[1] if by_name and len(call.args) > 1 else None
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


def _is_module(path: str) -> bool:
    return path in modules()


def refused(path: str) -> list[Reason]:
    """Return why what a dotted path leads to is outside."""
    parts = path.split(".")
    lengths = [at for at in range(1, len(parts) + 1) if ".".join(parts[:at]) in modules()]
    if not lengths:
        return [(path, f"`{path}` is not among the modules that a repair may use")]
    module, rest = ".".join(parts[: lengths[-1]]), parts[lengths[-1] :]
    if rest and rest[0] not in modules()[module]:
        return [(f"{module}.{rest[0]}", f"`{module}.{rest[0]}` is not among what a repair may use of `{module}`")]
    return []


def _called(path: str, chain: ast.expr, parent: ast.AST) -> list[Reason]:
    """Return why a function of CALLED is outside: it is no plain call, or one with other arguments."""
    if path not in CALLED:
        return []
    most, names = CALLED[path]
    if isinstance(parent, ast.Call) and parent.func is chain:
        by_place = len(parent.args) <= most and not any(isinstance(arg, ast.Starred) for arg in parent.args)
        if by_place and all(keyword.arg in names for keyword in parent.keywords):
            return []
    arguments = ", ".join((*((f"{most} by place",) if most else ()), *(f"`{name}`" for name in names))) or "none"
    return [(path, f"`{path}` may be called with these arguments only: {arguments}")]


def _names(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (name, dotted path) that an import binds; `import torch.nn` binds `torch`."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
            if not alias.asname and "." in alias.name:
                yield alias.name, alias.name  # never a name of the program, but a path that is checked
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"
