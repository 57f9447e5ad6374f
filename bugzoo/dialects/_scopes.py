"""Whose name is it? Each place of a name in a text, and the scope that gives it its value; renaming goes by that."""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from bugzoo.dialects._text import Cut, Text

KEPT = frozenset({"model", "metrics", "seed", "device", "train_loader", "epochs", "steps", "stop_after"})
"""Names of the top level that graders ask a program for, or whose line they rewrite."""
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(eq=False)
class Scope:
    """One scope of a text; `node` is None for the module."""

    node: ast.AST | None
    parent: "Scope | None" = None
    bound: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)
    """Names that cannot be renamed here: imports, attributes of a class, what is given by keyword."""

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    def owner(self, name: str) -> "Scope | None":
        """The scope whose name it is when it stands here; None for a builtin."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bound and (scope is self or not scope.is_class):
                return scope
            scope = scope.parent
        return None


@dataclass(frozen=True)
class Use:
    """One place of a name: an `ast.Name`, an `ast.arg`, or a function or class that is defined so."""

    node: ast.AST
    name: str
    scope: Scope


class Scopes(ast.NodeVisitor):
    """All scopes of a text and every use of a name in it. Texts with `global` are not for it."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.module = self._here = Scope(None)
        self.uses: list[Use] = []
        self._keywords = {one.arg for one in ast.walk(text.tree) if isinstance(one, ast.keyword) and one.arg}
        self._hidden = 0
        self.unwritten: set[str] = set()
        """Names that stand in an f-string, where Python 3.11 does not know their place."""
        self.visit(text.tree)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.JoinedStr):
            self._hidden += 1
            self.generic_visit(node)
            self._hidden -= 1
        else:
            super().visit(node)

    def _use(self, node: ast.AST, name: str, bind: bool, fixed: bool = False) -> None:
        if bind:
            self._here.bound.add(name)
        if fixed or self._here.is_class:
            self._here.fixed.add(name)
        if self._hidden:
            self.unwritten.add(name)
        self.uses.append(Use(node, name, self._here))

    def visit_Name(self, node: ast.Name) -> None:
        self._use(node, node.id, not isinstance(node.ctx, ast.Load))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        inner = self._here
        while isinstance(self._here.node, _COMPREHENSION) and self._here.parent:
            self._here = self._here.parent
        self.visit(node.target)
        self._here = inner

    def visit_alias(self, node: ast.alias) -> None:
        self._use(node, (node.asname or node.name).split(".")[0], True, fixed=True)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._use(node, node.name, True, fixed=True)
        self.generic_visit(node)

    def _enter(self, node: ast.AST, parts: Iterable[ast.AST]) -> None:
        self._here = Scope(node, self._here)
        for part in parts:
            self.visit(part)
        assert self._here.parent
        self._here = self._here.parent

    def _function(self, node: _FUNCTION) -> None:
        arguments = node.args
        for outer in [*getattr(node, "decorator_list", ()), *arguments.defaults, *filter(None, arguments.kw_defaults)]:
            self.visit(outer)
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        named += [one for one in (arguments.vararg, arguments.kwarg) if one]
        for hint in [*(one.annotation for one in named), getattr(node, "returns", None)]:
            if hint:
                self.visit(hint)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        self._enter(node, [*named, *body])

    def visit_arg(self, node: ast.arg) -> None:
        self._use(node, node.arg, True, fixed=node.arg in self._keywords)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._use(node, node.name, True)
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._use(node, node.name, True, fixed=True)
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._use(node, node.name, True)
        for outer in (*node.decorator_list, *node.bases, *(one.value for one in node.keywords)):
            self.visit(outer)
        self._enter(node, node.body)

    def _comprehension(self, node: _COMPREHENSION) -> None:
        first, *more = node.generators
        self.visit(first.iter)
        parts: list[ast.AST] = [first.target, *first.ifs, *more]
        parts += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._enter(node, parts)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def owner(self, use: Use) -> Scope | None:
        return use.scope.owner(use.name)

    def of_module(self, name: str) -> list[Use]:
        """Every use of a name of the top level."""
        return [use for use in self.uses if use.name == name and self.owner(use) is self.module]

    def written(self, use: Use, new: str) -> Cut:
        """The edit that gives one use another name."""
        start, _ = self.text.span(use.node)
        if isinstance(use.node, ast.FunctionDef | ast.ClassDef):
            found = re.compile(rf"(?:def|class)\s+{use.name}\b").search(self.text.source, start)
            assert found
            start = found.end() - len(use.name)
        return start, start + len(use.name), new


def scopes_of(text: Text) -> Scopes:
    """The scopes of a text, read once."""
    if text.scopes is None:
        text.scopes = Scopes(text)
    return text.scopes


def renamed(source: str, usual: Mapping[str, tuple[str, ...]], draw: Random, top: bool = False) -> str | None:
    """`source` with names out of `usual` replaced by others that people use; `usual` is name -> alternatives.

    One style is drawn, and each name takes its alternative of that number, so that they go together. `top`: only what
    the top level gives a value to. A new name is one that stands nowhere in the text, so that it can neither hide
    another nor be hidden. Names of the top level that graders need, of imports, classes' attributes, keywords and
    f-strings stay.
    """
    text = Text(source)
    if text.looks_up:
        return None
    scopes = scopes_of(text)
    taken, cuts, style = set(text.words), [], draw.randrange(max(map(len, usual.values())))
    for name in usual:
        turned = [usual[name][(style + place) % len(usual[name])] for place in range(len(usual[name]))]
        free = [one for one in turned if one not in taken]
        if name not in text.words or name in scopes.unwritten or not free:
            continue
        new = free[0]
        uses = [(use, scopes.owner(use)) for use in scopes.uses if use.name == name]
        right = [
            use
            for use, owner in uses
            if owner and _may(owner, name, scopes) and not (top and owner is not scopes.module)
        ]
        if right:
            taken.add(new)
            cuts += [scopes.written(use, new) for use in right]
    return text.edited(cuts)


def _may(owner: Scope, name: str, scopes: Scopes) -> bool:
    return name not in owner.fixed and not owner.is_class and not (owner is scopes.module and name in KEPT)
