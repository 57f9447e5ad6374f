"""The healthy twin of a case: a real run of the same program, settings and seed without the fault, kept for next time.

Twins run one after the other, never beside each other: both start from their own seed and nothing else draws random
numbers meanwhile, so each is the same to the last bit every time.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bugzoo.errors import UserError
from bugzoo.lab.engine import Engine, Point
from bugzoo.running import Job, Run
from bugzoo.scenario import Scenario

_KEPT: "OrderedDict[str, tuple[list[Point], Run]]" = OrderedDict()


@dataclass(frozen=True)
class Curve:
    """A healthy run as numbers only: what an exercise's view draws behind, whose text nobody may come upon."""

    steps: Sequence[int]
    """Optimiser steps from 1."""
    losses: Sequence[float]
    grad_norms: Sequence[float]
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Validation numbers at its end."""

    @property
    def points(self) -> list[Point]:
        """(step, loss, gradient norm)."""
        return list(zip(self.steps, self.losses, self.grad_norms, strict=True))


@dataclass
class Case:
    """What a view runs: a text, its twin (a text, a recorded curve or none), a file name, a label that names no fault."""

    source: str
    twin: str | Curve | None
    file: str
    label: str
    scenario: Scenario | None = None
    job: Job | None = None
    """How it is run where it needs processes of its own: several, a memory limit, or simply a fresh one."""
    twin_job: Job | None = None


def case_of(what: Scenario | str, healthy: Scenario | Curve | str | None = None, job: Job | None = None) -> Case:
    """`what`: a Scenario (its twin comes with it) or the text of a script. `healthy` gives or replaces the twin.

    `job`: how the text is run in a process of its own, whatever text the job itself carries.
    """
    given = healthy.source if isinstance(healthy, Scenario) else healthy
    if isinstance(what, Scenario):
        twin = given or (what.healthy().source if what.faults else None)
        case = Case(what.source, twin, f"{what.program}.py", what.ticket, what)
        if what.ranks > 1 or what.needs.memory_mib is not None:
            case.job, case.twin_job = what.job(), what.healthy().job()
        return case
    if not isinstance(what, str):
        raise UserError(f"A view shows a Scenario or the text of a script, not a {type(what).__name__}.")
    case = Case(what, given, "train.py", "your program")
    if job is not None:
        case.file, case.job = job.file, replace(job, source=what)
    if isinstance(healthy, Scenario) and healthy.ranks > 1:  # the text is a version of it
        whole = healthy.job()
        case.job, case.twin_job = replace(whole, source=what, file="train.py"), whole
    return case


def known(case: Case) -> tuple[list[Point], Run | Curve] | None:
    """The twin's points and run where it is a recorded one, or has run before in this kernel."""
    if isinstance(case.twin, Curve):
        return case.twin.points, case.twin
    return _KEPT.get(case.twin or "")


def engine(case: Case, cap: int | None = None) -> Engine:
    """The twin as a run of its own, as fast as it goes; its lines are not mixed up with the case's in tracebacks."""
    return Engine(str(case.twin or ""), f"healthy_{case.file}", cap=cap, job=case.twin_job)


def keep(case: Case, finished: Any) -> None:
    """Remember a twin that ran to its end; the eight latest are kept, without their live objects."""
    run = finished.run
    if run is None or run.outcome != "finished" or not isinstance(case.twin, str):
        return
    run.trace.live, run.namespace = None, {}
    _KEPT[case.twin] = (finished.points, run)
    while len(_KEPT) > 8:
        _KEPT.popitem(last=False)
