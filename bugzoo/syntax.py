"""`parse`: the syntax tree of a text, also from several threads at once.

CPython 3.11 counts the depth of the tree that it hands over in one place for all threads; two of them at it fail now and then
with "SystemError: AST constructor recursion depth mismatch". Reentrant, as a collection of garbage may come in between.
"""

import ast
from threading import RLock
from typing import Any

_one_at_a_time = RLock()


def parse(source: str, mode: str = "exec") -> Any:
    """As `ast.parse`. Raises SyntaxError, and ValueError for a text with null bytes."""
    with _one_at_a_time:
        return ast.parse(source, mode=mode)
