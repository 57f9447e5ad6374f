"""`run_many`: many jobs at once, in local workers or through any `concurrent.futures.Executor`."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed, wait

from bugzoo.running.endings import record
from bugzoo.running.job import Job
from bugzoo.running.result import Run
from bugzoo.running.worker import run_worker, stop_all
from bugzoo.watching.trace import Trace


def run_many(
    jobs: Iterable[Job],
    executor: Executor | None = None,
    progress: Callable[[int, int, Run], None] | None = None,
    workers: int | None = None,
    done: Callable[[int, Run], None] | None = None,
) -> list[Run]:
    """Run every job and return the runs in the order of the jobs.

    `executor`: for example `client.get_executor()` of a Dask cluster; by default `workers` (one per core) local
    processes forked from one warm process. `progress(finished, total, run)` is called in this thread as each run ends,
    and so is `done(index of the job, run)`, for whoever wants to keep results that an interruption must not lose.
    A job that cannot be run at all comes back as a `crashed` run. Ctrl-C ends the running jobs and raises.
    """
    jobs = list(jobs)
    own = executor is None
    # threads only wait here: each run is a process of its own
    pool = executor or ThreadPoolExecutor(workers or len(os.sched_getaffinity(0)), thread_name_prefix="bugzoo")
    futures: dict[Future, int] = {}
    runs: list[Run | None] = [None] * len(jobs)
    try:
        futures = {pool.submit(_run, job): index for index, job in enumerate(jobs)}
        for count, future in enumerate(as_completed(futures), 1):
            job = jobs[futures[future]]
            try:
                run = future.result()
            except Exception as error:  # the machinery failed, not the script
                run = Run(Trace(outcome="crashed", error=record(error, job.file)), job.source, job.file)
            runs[futures[future]] = run
            if done:
                done(futures[future], run)
            if progress:
                progress(count, len(jobs), run)
    except BaseException:
        for future in futures:
            future.cancel()
        while own and not all(future.done() for future in futures):
            stop_all()
            wait(futures, timeout=0.2)
        raise
    finally:
        if own:
            pool.shutdown(wait=True)
    return [run for run in runs if run is not None]


def _run(job: Job) -> Run:
    return run_worker(job)
