"""The server's hand on the process that grades: begun, gone on with after a restart, stopped, and its end heard."""

import contextlib
import math
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from bugzoo.errors import UserError
from bugzoo.instructor.serve.store import FAILED, RUNNING, STOPPED, Store
from bugzoo.instructor.submission import readable

GRACE = 20.0
"""Seconds that the process has to end its workers in."""


class Grading:
    """At most one process at a time. `look` is called now and then."""

    def __init__(self, folder: Path, store: Store, workers: int | None = None) -> None:
        self.folder, self.store, self.workers = folder, store, workers
        self.process: subprocess.Popen[bytes] | None = None
        self.complaints: IO[bytes] | None = None
        self.number = 0
        self.deadline = math.inf

    def begin(self, by: str, student: str = "", fresh: bool = False) -> None:
        """Start a grading. Raises UserError where one is running, or was stopped and has not ended yet."""
        self.look()
        job = self.store.job()
        if self.process is not None and job is not None and job.state == STOPPED:
            raise UserError("The grading that was stopped is ending its last runs. Try again in a few seconds.")
        if self.process is not None and job is not None and job.state != RUNNING:
            self.close()  # it has said that it is done, and ends within a second
        self._start(self.store.begin(by, student, fresh))

    def resume(self) -> bool:
        """Go on with a grading that was running when the server ended; False where there is none."""
        job = self.store.job()
        if job is None or job.state != RUNNING:
            return False
        self._start(job.id)
        return True

    def stop(self, by: str) -> bool:
        """What is graded is kept; False where nothing is running."""
        job = self.store.job()
        if job is None or job.state != RUNNING:
            return False
        self.store.end(job.id, STOPPED, by=by)
        if self.process:
            self.process.send_signal(signal.SIGINT)
            self.deadline = time.monotonic() + GRACE
        return True

    def look(self) -> None:
        """Hear of the process's end; one that was stopped and does not end is ended."""
        if self.process is None:
            return
        if self.process.poll() is None:
            if time.monotonic() > self.deadline:
                self.process.kill()
            return
        said = self._forget()
        self.store.end(self.number, FAILED, f"The grader ended without a word. {said}".strip())

    def close(self) -> None:
        """End the process with the server; the grading counts as running, so that the next server goes on with it."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._forget()

    def _start(self, number: int) -> None:
        self.number, self.deadline, self.complaints = number, math.inf, tempfile.TemporaryFile()
        words = [
            sys.executable,
            "-m",
            "bugzoo.instructor.serve.grader",
            self.folder,
            str(number),
            str(self.workers or 0),
        ]
        # a session of its own: Ctrl-C in the terminal is for the server, which then ends it in order
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self.complaints, start_new_session=True
        )

    def _forget(self) -> str:
        """The last line of its complaints."""
        assert self.process and self.complaints
        if self.process.stdin:
            self.process.stdin.close()
        self.complaints.seek(0)
        lines = self.complaints.read().decode(errors="replace").strip().splitlines()
        self.complaints.close()
        self.process = self.complaints = None
        return readable(lines[-1][:300]) if lines else ""
