"""Several gradings at once, so that Ctrl-C ends them all and waits for nothing but their end."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from typing import TypeVar

from bugzoo.running import stop_all

Item, Done = TypeVar("Item"), TypeVar("Done")


def together(
    function: Callable[[Item], Done],
    items: Iterable[Item],
    workers: int,
    on_done: Callable[[Done], None] = lambda _: None,
    stopping: threading.Event | None = None,
) -> list[Done]:
    """`function` of each item, in the items' order. The jobs that it runs go through `run_worker`.

    `on_done` is called in this thread with each value as it comes. What raises, here or there, ends everything that is
    still running and is raised again; `stopping` is set first, so that `function` may know that its job was cut short.
    """
    stopping = stopping or threading.Event()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="bugzoo")
    futures = []
    try:
        futures += [pool.submit(function, item) for item in items]
        for future in as_completed(futures):
            on_done(future.result())
        return [future.result() for future in futures]
    except BaseException:
        stopping.set()
        for future in futures:
            future.cancel()
        while not all(future.done() for future in futures):
            stop_all()  # again and again: a grading runs several jobs, one after another
            wait(futures, timeout=0.2)
        raise
    finally:
        pool.shutdown(wait=True)
