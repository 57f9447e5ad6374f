"""Read a script's names, and write out the functions around its training loop where they are called: the top-level form."""

import ast
import copy
import symtable
from collections.abc import Iterable

from bugzoo.syntax import called, last_name

GUARD = "__name__"
LOOPS = (ast.For, ast.While)
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


class Unwritable(Exception):
    """The script cannot be written in this form; the text says why."""


# ---- what a piece of code reads and binds


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements bind in their own scope, without those of comprehensions, functions and classes."""
    names: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
            return
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child)

    for node in nodes:
        visit(node)
    return names


def loaded(nodes: Iterable[ast.AST]) -> set[str]:
    """Return all names that statements read, also in inner functions."""
    names = {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return names | {n.target.id for node in nodes for n in ast.walk(node)
                    if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}  # fmt: skip


def free(definitions: Iterable[ast.stmt]) -> set[str]:
    """Return the names that functions and classes read from the script."""
    names: set[str] = set()

    def visit(table: symtable.SymbolTable) -> None:
        names.update(
            symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and table.get_type() != "module"
        )
        for child in table.get_children():
            visit(child)

    for node in definitions:
        visit(symtable.symtable(ast.unparse(node), "script", "exec"))
        outside = [
            *node.decorator_list,
            *getattr(node, "bases", []),
            *getattr(getattr(node, "args", None), "defaults", []),
        ]
        names |= loaded(outside)
    return names


def functions(tree: ast.AST) -> dict[str, list[ast.FunctionDef]]:
    """Return name -> the functions and methods of the script with that name."""
    by_name: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            by_name.setdefault(node.name, []).append(node)
    return by_name


def reaches(node: ast.AST, name: str | set[str], own: dict[str, list[ast.FunctionDef]]) -> bool:
    """Return whether code calls one of these functions, itself or in functions of the script that it calls."""
    wanted, names, waiting = {name} if isinstance(name, str) else name, called(node), list(called(node) & own.keys())
    while waiting:
        new = set().union(*(called(function) for function in own[waiting.pop()])) - names
        names |= new
        waiting += new & own.keys()
    return bool(names & wanted)


def trains(node: ast.AST, own: dict[str, list[ast.FunctionDef]]) -> bool:
    return reaches(node, "backward", own)


def loop_of(tree: ast.Module) -> int:
    """Return the place of the last training loop at the top level. Raises Unwritable without one."""
    own = functions(tree)
    places = [place for place, node in enumerate(tree.body) if isinstance(node, LOOPS) and trains(node, own)]
    if not places:
        raise Unwritable("no training loop at the top level")
    return places[-1]


def at_top_level(tree: ast.Module) -> bool:
    try:
        return loop_of(unguarded(tree)) >= 0
    except Unwritable:
        return False


# ---- top level: the functions around the training loop are written out where they are called


def top_level(tree: ast.Module) -> ast.Module:
    """Return the script with its training loop at the top level."""
    tree = unguarded(tree)
    for _ in range(5):
        try:
            loop_of(tree)
            return tree
        except Unwritable:
            tree = written_out(tree)
    raise Unwritable("the loop stays inside functions")


def unguarded(tree: ast.Module) -> ast.Module:
    """Return the script with the body of `if __name__ == "__main__":` at the top level."""
    body: list[ast.stmt] = []
    for node in tree.body:
        body += node.body if isinstance(node, ast.If) and GUARD in loaded([node.test]) else [node]
    return ast.Module(body, [])


def written_out(tree: ast.Module) -> ast.Module:
    """Return the script with one call of a training function replaced by the function's body."""
    own = functions(tree)
    for place, node in enumerate(tree.body):
        value = getattr(node, "value", None)
        if not isinstance(node, (ast.Assign, ast.Expr)) or not isinstance(value, ast.Call) or not trains(value, own):
            continue
        candidates = [f for f in own.get(last_name(value.func), []) if trains(f, own)]
        if len(candidates) != 1:
            raise Unwritable("the training function is not one function of the script")
        body = expanded(tree, node, value, candidates[0])
        return ast.Module([*tree.body[:place], *body, *tree.body[place + 1 :]], [])
    raise Unwritable("the training function is not called in a statement of its own")


def expanded(tree: ast.Module, node: ast.stmt, call: ast.Call, function: ast.FunctionDef) -> list[ast.stmt]:
    """Return the statements that do what a call of the function does."""
    spec = function.args
    if (
        spec.vararg
        or spec.kwarg
        or spec.kwonlyargs
        or function.decorator_list
        or any(k.arg is None for k in call.keywords)
    ):
        raise Unwritable("the training function has arguments or decorators that cannot be written out")
    *body, last = function.body
    ends = isinstance(last, ast.Return)
    body = body if ends else function.body
    inner = {r for f in ast.walk(function) if isinstance(f, ast.FunctionDef) and f is not function for r in ast.walk(f)}
    if any(
        isinstance(n, (ast.Return, ast.Yield, ast.Nonlocal)) and n not in inner for part in body for n in ast.walk(part)
    ):
        raise Unwritable("the training function returns from its middle")
    parameters = [argument.arg for argument in spec.args]
    values: dict[str, ast.expr] = dict(zip(reversed(parameters), reversed(spec.defaults), strict=False))
    arguments = list(call.args)
    if parameters[:1] == ["self"]:
        arguments.insert(0, getattr(call.func, "value"))  # noqa: B009
    values |= dict(zip(parameters, arguments, strict=False)) | {k.arg or "": k.value for k in call.keywords}
    elsewhere = stored(tree.body) | {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - {
        n.id for n in ast.walk(function) if isinstance(n, ast.Name)
    }
    local = stored(body) | set(parameters)
    outer = {name for n in ast.walk(function) if isinstance(n, ast.Global) for name in n.names}
    new = {name: f"{name}_here" if name in elsewhere or name == "self" else name for name in local - outer}
    same = {
        name
        for name, value in values.items()
        if isinstance(value, ast.Name) and value.id == name and name not in stored(body)
    }
    new |= {name: name for name in same}

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            node.id = new.get(node.id, node.id)
            return node

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            node.name = new.get(node.name, node.name)
            return self.generic_visit(node)

        def visit_Global(self, node: ast.Global) -> ast.AST:
            return ast.Pass()

    if set(parameters) - values.keys():
        raise Unwritable("the training function is called with arguments that cannot be written out")
    bound = [assign(new[name], value) for name, value in values.items() if name in new and name not in same]
    result = [Rename().visit(copy.deepcopy(part)) for part in body]
    if isinstance(node, ast.Assign):
        if not ends or last.value is None:
            raise Unwritable("the training function returns nothing that could be assigned")
        result.append(ast.Assign(node.targets, Rename().visit(copy.deepcopy(last.value))))
    return [*bound, *result]


def assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)
