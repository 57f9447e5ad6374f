"""The healthy twin of a case: a real run of the same program, settings and seed without the fault, kept for next time.

Twins run one after the other, never beside each other: both start from their own seed and nothing else draws random
numbers meanwhile, so each is the same to the last bit every time.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

from bugzoo.errors import UserError
from bugzoo.lab.engine import Engine, Point
from bugzoo.running import Run
from bugzoo.scenario import Scenario

_KEPT: "OrderedDict[str, tuple[list[Point], Run]]" = OrderedDict()


@dataclass
class Case:
    """What a view runs: a text, its twin's text (None without one), a file name and a label that names no fault."""

    source: str
    twin: str | None
    file: str
    label: str
    scenario: Scenario | None = None
    job: Any = None
    """How it is run where it needs several processes or a memory limit, and its twin with it."""
    twin_job: Any = None


def case_of(what: Scenario | str, healthy: Scenario | str | None = None) -> Case:
    """`what`: a Scenario (its twin comes with it) or the text of a script. `healthy` gives or replaces the twin."""
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
    if isinstance(healthy, Scenario) and healthy.ranks > 1:  # the text is a version of it
        case.twin_job = healthy.job()
        case.job = replace(case.twin_job, source=what, file="train.py")
    return case


def known(case: Case) -> tuple[list[Point], Run] | None:
    """The twin's points and run where it has run before in this kernel."""
    return _KEPT.get(case.twin or "")


def engine(case: Case, cap: int | None = None) -> Engine:
    """The twin as a run of its own, as fast as it goes; its lines are not mixed up with the case's in tracebacks."""
    return Engine(case.twin or "", f"healthy_{case.file}", cap=cap, job=case.twin_job)


def keep(case: Case, finished: Any) -> None:
    """Remember a twin that ran to its end; the eight latest are kept, without their live objects."""
    run = finished.run
    if run is None or run.outcome != "finished" or case.twin is None:
        return
    run.trace.live, run.namespace = None, {}
    _KEPT[case.twin] = (finished.points, run)
    while len(_KEPT) > 8:
        _KEPT.popitem(last=False)
