"""Pictures of what the instruments measured: one file per instrument, the same stem, drawn from numbers only.

`draw(numbers, ax)` takes what the instrument measured (numbers or a Reading); where a picture needs a curve, it takes the Run (or
its Trace) instead. A plot whose data is absent leaves the axes with one quiet line of text and raises nothing.
"""

import importlib
import pkgutil
from typing import Any

from bugzoo.errors import unknown

__all__ = ["draw", "names"]


def names() -> list[str]:
    """Stems of all plots, in alphabetical order."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def draw(name: str, data: Any, ax: Any) -> Any:
    """Draw one plot into matplotlib axes and return them. Raises UserError for an unknown name."""
    if name not in names():
        raise unknown("plot", name, names(), "bugzoo list diagnostics")
    importlib.import_module(f"{__name__}.{name}").draw(data, ax)
    return ax
