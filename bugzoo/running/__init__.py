"""Run a script: in this process, where you can inspect its objects, or in a worker that can be killed.

The names are imported when they are first used, so that reading a `Reading` does not load torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bugzoo.running.cluster import connected
    from bugzoo.running.here import run_here
    from bugzoo.running.job import Job, Limits
    from bugzoo.running.many import run_job, run_many
    from bugzoo.running.pool import run_all
    from bugzoo.running.reading import Reading
    from bugzoo.running.result import Run
    from bugzoo.running.resume import stopped_and_resumed
    from bugzoo.running.torch_state import preserved
    from bugzoo.running.warm import cool_down, warm_up
    from bugzoo.running.worker import run_worker, stop_all, stopped_by

__all__ = [
    "Job", "Limits", "Reading", "Run", "connected", "cool_down", "preserved", "run_all", "run_here", "run_job", "run_many",
    "run_worker", "stop_all", "stopped_and_resumed", "stopped_by", "warm_up",
]  # fmt: skip

_HOMES = {
    "connected": "cluster",
    "run_here": "here",
    "Job": "job",
    "Limits": "job",
    "run_job": "many",
    "run_many": "many",
    "run_all": "pool",
    "Reading": "reading",
    "Run": "result",
    "preserved": "torch_state",
    "cool_down": "warm",
    "warm_up": "warm",
    "run_worker": "worker",
    "stop_all": "worker",
    "stopped_by": "worker",
    "stopped_and_resumed": "resume",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
