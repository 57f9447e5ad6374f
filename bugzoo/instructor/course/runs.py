"""The curve of a hand-in's own run, made once in the sandbox and kept beside the record, for the picture of the feedback."""

import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bugzoo import kept
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.grading.allowances import allowances
from bugzoo.grading.grade import RESULT_MIB, SECONDS
from bugzoo.grading.healthy import recorded
from bugzoo.instructor import diagnosis_cell
from bugzoo.instructor.records import safe
from bugzoo.instructor.submission import Submission
from bugzoo.instructor.tasks import RepairTask, program_of
from bugzoo.plain import plain
from bugzoo.running import Job, Limits, run_worker, sandbox
from bugzoo.running.pool import run_all
from bugzoo.scenario import with_settings

FOLDER = "curves"
MOST = 20_000
"""Steps that are kept; ours have a few hundred, and a hand-in may write any number of them."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class _Asked:
    """One run: whose, of which text, under which conditions. It crosses to other machines."""

    student: str
    key: str
    text: str
    ranks: int
    memory_mib: int


def make(
    found: Sequence[Submission],
    task: RepairTask,
    results: Path,
    progress: Progress | None = None,
    workers: int | None = None,
    trust: bool = False,
    executor: Executor | None = None,
) -> dict[str, dict[str, Any]]:
    """Student -> {"losses", "grad_norms", "outcome", "first"} of the hand-ins that have a program.

    What is kept for the same text is not run again. Raises UserError where there is no sandbox, unless `trust`, and where a
    curve cannot be kept. Ctrl-C keeps what is done.
    """
    asked = [one for one in (_asked(each, task) for each in found if not each.problem) if one]
    done = {one.student: curve for one in asked if (curve := read(results, one.student, one.key))}
    todo = [one for one in asked if one.student not in done]
    if todo and not trust:
        diagnosis_cell.check_sandbox()
    if progress:
        progress(len(done), len(asked))

    def tell(at: int, curve: dict[str, Any]) -> None:
        one = todo[at]
        done[one.student] = curve
        if curve["outcome"] != "not run":  # the machine's fault: it is tried again
            write_atomic(_place(results, one.student), json.dumps(plain(curve)), parents=True)
        if progress:
            progress(len(done), len(asked))

    run_all(partial(_run, strict=not trust), todo, executor=executor, workers=workers, on_done=tell)
    return done


def read(results: Path, student: str, key: str | None = None) -> dict[str, Any] | None:
    """The kept curve of a student, if it is that of `key`; whichever it is where no key is asked for."""
    try:
        found = json.loads(_place(results, student).read_text(encoding="utf-8"))
        curve = {name: [float(value) for value in found[name]] for name in ("losses", "grad_norms")}
        said = {"key": str(found["key"]), "outcome": str(found["outcome"]), "first": found.get("first")}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return curve | said if key in (None, said["key"]) else None


def alone(one: Submission, task: RepairTask, trust: bool = False) -> dict[str, Any] | None:
    """The curve of one hand-in, run now and kept nowhere; None where it has no program. Never raises for what is in it."""
    asked = None if one.problem else _asked(one, task)
    return _run(asked, strict=not trust) if asked else None


def healthy(task: RepairTask, owner: str) -> dict[str, Any] | None:
    """The healthy run of the owner's variant, made in a worker once on this machine; None where it does not end."""
    case = task.case(owner)
    try:
        found = recorded(_seeded(task.healthy(owner), case.seed), case.ranks)
    except UserError:
        return None
    return {"losses": list(found.losses), "grad_norms": list(found.grad_norms)}


def _place(results: Path, student: str) -> Path:
    return results / FOLDER / f"{safe(student)}.json"


def _asked(one: Submission, task: RepairTask) -> _Asked | None:
    owner, _ = task.owner(one.student, one.tag)
    case = task.case(owner)
    text = _seeded(program_of(one, task, owner), case.seed)
    key = kept.key("own", text, case.ranks, version("torch"))
    return _Asked(one.student, key, text, case.ranks, allowances(case).memory_mib)


def _seeded(text: str, seed: int) -> str:
    """With the seed that the class got, so that the two curves can be compared; as it is where it has none to set."""
    try:
        return with_settings(text, {"seed": seed}, "the program")
    except (UserError, SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def _run(asked: _Asked, strict: bool) -> dict[str, Any]:
    """Never raises for what is in a submission."""
    curve: dict[str, Any] = {"key": asked.key, "losses": [], "grad_norms": [], "outcome": "not run", "first": None}
    try:
        isolated = sandbox.needed(strict)
        limits = Limits(seconds=SECONDS, memory_mib=asked.memory_mib, processes=16, result_mib=RESULT_MIB)
        job = Job(asked.text, file="program.py", limits=limits, ranks=asked.ranks, isolated=isolated, quiet=True)
        run = run_worker(job)
        if run.trouble:
            return curve
        curve["losses"] = [float(value) for value in run.trace.loss[:MOST]]
        curve["grad_norms"] = [float(value) for value in run.trace.grad_norm[:MOST]]
        curve["outcome"] = str(run.outcome)
        bad = [at for at, value in enumerate(curve["losses"], 1) if not math.isfinite(value)]
        curve["first"] = bad[0] if bad else None
    except Exception:  # a submission's process can leave anything behind; its page then has no picture
        return curve
    return curve
