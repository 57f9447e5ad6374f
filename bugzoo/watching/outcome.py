"""Which of OUTCOMES a run ended as: decided here and nowhere else, by the error that left it or by the limit that ended it."""

import math

from bugzoo.watching.memory import out_of_memory
from bugzoo.watching.trace import Trace

LIMITS = ("timed_out", "hung", "stopped", "out_of_memory")
"""What a supervisor ends a run for that is an outcome of its own; everything else from outside is a crash."""


class StopRun(BaseException):
    """Raised by `on_step` to end the run: a BaseException, so that the watched code does not catch it by accident."""


def of_error(error: BaseException | None, trace: Trace) -> str:
    """The outcome of a run that `error` left (None: it came to its end), which did what `trace` holds."""
    if error is None and trace.outcome == "stopped":  # a watch ends its block quietly on StopRun
        return "stopped"
    if error is None or isinstance(error, GeneratorExit) or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return "non_finite" if ended_non_finite(trace) else "finished"
    if isinstance(error, StopRun | KeyboardInterrupt):
        return "stopped"
    return "out_of_memory" if out_of_memory(error) else "crashed"


def of_limit(reason: str, otherwise: str) -> str:
    """The outcome of a run that was ended from outside for `reason`; `otherwise` where that is none."""
    if reason in LIMITS:
        return reason
    return "crashed" if reason else otherwise


def ended_non_finite(trace: Trace) -> bool:
    """Whether the last loss, or the loss that the script itself reports, is NaN or infinite.

    A step without a backward of its own has no loss: two optimisers may follow one backward().
    """
    with_loss = [float(loss) for loss, calls in zip(trace.loss, trace.backwards, strict=False) if calls > 0]
    last = with_loss[-1:]
    reported = [value for name, value in trace.metrics.items() if name == "loss"]
    return not all(math.isfinite(value) for value in [*last, *reported])
