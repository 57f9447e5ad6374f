"""Assignments: build one, prove that it can be solved, hand it out, and grade a whole class.

    draft = Assignment("mini_transformer", ("loop/stale_gradients", "loss/double_softmax"), seed=7, title="Week 3")
    proof = prove(draft)             # real runs: every fault shows, and the grader tells the repairs apart
    write(proof, Path("week_3"))     # raises Refused when one fault masks another

`bugzoo assign` and `bugzoo grade` do the same on the command line.
"""

import importlib
from typing import Any

_HOMES = {
    "Assignment": "bugzoo.instructor.model",
    "prove": "bugzoo.instructor.proof",
    "Refused": "bugzoo.instructor.proof",
    "write": "bugzoo.instructor.layout",
    "read_key": "bugzoo.instructor.key",
    "grade_class": "bugzoo.instructor.classroom",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    # looked up late: a student's notebook imports `cell` from here and nothing else
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(_HOMES[name])
    return getattr(module, "read" if name == "read_key" else name)
