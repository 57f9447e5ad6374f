"""The grader's own data, one file per kind of task: what no submission has seen.

Each file has `PROGRAMS`, `held_out(space, seed) -> (inputs, targets)` and `members(space)`, which returns a function that
says whether a row of a training batch is part of the training data. `space` holds the reference program's own objects
up to its model: text, vocabulary, images.
"""

import importlib
import pkgutil
from types import ModuleType

from bugzoo.errors import UserError


def adapter(program: str) -> ModuleType:
    """The file that evaluates `program`. Raises UserError where there is none."""
    known = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        known |= dict.fromkeys(module.PROGRAMS, module)
    if program not in known:
        raise UserError(
            f"The grader has no data of its own for {program}, so that no repair of it can be judged. It has for "
            f"{', '.join(sorted(known))}."
        )
    return known[program]
