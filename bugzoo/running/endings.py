"""The error record of a run that failed. `bugzoo.watching.outcome` decides the outcome itself.

Seen from inside: the exception that left the script. From outside: the exit code, and the limit that it exceeded.
"""

import os
import re
import signal
import traceback

from bugzoo.running.account import Account
from bugzoo.running.job import MOST_FILES, Job
from bugzoo.watching import outcome
from bugzoo.watching.records import ErrorRecord
from bugzoo.watching.trace import Trace

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The folder of this package, whose hooks may stand between the script and torch."""
_UNCAUGHT = re.compile(r"terminate called after throwing an instance of '([^'\n]+)'(?:\s+what\(\):\s*([^\n]+))?")


def describe(failure: BaseException | None, file: str, trace: Trace) -> tuple[str, ErrorRecord]:
    """Return (outcome, error record). The record holds type, message, traceback (the script's part), file, line."""
    ended = outcome.of_error(failure, trace)
    if failure is None or ended not in ("crashed", "out_of_memory"):
        return ended, {}
    details = record(failure, file)
    if "scene" in trace.error:  # recorded by the watch while the frames existed
        details["scene"] = trace.error["scene"]
    return ended, details


def record(failure: BaseException, file: str) -> ErrorRecord:
    """Return the error as JSON. Frames before the script's first one, and those of our hooks after it, are left out."""
    frames = traceback.extract_tb(failure.__traceback__)
    places = [index for index, frame in enumerate(frames) if frame.filename == file]
    line = frames[places[-1]].lineno if places else None
    if isinstance(failure, SyntaxError) and failure.filename == file:
        line = failure.lineno
    exception = traceback.TracebackException.from_exception(failure)
    if places:
        after = list(exception.stack)[places[0] :]
        kept = [at for at in after if at.filename == file or not at.filename.startswith(OURS)]
        exception.stack = traceback.StackSummary.from_list(kept)
    else:
        exception.stack = traceback.StackSummary.from_list([])
    message = str(failure)
    if isinstance(failure, SystemExit):
        message = f"the script ended itself with sys.exit({failure.code!r})"
    return {
        "type": type(failure).__name__,
        "message": message,
        "traceback": "".join(exception.format()),
        "file": file,
        "line": line,
    }


def from_exit(code: int, printed: str = "") -> tuple[str, ErrorRecord]:
    """Return (outcome, error record) of a process that ended without leaving results.

    `code`: exit status, or the negative number of the signal that killed it. `printed`: its output, in which an uncaught
    C++ exception, such as one in a thread of gloo, leaves its class and message.
    """
    if code < 0:
        name = signal.Signals(-code).name
        message = f"the process was killed by {name}"
        if -code == signal.SIGABRT and (uncaught := _UNCAUGHT.search(printed)):
            message += f" after an uncaught {uncaught[1]}" + (f": {uncaught[2][:500]}" if uncaught[2] else "")
        kind = "Killed"
    else:
        message = f"the script ended its process with code {code} (os._exit) before its results could be kept"
        kind = "Exit"
    return "crashed", nowhere(kind, message)


def from_outside(trace: Trace, job: Job, account: Account, rank: int) -> None:
    """Write into `trace` what the supervisor saw: why it stopped the run, if it did, and the script's line at that time."""
    reason = account.reason
    if account.full and trace.error.get("type") == "Exit":
        room = f"{job.limits.result_mib} MiB, or {MOST_FILES:,} files"
        trace.error |= {"type": "DiskLimit", "message": f"its folder is full ({room})"}
    if job.ranks > 1 and reason == "hung" and trace.outcome == "finished":
        return  # this rank had finished; the others show what hung
    trace.outcome = outcome.of_limit(reason, trace.outcome)
    if reason == "stopped" and trace.error.get("type") in ("Exit", "Killed"):
        trace.error = {}  # stopped by us before it had results: not an error of the script
    elif reason in ("timed_out", "hung"):
        trace.error = nowhere(reason, f"ended after {account.seconds:.1f} s (limit {job.limits.seconds:g} s)")
        trace.error["stacks"] = {name: _of_script(stack, job.file) for name, stack in account.stacks.items()}
        trace.error["file"], trace.error["line"] = _place(account.stacks.get(str(rank), []), job.file)
    elif reason == "out_of_memory":
        limit = f"limit {job.limits.memory_mib} MiB above the imports"
        trace.error = nowhere("MemoryLimit", f"ended at {account.peak_mib:.0f} MiB ({limit})")
    elif reason == "processes":
        most = f"{job.limits.processes} processes, or {job.limits.threads} threads, at once"
        trace.error = nowhere("ProcessLimit", f"more than {most}")


def nowhere(kind: str, message: str) -> ErrorRecord:
    """Return an error record without a line of the script."""
    return {"type": kind, "message": message, "traceback": "", "file": None, "line": None}


def _of_script(stack: list[str], file: str) -> list[str]:
    """Return `stack` (innermost call first) without bugzoo's own frames below the script's."""
    places = [index for index, line in enumerate(stack) if line.startswith(f'File "{file}", line ')]
    return stack[: places[-1] + 1] if places else stack


def _place(stack: list[str], file: str) -> tuple[str | None, int | None]:
    """Return (file, line) of the script's innermost frame in a stack."""
    for line in stack:  # a script may have written them itself
        if match := re.match(rf'File "{re.escape(file)}", line (\d{{1,9}})\b', line):
            return file, int(match[1])
    return None, None
