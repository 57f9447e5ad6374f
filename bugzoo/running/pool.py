"""`run_all`: one function for many items at once, here or on other machines, with one Ctrl-C for all of it."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed, wait
from typing import TypeVar

from bugzoo.machine import cores
from bugzoo.running.worker import stop_all

Item = TypeVar("Item")
Done = TypeVar("Done")


def run_all(
    function: Callable[[Item], Done],
    items: Iterable[Item],
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    on_done: Callable[[int, Done], None] | None = None,
    stopping: threading.Event | None = None,
) -> list[Done]:
    """`function` of each item; the values in the items' order, started in that order too.

    By default `workers` (one per core) threads, which only wait: what is heavy runs in processes, through `run_worker`.
    With an `executor`, such as `client.get_executor()` of a Dask cluster, function and items must be picklable.
    `on_done(index, value)` is called in this thread as each is done, for whoever keeps what an interruption must not lose.
    What raises, here or there, ends everything that is still running here and is raised again; `stopping` is set first.
    """
    own = executor is None
    pool = executor or ThreadPoolExecutor(workers or cores(), thread_name_prefix="bugzoo")
    futures: dict[Future, int] = {}
    try:
        for index, item in enumerate(items):
            futures[pool.submit(function, item)] = index
        for future in as_completed(futures):
            value = future.result()
            if on_done:
                on_done(futures[future], value)
        return [future.result() for future in futures]
    except BaseException:
        if stopping:
            stopping.set()
        for future in futures:
            future.cancel()
        while own and not all(future.done() for future in futures):
            stop_all()  # again and again: a grading runs several jobs, one after another
            wait(futures, timeout=0.2)
        raise
    finally:
        if own:
            pool.shutdown(wait=True)
