"""Test once, with our own code, whether this machine can run other people's code in a sandbox.

The result is cached for this process. It never comes from a submission's run: a submission could fake a missing
sandbox (by an exit code, a name, a printed line) and would then run without one.
"""

import threading

from bugzoo.machine import NO_SANDBOX, portable
from bugzoo.running.job import Job, Limits
from bugzoo.running.worker import run_worker

_lock = threading.Lock()
_known: dict[str, str] = {}


def missing() -> str:
    """Return why the sandbox cannot be set up on this machine, "" if it can.

    Raises RuntimeError if the probe did not finish, and KeyboardInterrupt if it was stopped.
    """
    with _lock:
        if portable():
            return NO_SANDBOX
        if "why" not in _known:
            run = run_worker(Job("pass", isolated=True, withheld={}, watch=False, limits=Limits(seconds=60)))
            if run.outcome == "stopped":
                raise KeyboardInterrupt
            if run.outcome != "finished" and not run.trouble:
                raise RuntimeError(f"The test for a sandbox on this machine did not finish: it was {run.outcome}.")
            _known["why"] = run.trouble
        return _known["why"]


def needed(strict: bool) -> bool:
    """Return whether to isolate other people's code: always if the machine has a sandbox.

    Without a sandbox, `strict` raises RuntimeError with the reason. Otherwise the code runs without isolation.
    """
    why = missing()
    if why and strict:
        raise RuntimeError(why)
    return not why
