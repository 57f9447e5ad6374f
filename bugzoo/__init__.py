"""bugzoo: breakable training runs, and instruments that find out what broke.

Names are loaded when they are first asked for, so that `import bugzoo` stays quick.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
_HOMES = {
    "watch": "bugzoo.watching",
    "StopRun": "bugzoo.watching",
    "Trace": "bugzoo.watching",
    "Scenario": "bugzoo.scenario",
    "catalogue": "bugzoo.faults",
    "checkup": "bugzoo.diagnostics",
    "UserError": "bugzoo.errors",
}
__all__ = ["Scenario", "StopRun", "Trace", "UserError", "catalogue", "checkup", "watch"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bugzoo' has no attribute {name!r}; it offers {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
