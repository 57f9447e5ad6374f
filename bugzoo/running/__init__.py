"""Executing a script: in this process, where its objects can be inspected, or in a worker that can be killed."""

from bugzoo.running.here import run_here
from bugzoo.running.job import Job, Limits
from bugzoo.running.result import Run

__all__ = ["Job", "Limits", "Run", "run_here"]
