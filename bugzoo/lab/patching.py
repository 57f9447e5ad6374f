"""Changing a paused program: new classes and functions replace the old ones in the live run."""

import ast
import gc
import linecache
from typing import Any

from bugzoo.errors import UserError
from bugzoo.syntax import parse, source_lines


def changed_definitions(old: str, new: str) -> list[ast.ClassDef | ast.FunctionDef]:
    """Return top-level classes and functions of `new` that `old` has in another form or not at all.

    Raises UserError if anything else differs: a running loop cannot be replaced.
    """
    try:
        parts = parse(new).body
    except SyntaxError as error:
        raise UserError(f"The new text is not Python: line {error.lineno}: {error.msg}. Nothing was changed.") from None
    kinds = ast.ClassDef | ast.FunctionDef
    before = {ast.dump(part) for part in parse(old).body}
    rest_old = [ast.dump(part) for part in parse(old).body if not isinstance(part, kinds)]
    rest_new = [ast.dump(part) for part in parts if not isinstance(part, kinds)]
    if rest_old != rest_new:
        at = next((i for i, (a, b) in enumerate(zip(rest_old, rest_new, strict=False)) if a != b), len(rest_new) - 1)
        line = [part for part in parts if not isinstance(part, kinds)][at].lineno
        raise UserError(
            f"Line {line} is outside a class or function. A running loop or a setting that was already read cannot be "
            "replaced. Start again with view.restart(source). Nothing was changed."
        )
    return [part for part in parts if isinstance(part, ast.ClassDef | ast.FunctionDef) and ast.dump(part) not in before]


def patch(namespace: dict[str, Any], old: str, new: str, file: str) -> list[str]:
    """Put the changed definitions of `new` into a live run; objects of a changed class become objects of the new one.

    Returns the names that were changed. Parameters, optimizer and step count stay as they are.
    """
    parts = changed_definitions(old, new)
    if not parts:
        return []
    # tracebacks show the source that really runs
    linecache.cache[file] = (len(new), None, source_lines(new, keepends=True), file)
    names = [getattr(part, "name", "") for part in parts]
    former = {name: namespace.get(name) for name in names}
    exec(compile(ast.Module([*parts], []), file, "exec"), namespace)
    for name, was in former.items():
        now = namespace[name]
        if isinstance(was, type) and isinstance(now, type):
            for instance in [referrer for referrer in gc.get_referrers(was) if type(referrer) is was]:
                instance.__class__ = now
    return names
