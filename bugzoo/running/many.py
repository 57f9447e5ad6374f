"""`run_many`: run many jobs at once, in local workers or through any `concurrent.futures.Executor`."""

from collections.abc import Callable, Iterable
from concurrent.futures import Executor

from bugzoo.running.endings import record
from bugzoo.running.job import Job
from bugzoo.running.pool import run_all
from bugzoo.running.result import Run
from bugzoo.running.worker import run_worker
from bugzoo.watching.trace import Trace


def run_many(
    jobs: Iterable[Job],
    executor: Executor | None = None,
    progress: Callable[[int, int, Run], None] | None = None,
    workers: int | None = None,
) -> list[Run]:
    """Run every job and return the runs in the order of the jobs.

    `executor`: for example `client.get_executor()` of a Dask cluster. By default, `workers` (one per core) local
    processes are forked from one warm process. `progress(finished, total, run)` is called in this thread after each run.
    A job that cannot be run at all is returned as a `crashed` run. Ctrl-C stops the running jobs and raises.
    """
    jobs, finished = list(jobs), 0

    def tell(_: int, run: Run) -> None:
        nonlocal finished
        finished += 1
        if progress:
            progress(finished, len(jobs), run)

    return run_all(run_job, jobs, executor=executor, workers=workers, on_done=tell)


def run_job(job: Job) -> Run:
    """Call `run_worker`. An exception in bugzoo's own machinery is returned as a crashed run."""
    try:
        return run_worker(job)
    except Exception as error:
        run = Run(Trace(outcome="crashed", error=record(error, job.file)), job.source, job.file)
        run.trouble = f"{type(error).__name__}: {error}"
        return run
