"""bugzoo: a teaching lab of breakable PyTorch training scripts.

    with bugzoo.watch() as trace:      # any PyTorch training code
        ...

    run = bugzoo.Scenario("mlp", faults=("loop/stale_gradients",)).run()

The names below are imported when they are first used, so `import bugzoo` loads neither torch nor the catalogue.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself is not needed to start
    from typing import Any

    from bugzoo.diagnostics import Suspect, Verdict
    from bugzoo.diagnostics.checkup import checkup
    from bugzoo.errors import UserError
    from bugzoo.running import Run
    from bugzoo.scenario import Scenario
    from bugzoo.watching import Trace, watch

__version__ = "0.1.0"

_HOMES = {
    "watch": "bugzoo.watching",
    "Trace": "bugzoo.watching.trace",
    "Run": "bugzoo.running.result",
    "Scenario": "bugzoo.scenario",
    "checkup": "bugzoo.diagnostics.checkup",
    "Verdict": "bugzoo.diagnostics.verdict",
    "Suspect": "bugzoo.diagnostics.verdict",
    "UserError": "bugzoo.errors",
}

__all__ = ["Run", "Scenario", "Suspect", "Trace", "UserError", "Verdict", "__version__", "checkup", "watch"]


def __getattr__(name: str) -> "Any":
    if name not in _HOMES:
        raise AttributeError(f"module 'bugzoo' has no attribute {name!r}; it has {', '.join(_HOMES)}")
    import importlib  # not above: until `bugzoo.__main__` starts, Ctrl-C prints a traceback

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
