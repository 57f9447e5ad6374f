"""The process that grades in the background: `python -m bugzoo.instructor.serve.grader FOLDER JOB WORKERS`.

It ends as Ctrl-C ends `bugzoo grade`: by the server's signal, or when the server is gone, which closes its stdin.
What is graded is kept as it comes, so that the next one of the same job goes on from there.
"""

import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.instructor import submission
from bugzoo.instructor.records import Record
from bugzoo.instructor.serve.store import DONE, FAILED, RUNNING, HandIn, Job, Store
from bugzoo.instructor.submission import Submission

Graded = tuple[HandIn, Record, Submission, dict[str, Any] | None]
"""A hand-in, its result, what was read of it, and the curve of its run."""


def run(folder: Path, number: int, workers: int | None = None) -> None:
    """Grade what the job has to grade, also what comes in meanwhile. Ends the job, with the reason where it could not."""
    with Store.open(folder) as store:
        job = store.job()
        if job is None or (job.id, job.state) != (number, RUNNING):
            return
        try:
            _run(folder, store, job, workers)
        except UserError as error:
            store.end(number, FAILED, str(error))
        else:
            store.end(number, DONE)


def _run(folder: Path, store: Store, job: Job, workers: int | None) -> None:
    from bugzoo.instructor import tasks
    from bugzoo.instructor.classroom import grade_one
    from bugzoo.instructor.course import feedback, runs
    from bugzoo.running import sandbox
    from bugzoo.running.pool import run_all

    task = tasks.load(str(folder))
    try:
        why = sandbox.missing()
    except RuntimeError as error:
        why = str(error)
    if why:
        raise UserError(f"Nothing was graded: {why} Grade on a machine that allows user namespaces.")
    by, original, done = task.fingerprint(), task.original(), store.graded(job.id)

    def grade(one: HandIn) -> Graded:
        given = submission.read(_written(one), original, task.name)
        record = grade_one(given, task, by, strict=True)
        return one, record, given, runs.alone(given, task) if record.repair else None

    def picture(given: Submission, curve: dict[str, Any] | None) -> str:
        owner, _ = task.owner(given.student, given.tag)
        return feedback.picture(curve, runs.healthy(task, owner)) if curve else ""

    def _written(one: HandIn) -> Submission:
        with Store.open(folder) as own:  # a connection for each thread
            data = own.content(one.id)
        path = Path(place) / f"{one.id}.ipynb"
        path.write_bytes(data)
        facts = {"notes": tuple(json.loads(one.notes)), "timestamp": one.handed_at or one.at[:19], "handed": one.file}
        return Submission(one.student, path, place=one.place, matched=one.matched, unmatched=one.unmatched, **facts)

    def tell(_: int, found: Graded) -> None:
        nonlocal done
        done += 1
        one, record, given, curve = found
        store.keep(
            one.id, job.id, record, picture(given, curve)
        )  # drawn here: matplotlib's settings are for one thread
        store.told(job.id, done, total)
        (Path(place) / f"{one.id}.ipynb").unlink(missing_ok=True)

    with tempfile.TemporaryDirectory(prefix="bugzoo-serve-") as place:
        while todo := store.todo(job, by):
            total = done + len(todo)
            store.told(job.id, done, total)
            run_all(grade, todo, workers=workers, on_done=tell)


def _leave_with_the_server() -> None:
    while os.read(0, 4096):  # not sys.stdin: its lock would be held when the interpreter ends
        pass
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a server in the background hands down that it is ignored
    threading.Thread(target=_leave_with_the_server, daemon=True).start()
    try:
        run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) or None)
    except KeyboardInterrupt:
        sys.exit(130)
