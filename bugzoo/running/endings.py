"""How a run ended: outcome and error record from the exception that left the script, or from none."""

import math
import signal
import traceback
from typing import Any

import torch

from bugzoo.watching.trace import Trace

_ALLOCATION = (
    "DefaultCPUAllocator",
    "can't allocate memory",
    "CUDA out of memory",
    "std::bad_alloc",
    "Cannot allocate memory",
)


def out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed: Python's, torch's on the CPU (a plain RuntimeError) or on a device."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError | OSError) and any(text in str(error) for text in _ALLOCATION)


def describe(failure: BaseException | None, file: str, trace: Trace) -> tuple[str, dict[str, Any]]:
    """(outcome, error record). The record holds type, message, traceback (the script's part), file, line."""
    if failure is None and trace.outcome == "stopped":  # watch() ends its block quietly on StopRun
        return "stopped", {}
    if failure is None or (isinstance(failure, SystemExit) and failure.code in (None, 0)):
        return ("non_finite" if ended_non_finite(trace) else "finished"), {}
    if isinstance(failure, KeyboardInterrupt) or type(failure).__name__ == "StopRun":
        return "stopped", {}
    return ("out_of_memory" if out_of_memory(failure) else "crashed"), record(failure, file)


def ended_non_finite(trace: Trace) -> bool:
    """Whether the last loss, or the loss that the script itself reports, is NaN or infinite.

    A step without a backward of its own has no loss: two optimisers may follow one backward().
    """
    with_loss = [float(loss) for loss, calls in zip(trace.loss, trace.backwards, strict=False) if calls > 0]
    last = with_loss[-1:]
    reported = [value for name, value in trace.metrics.items() if name == "loss"]
    return not all(math.isfinite(value) for value in [*last, *reported])


def record(failure: BaseException, file: str) -> dict[str, Any]:
    """The error as JSON: frames before the script's first are ours and say nothing to its author."""
    frames = traceback.extract_tb(failure.__traceback__)
    places = [index for index, frame in enumerate(frames) if frame.filename == file]
    line = frames[places[-1]].lineno if places else None
    if isinstance(failure, SyntaxError) and failure.filename == file:
        line = failure.lineno
    shown = traceback.TracebackException.from_exception(failure)
    if places:
        shown.stack = traceback.StackSummary.from_list(list(shown.stack)[places[0] :])
    else:
        shown.stack = traceback.StackSummary.from_list([])
    message = str(failure)
    if isinstance(failure, SystemExit):
        message = f"the script ended itself with sys.exit({failure.code!r})"
    return {
        "type": type(failure).__name__,
        "message": message,
        "traceback": "".join(shown.format()),
        "file": file,
        "line": line,
    }


def from_exit(code: int) -> tuple[str, dict[str, Any]]:
    """(outcome, error record) of a process that ended without handing over its results.

    `code`: exit status, or the negative number of the signal that killed it.
    """
    if code < 0:
        name = signal.Signals(-code).name
        message = f"the process was killed by {name}"
        kind = "Killed"
    else:
        message = f"the script ended its process with code {code} (os._exit) before its results could be kept"
        kind = "Exit"
    return "crashed", {"type": kind, "message": message, "traceback": "", "file": None, "line": None}
