"""Which of Python's own names a hand-in may use."""

import builtins

from bugzoo.grading.plain_names import Reason

BUILTINS = frozenset(
    "abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict dir divmod enumerate filter float format "
    "frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max min next object oct ord pow print "
    "property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type zip NotImplemented "
    "Ellipsis __name__".split()
)  # fmt: skip
"""Python's own functions that a hand-in may use, beside its exceptions."""
NEVER = frozenset(("sys", "gc", "os", "ctypes", "builtins", "exit", "quit", "help", "license", "credits", "copyright"))
"""Names that reach the interpreter where a program has bound them by no statement that can be read."""


def builtin(name: str) -> list[Reason]:
    """Return why a name that nothing binds for certain is outside."""
    member = getattr(builtins, name, None)
    allowed = name in BUILTINS or (isinstance(member, type) and issubclass(member, BaseException))
    closed = name in NEVER or (hasattr(builtins, name) and not allowed)
    return [(name, f"`{name}` reaches beyond the program")] if closed else []
