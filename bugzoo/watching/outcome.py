"""Decide a run's outcome, one of OUTCOMES: from the error that ended it or the limit that it exceeded. Only here."""

import math

from bugzoo.watching.memory import out_of_memory
from bugzoo.watching.trace import Trace

LIMITS = ("timed_out", "hung", "stopped", "out_of_memory")
"""A supervisor's reasons to stop a run that are outcomes themselves. Any other reason from outside is a crash."""


class StopRun(BaseException):
    """Raise this in `on_step` to end the run. It is a BaseException, so that the watched code does not catch it."""


def of_error(error: BaseException | None, trace: Trace) -> str:
    """Return the outcome of a run that ended with `error` (None: it reached its end) and the recorded `trace`."""
    if error is None and trace.outcome == "stopped":  # a watch ends its block quietly on StopRun
        return "stopped"
    if error is None or isinstance(error, GeneratorExit) or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return "non_finite" if ended_non_finite(trace) else "finished"
    if isinstance(error, StopRun | KeyboardInterrupt):
        return "stopped"
    return "out_of_memory" if out_of_memory(error) else "crashed"


def of_limit(reason: str, otherwise: str) -> str:
    """Return the outcome of a run that was stopped from outside for `reason`, `otherwise` if there is no reason."""
    if reason in LIMITS:
        return reason
    return "crashed" if reason else otherwise


def ended_non_finite(trace: Trace) -> bool:
    """Return whether the last loss, or the loss that the script itself reports, is NaN or infinite.

    A step without its own backward has no loss: two optimizers may follow one backward().
    """
    with_loss = [float(loss) for loss, calls in zip(trace.loss, trace.backwards, strict=False) if calls > 0]
    last = with_loss[-1:]
    reported = [value for name, value in trace.metrics.items() if name == "loss"]
    return not all(math.isfinite(value) for value in [*last, *reported])
