"""Other people's code runs in the sandbox, where the grader's held-out examples are withheld from it."""

from collections.abc import Mapping
from dataclasses import replace

from bugzoo import withheld
from bugzoo.running import Job
from bugzoo.running.isolation import NOTHING, visible


def isolate(job: Job, also: Mapping[str, str] = NOTHING) -> Job:
    """Return `job` isolated, with what every submission is refused and what this one is refused `also`. Raises OSError.

    No other function of a grader makes an isolated job. It is called on the machine that runs the job.
    """
    return replace(job, isolated=True, withheld={**withheld.everywhere(visible()), **also})
