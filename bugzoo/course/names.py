"""The names that a cell's code binds and uses."""

import ast
import dis
from collections.abc import Iterable
from types import CodeType

from bugzoo.syntax import parse


def names_of(text: str) -> tuple[set[str], set[str]]:
    """Return (names that code binds at its top level, names that it uses and some other code may have bound)."""
    return _names(compile(text, "cell", "exec", dont_inherit=True))


def needs(text: str) -> set[str]:
    """Return the names that code uses before it binds them itself, builtins included."""
    return _free(parse(text).body, set())


def changes(text: str) -> set[str]:
    """Return the names whose values code changes without binding them: `looks[name] = ...`, `view.stop()`."""
    names: set[str] = set()
    for node in ast.walk(parse(text)):
        place: ast.AST = node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            place = node.value.func
        elif not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            continue
        if isinstance(place, ast.Attribute | ast.Subscript):
            while isinstance(place, ast.Attribute | ast.Subscript):
                place = place.value
            if isinstance(place, ast.Name):
                names.add(place.id)
    return names


def _names(block: CodeType) -> tuple[set[str], set[str]]:
    # from the compiled code and not from symtable, which since Python 3.12 lists a comprehension's variables too
    blocks, used = [block], set()
    bound = {line.argval for line in dis.get_instructions(block) if line.opname == "STORE_NAME"}
    while blocks:
        block = blocks.pop()
        used |= {line.argval for line in dis.get_instructions(block) if line.opname in ("LOAD_NAME", "LOAD_GLOBAL")}
        blocks += [part for part in block.co_consts if isinstance(part, CodeType)]
    return bound, used


def _free(statements: Iterable[ast.stmt], bound: set[str]) -> set[str]:
    """Return the names that statements use before they bind them; adds to `bound` what they bind."""
    names: set[str] = set()
    for node in statements:
        if isinstance(node, ast.For):
            names |= _in(ast.Expr(node.iter))[1] - bound
            bound |= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
            names |= _free([*node.body, *node.orelse], bound)
        else:
            assigned, used = _in(node)
            names |= used - bound
            bound |= assigned
    return names


def _in(node: ast.stmt) -> tuple[set[str], set[str]]:
    loop = ast.While(ast.Constant(True), [node], [])  # a loop's body may hold `continue`
    module = ast.fix_missing_locations(ast.Module([loop], []))
    return _names(compile(module, "cell", "exec", dont_inherit=True))
