"""A hash of the code that a function needs. A stored result is valid as long as the hash of its code is the same.

Start at a function such as `bugzoo.diagnostics.loss_curve:measure`. Follow the names that it uses, through this
package's modules, to functions, classes and values. Unused code in the same file does not count: a `judge` next to a
`measure`, for example. Nor do comments, docstrings, layout, type hints of functions, names of local variables and messages
(`bugzoo.said`).
Modules are read, not imported. A name that is looked up at run time is not found: give it as another root.
"""

import ast
import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bugzoo.said import said
from bugzoo.syntax import parse

_ROOT = Path(__file__).parent
_PACKAGE = _ROOT.name
Place = tuple[str, str]
"""(module, top-level name). The name is "" for the statements that run on import."""
_Targets = dict[str, tuple[str, str | None]]
"""Name in a file -> (module, name in that module). The second name is None for a whole module."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_SKIPPED = {"ctx", "kind", "type_comment", "returns", "annotation"}


@cache
def code_of(*roots: str, without: frozenset[str] = frozenset()) -> str:
    """Return one hash of all code that `roots` ("module:name", or "module" for all of it) reach.

    `without`: modules and packages to leave out. Raises LookupError for a root that does not exist.
    """
    digest = hashlib.sha256()
    for module, name in sorted(reached(*roots, without=without)):
        digest.update(f"{module}:{name}\n{_module(module).text(name)}\n".encode())
    return digest.hexdigest()


def code_by_module(*roots: str, without: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return module -> hash of its code that `roots` reach; arguments and errors as of `code_of`."""
    texts: dict[str, list[str]] = {}
    for module, name in sorted(reached(*roots, without=without)):
        texts.setdefault(module, []).append(f"{name}\n{_module(module).text(name)}\n")
    return {module: hashlib.sha256("".join(parts).encode()).hexdigest() for module, parts in texts.items()}


def dumped(text: str) -> str:
    """Return Python code as text without comments, docstrings, layout and names of local variables."""
    return _dump(parse(text).body, set())


def used_by(text: str) -> set[tuple[str, str | None]]:
    """Return (module, name) of everything in this package that Python code uses. The name is None for a whole module."""
    here = _Module("", text)
    places = {place for name in ("", *here.nodes) for place in here.uses(name, words=True)}
    return {place for place in places if _file(place[0]) is not None}


def defines(module: str, name: str) -> bool:
    """Return whether a module of this package binds a name in its own text."""
    return _file(module) is not None and _module(module).binds(name)


def of_files() -> str:
    """Return one hash of all files of this package: to read them takes hundredths of a second, to follow names a second."""
    digest = hashlib.sha256()
    for file in sorted(_ROOT.rglob("*.py")):
        digest.update(f"{file.relative_to(_ROOT)} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def reached(*roots: str, without: Iterable[str] = (), words: bool = False) -> set[Place]:
    """Return the places that `roots` need. With `words`, also the places that only messages to a person use.

    Raises LookupError for a root, or a name on the way, that is not found.
    """
    waiting: list[Place] = []
    for root in roots:
        module, _, name = root.partition(":")
        if _file(module) is None or (name and name not in _module(module).nodes | _module(module).imports):
            raise LookupError(f"there is no {root}")
        waiting += list(_resolve(module, name or None))
    rooms = tuple(f"{room}." for room in without)
    places: set[Place] = set()
    while waiting:
        place = waiting.pop()
        if place not in places and not f"{place[0]}.".startswith(rooms):
            places.add(place)
            waiting += _needed(place, words)
    return places


@cache
def _needed(place: Place, words: bool) -> tuple[Place, ...]:
    """Return the places that one place needs itself. Raises LookupError for a name that is not found."""
    needed: set[Place] = {(place[0], "")}
    for module, name in _module(place[0]).uses(place[1], words):
        places = list(_resolve(module, name))
        if not places and module != place[0] and _file(module) and not (name or "").startswith("__"):
            raise LookupError(f"{place[0]} uses {module}.{name}, which is not found")
        needed.update(places)
    return tuple(needed)


def _resolve(module: str, name: str | None) -> Iterator[Place]:
    """Yield the place where a module's name is really defined. For None, every place of the module."""
    if _file(module) is None:
        return
    parsed = _module(module)
    if name is None:
        yield module, ""
        yield from ((module, each) for each in parsed.nodes)
    elif name in parsed.nodes:
        yield module, name
    elif name in parsed.imports:
        yield from _resolve(*parsed.imports[name])
    elif _file(f"{module}.{name}") is not None:
        yield from _resolve(f"{module}.{name}", None)


@cache
def _file(module: str) -> Path | None:
    """Return the file of one of this package's modules, None for any other module."""
    package, *parts = module.split(".")
    if package != _PACKAGE:
        return None
    path = _ROOT.joinpath(*parts)
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if file.is_file():
            return file
    return None


class _Module:
    """One file, split into its top-level statements."""

    def __init__(self, module: str, text: str, package: str = "") -> None:
        self.name, self.package = module, package
        self.nodes: dict[str, list[ast.stmt]] = {}
        """Name -> the statements that define it."""
        self._import_nodes: list[ast.Import | ast.ImportFrom] = []
        self.nodes_of_import: list[ast.stmt] = []
        self._texts: dict[str, str] = {}
        self._uses: dict[tuple[str, bool], set[tuple[str, str | None]]] = {}
        body = parse(text).body
        self._said = said(body)
        self._sort(body)

    def _sort(self, body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import_nodes.append(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.nodes.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
                # a module's `__getattr__` finds these names
                self._import_nodes += [line for line in node.body if isinstance(line, ast.Import | ast.ImportFrom)]
            elif names := _assigned(node):
                for name in names:
                    self.nodes.setdefault(name, []).append(node)
            elif not _is_text(node):
                self.nodes_of_import.append(node)

    @cached_property
    def imports(self) -> _Targets:
        """Name -> what it stands for. Not before it is asked for, as modules of this package import each other."""
        targets: _Targets = {}
        for node in self._import_nodes:
            targets |= self._imported(node)
        return targets

    def binds(self, name: str) -> bool:
        """Return whether the module defines or imports a name."""
        return name in self.nodes or any(
            name == (alias.asname or alias.name) for node in self._import_nodes for alias in node.names
        )

    def _imported(self, node: ast.Import | ast.ImportFrom) -> _Targets:
        if isinstance(node, ast.Import):
            aliases = [alias for alias in node.names if alias.name.split(".")[0] == _PACKAGE]
            return {alias.asname or _PACKAGE: (alias.name if alias.asname else _PACKAGE, None) for alias in aliases}
        base = node.module or ""
        if node.level:
            parent = self.package.split(".")
            base = ".".join(filter(None, [*parent[: len(parent) - node.level + 1], base]))
        targets: _Targets = {}
        for alias in node.names:
            from_itself = base == self.name  # a package that imports its own modules
            whole = _file(f"{base}.{alias.name}") is not None and (from_itself or not defines(base, alias.name))
            targets[alias.asname or alias.name] = (f"{base}.{alias.name}", None) if whole else (base, alias.name)
        return targets if base.split(".")[0] == _PACKAGE else {}

    def _of(self, name: str) -> list[ast.stmt]:
        return self.nodes[name] if name else self.nodes_of_import

    def text(self, name: str) -> str:
        if name not in self._texts:
            self._texts[name] = "\n".join(_dump(node, self._said) for node in self._of(name))
        return self._texts[name]

    def uses(self, name: str, words: bool) -> set[tuple[str, str | None]]:
        """Return (module, name) of everything in this package that a place uses. The name is None for a module."""
        if (name, words) not in self._uses:
            self._uses[name, words] = self._used_by(name, set() if words else self._said)
        return self._uses[name, words]

    def _used_by(self, name: str, skipped: Set[ast.AST]) -> set[tuple[str, str | None]]:
        uses: set[tuple[str, str | None]] = set()
        for top in self._of(name):
            targets = dict(self.imports)
            for node in ast.walk(top):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    targets |= self._imported(node)
            inner = set()
            for node in _walk(top, skipped):  # module.name first: the outer node comes before the inner one
                if isinstance(node, ast.Attribute):
                    uses |= _attribute(node, targets, inner)
                elif isinstance(node, ast.Name) and node not in inner:
                    uses.add(targets.get(node.id, (self.name, node.id)))
        return uses


def _walk(top: ast.AST, skipped: Set[ast.AST]) -> Iterator[ast.AST]:
    """Yield nodes like `ast.walk`, without the skipped ones."""
    waiting = deque([top])
    while waiting:
        node = waiting.popleft()
        if node not in skipped:
            yield node
            waiting += ast.iter_child_nodes(node)


def _attribute(node: ast.Attribute, known: _Targets, inner: set[ast.AST]) -> set[tuple[str, str | None]]:
    """Resolve `a.b.c` if `a` is a module: the longest part that is a module, and the name in it."""
    parts: list[ast.AST] = [node]
    while isinstance(parts[-1], ast.Attribute):
        parts.append(parts[-1].value)
    first = parts[-1]
    if node in inner or not isinstance(first, ast.Name) or known.get(first.id, ("", ""))[1] is not None:
        return set()
    inner.update(parts)
    module, names = known[first.id][0], [part.attr for part in reversed(parts) if isinstance(part, ast.Attribute)]
    while names and _file(f"{module}.{names[0]}") is not None and not defines(module, names[0]):
        module, names = f"{module}.{names[0]}", names[1:]
    return {(module, names[0] if names else None)}


@cache
def _module(module: str) -> _Module:
    file = _file(module)
    if file is None:
        raise LookupError(f"there is no module {module}")
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    return _Module(module, file.read_text(encoding="utf-8"), package)


def _assigned(node: ast.stmt) -> list[str]:
    """Return the names that a top-level statement assigns to."""
    if isinstance(node, ast.Assign):
        places = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        places = [node.target]
    else:
        return []
    return [name.id for place in places for name in ast.walk(place) if isinstance(name, ast.Name)]


def _is_text(node: ast.AST) -> bool:
    """Return whether this is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _without_labels(node: ast.AST) -> ast.AST:
    """Return a record's field without what is said of its number, which measures nothing. Other nodes stay."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call):
        called = ast.unparse(node.value.func)
        if called in ("number", "optional"):
            return ast.AnnAssign(node.target, node.annotation, ast.Constant(called), node.simple)
    return node


def _dump(value: Any, skipped: Set[ast.AST], names: Mapping[str, str] = MappingProxyType({}), depth: int = 0) -> str:
    """Return a syntax tree as text that is the same in every version of Python, unlike `ast.dump`.

    `names`: local variable -> its number; they differ by function. `depth`: functions around the value.
    """
    if isinstance(value, list):
        return "[" + ",".join(_dump(item, skipped, names, depth) for item in value if not _is_text(item)) + "]"
    if not isinstance(value, ast.AST):
        return repr(value)
    if value in skipped:
        return "said"
    value = _without_labels(value)
    numbers = names
    if isinstance(value, _SCOPES):
        numbers, depth = _numbered(value, names, depth), depth + 1
    hints = isinstance(value, ast.arg | ast.FunctionDef | ast.AsyncFunctionDef)
    fields = [
        f"{name}={_dump(part, skipped, numbers, depth)}"
        for name, part in ast.iter_fields(value)
        if part not in (None, []) and not (name in _SKIPPED and (hints or name not in ("returns", "annotation")))
    ]
    if (named := _named(value)) and getattr(value, named) in names:
        fields.append(f"{named}={names[getattr(value, named)]}")
        fields.remove(f"{named}={getattr(value, named)!r}")
    return f"{type(value).__name__}({','.join(sorted(fields))})"


def _named(node: ast.AST) -> str:
    """Return the field in which a node uses or binds a name; "" for other nodes."""
    binds = ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return "id" if isinstance(node, ast.Name) else "name" if isinstance(node, binds) else ""


def _numbered(scope: ast.AST, outer: Mapping[str, str], depth: int) -> dict[str, str]:
    """Return the numbers of the variables inside a function, in the order in which they appear in its tree.

    Parameters keep their names, as callers use them, and so do the attributes of a class.
    """
    fixed: set[str] = set()
    bound: list[str] = []
    waiting = deque(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.arg):
            fixed.add(node.arg)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            fixed |= set(node.names)
        elif (named := _named(node)) and isinstance(getattr(node, "ctx", ast.Store()), ast.Store):
            bound.append(getattr(node, named))
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    if isinstance(scope, ast.ClassDef):
        fixed |= set(bound)
    local = [name for name in dict.fromkeys(bound) if name is not None and name not in fixed]
    numbers = {name: f"{depth}.{number}" for number, name in enumerate(local)}
    return {name: number for name, number in outer.items() if name not in fixed} | numbers
