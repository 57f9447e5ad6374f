"""Executing a script: in this process, where its objects can be inspected, or in a worker that can be killed."""

from bugzoo.running.here import run_here
from bugzoo.running.job import Job, Limits
from bugzoo.running.many import run_many
from bugzoo.running.reading import Reading
from bugzoo.running.result import Run
from bugzoo.running.warm import cool_down, warm_up
from bugzoo.running.worker import run_worker, stop_all

__all__ = ["Job", "Limits", "Reading", "Run", "cool_down", "run_here", "run_many", "run_worker", "stop_all", "warm_up"]
