"""`grade_many`: a class's submissions, side by side in sandboxed workers, each result as `grade` gives it alone."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from bugzoo.grading.grade import grade, grade_exercise
from bugzoo.grading.model import Result
from bugzoo.running import cool_down, stop_all, warm_up
from bugzoo.scenario import Scenario


@dataclass(frozen=True)
class Task:
    """One program to judge: as a repair of an exercise (by name) or of a scenario.

    `options` go to `grade` or `grade_exercise`: `seeds`, `exercise`, `attempted`, `diagnosis`, ...
    """

    source: str
    of: str | Scenario
    options: dict[str, Any] = field(default_factory=dict)


def grade_many(
    tasks: Iterable[Task],
    *,
    workers: int | None = None,
    strict_isolation: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """Results in the order of the tasks. The same text handed in twice is run once.

    `workers` submissions run at a time, one per core by default. Unlike a self-check, nothing runs outside the sandbox
    unless `strict_isolation` is off: where it cannot be set up, every answer is "cannot be graded". Ctrl-C ends
    the running ones and raises. Raises UserError for an unknown exercise.
    """
    tasks = list(tasks)
    same: dict[str, list[int]] = {}
    for place, task in enumerate(tasks):
        same.setdefault(repr((task.source, task.of, sorted(task.options.items()))), []).append(place)
    results: list[Result | None] = [None] * len(tasks)
    if not tasks:
        return []
    warm_up(clean=True)
    pool = ThreadPoolExecutor(workers or len(os.sched_getaffinity(0)), thread_name_prefix="grading")
    futures: dict[Future, list[int]] = {}
    done = 0
    try:
        # threads only wait: each submission runs in a process of its own
        futures = {pool.submit(_one, tasks[places[0]], strict_isolation): places for places in same.values()}
        for future in as_completed(futures):
            for place in futures[future]:
                results[place] = future.result()
            done += len(futures[future])
            if progress:
                progress(done, len(tasks))
    except BaseException:
        for future in futures:
            future.cancel()
        stop_all()
        cool_down()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [result for result in results if result is not None]


def _one(task: Task, strict: bool) -> Result:
    options = dict(task.options)
    if isinstance(task.of, str):
        return grade_exercise(task.of, task.source, strict_isolation=strict, **options)
    return grade(task.source, task.of, strict_isolation=strict, **options)
