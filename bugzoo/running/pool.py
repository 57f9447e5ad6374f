"""`run_all`: call one function for many items in parallel, here or on other machines. One Ctrl-C stops all."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed, wait
from typing import TypeVar

from bugzoo.machine import cores
from bugzoo.running.worker import stop_all
from bugzoo.syntax import parse_in_threads

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
    """Call `function` for each item, in order, and return the values in the same order.

    By default, `workers` (one per core) threads only wait: heavy work runs in processes, through `run_worker`.
    With an `executor`, such as `client.get_executor()` of a Dask cluster, function and items must be picklable.
    `on_done(index, value)` is called in this thread after each item, so that results can be saved at once.
    An exception, here or there, stops everything that still runs here and is raised again. `stopping` is set first.
    """
    threaded = executor is None
    parse_in_threads()
    pool = executor or ThreadPoolExecutor(workers or cores(), thread_name_prefix="bugzoo")
    futures: dict[Future[Done], int] = {}
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
        while threaded and not all(future.done() for future in futures):
            stop_all()  # repeatedly, because a grading runs several jobs one after another
            wait(futures, timeout=0.2)
        raise
    finally:
        if threaded:
            pool.shutdown(wait=True)
