"""Run a script: in this process, where you can inspect its objects, or in a worker that can be killed.

The names are imported when they are first used, so that reading a `Reading` does not load torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bugzoo.running.here import run_here
    from bugzoo.running.job import Job, Limits
    from bugzoo.running.many import run_many
    from bugzoo.running.reading import Reading
    from bugzoo.running.result import Run
    from bugzoo.running.resume import stopped_and_resumed
    from bugzoo.running.warm import cool_down, warm_up
    from bugzoo.running.worker import run_worker, stop_all

__all__ = [
    "Job",
    "Limits",
    "Reading",
    "Run",
    "cool_down",
    "run_here",
    "run_many",
    "run_worker",
    "stop_all",
    "stopped_and_resumed",
    "warm_up",
]

_HOMES = {
    "run_here": "here",
    "Job": "job",
    "Limits": "job",
    "run_many": "many",
    "Reading": "reading",
    "Run": "result",
    "cool_down": "warm",
    "warm_up": "warm",
    "run_worker": "worker",
    "stop_all": "worker",
    "stopped_and_resumed": "resume",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
