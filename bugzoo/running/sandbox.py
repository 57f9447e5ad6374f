"""Whether this machine keeps other people's code apart: asked once, with code of our own.

The answer is remembered for as long as the process lives. It is never taken from a submission's run: what a submission
can make look like a missing sandbox (an exit code, a name, a printed line) would let it run without one.
"""

import threading

from bugzoo.machine import NO_SANDBOX, portable
from bugzoo.running.job import Job, Limits
from bugzoo.running.worker import run_worker

_lock = threading.Lock()
_known: dict[str, str] = {}


def missing() -> str:
    """Why the sandbox cannot be set up on this machine; "" where it can.

    Raises RuntimeError when the probe was cut short, so that nothing is known, and KeyboardInterrupt when it was stopped.
    """
    with _lock:
        if portable():
            return NO_SANDBOX
        if "why" not in _known:
            run = run_worker(Job("pass", isolated=True, watch=False, limits=Limits(seconds=60)))
            if run.outcome == "stopped":
                raise KeyboardInterrupt
            if run.outcome != "finished" and not run.trouble:
                raise RuntimeError(f"It is not known whether this machine has a sandbox: the probe was {run.outcome}.")
            _known["why"] = run.trouble
        return _known["why"]


def needed(strict: bool) -> bool:
    """Whether other people's code is to be isolated: always where there is a sandbox.

    `strict`: where there is none it is not run at all, and RuntimeError says why. Otherwise it runs plainly there.
    """
    why = missing()
    if why and strict:
        raise RuntimeError(why)
    return not why
