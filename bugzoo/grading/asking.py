"""A notebook's side of the grading processes: a question goes in, a result comes out, and the stages meanwhile."""

import contextlib
import json
import signal
import subprocess
import sys
import threading
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading import stages
from bugzoo.grading.model import Result


def ask(name: str, question: dict[str, Any], module: str = "bugzoo.grading") -> Result:
    """Ask a fresh grading process (`python -m module`) and return its result. Raises UserError without an answer.

    What is `told` of stages here gets each one of that process as it begins, from another thread.
    """
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-m", module, name], text=True, **pipes) as grader:
        complaints: list[str] = []
        listener = threading.Thread(target=_listen, args=(grader.stderr, complaints, stages.telling()), daemon=True)
        listener.start()
        grader.stderr = None  # `communicate` would read it, too
        try:
            stdout, _ = grader.communicate(json.dumps(question, default=str), timeout=600)
            listener.join(10)
        except BaseException as stopped:  # a timeout, or the learner's stop button
            _end(grader)
            if isinstance(stopped, subprocess.TimeoutExpired):
                raise UserError("The grader did not answer within ten minutes. Run this cell again.") from None
            raise
    try:
        answer = json.loads(stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        last = (complaints or ["no message"])[-1]
        raise UserError(f"The grader failed: {last}") from None
    if "error" in answer:
        raise UserError(answer["error"])
    return Result.from_json(answer)


def _listen(errors: Any, complaints: list[str], tell: stages.Tell) -> None:
    """Read the grader's stderr to its end: pass each stage to `tell`, and keep what else it says."""
    with errors:
        for line in errors:
            if now := stages.of_line(line):
                tell(now)
            elif line.strip():
                complaints.append(line.strip())


def _end(grader: subprocess.Popen[str]) -> None:
    """Stop the grading process so that it ends its workers and deletes its files; kill it if it does not stop."""
    for ask_it in (lambda: grader.send_signal(signal.SIGINT), grader.kill):
        ask_it()
        with contextlib.suppress(subprocess.TimeoutExpired):
            grader.wait(10)
            return
