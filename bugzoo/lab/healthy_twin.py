"""The healthy twin of a case: a real run of the same program, settings and seed without the fault, cached.

Twins run one after the other, never in parallel. Each starts from its own seed and nothing else draws random numbers
meanwhile, so each is bitwise reproducible.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bugzoo import device
from bugzoo.errors import UserError
from bugzoo.lab.engine import Engine, Point
from bugzoo.running import Job, Run
from bugzoo.scenario import Scenario

_KEPT: "OrderedDict[str, tuple[list[Point], Run]]" = OrderedDict()


@dataclass(frozen=True)
class Curve:
    """A healthy run as numbers only, for an exercise's view: the learner must not see the healthy source."""

    steps: Sequence[int]
    """Optimizer steps from 1."""
    losses: Sequence[float]
    grad_norms: Sequence[float]
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Validation metrics at its end."""
    device: str = device.CPU
    """Where it ran."""

    @property
    def points(self) -> list[Point]:
        """Return (step, loss, gradient norm) for each step."""
        return list(zip(self.steps, self.losses, self.grad_norms, strict=True))


@dataclass
class TwinCase:
    """The input of a view: source, twin (source, recorded curve or None), file name, and a label without the fault."""

    source: str
    twin: str | Curve | None
    file: str
    label: str
    scenario: Scenario | None = None
    job: Job | None = None
    """How to run it in its own processes: several ranks, a memory limit, or a fresh process."""
    twin_job: Job | None = None

    @property
    def places(self) -> tuple[str, str]:
        """What is added to the names of the run and of its twin: their devices, nothing where both are the CPU."""
        here = device.of_text(self.source)
        if isinstance(self.twin, Curve):
            return device.places(here, self.twin.device, recorded=True)
        return device.places(here, here if self.twin is None else device.of_text(self.twin))


def case_of(what: Scenario | str, healthy: Scenario | Curve | str | None = None, job: Job | None = None) -> TwinCase:
    """Return the case for a Scenario (which brings its twin) or a script's text. `healthy` gives or replaces the twin.

    `job`: how to run the text in its own process; the job's own text is ignored.
    """
    reference = healthy.source if isinstance(healthy, Scenario) else healthy
    if isinstance(what, Scenario):
        twin = reference or (what.healthy().source if what.faults else None)
        case = TwinCase(what.source, twin, f"{what.program}.py", what.ticket, what)
        if what.ranks > 1 or what.needs.memory_mib is not None:
            case.job, case.twin_job = what.job(), what.healthy().job()
        return case
    if not isinstance(what, str):
        raise UserError(f"Give a Scenario or the text of a script, not a {type(what).__name__}.")
    case = TwinCase(what, reference, "train.py", "your program")
    if job is not None:
        case.file, case.job = job.file, replace(job, source=what)
    if isinstance(healthy, Scenario) and healthy.ranks > 1:  # the text is a version of it
        whole = healthy.job()
        case.job, case.twin_job = replace(whole, source=what, file="train.py"), whole
    return case


def known(case: TwinCase) -> tuple[list[Point], Run | Curve] | None:
    """Return the twin's points and run if it is recorded, or has run before in this kernel."""
    if isinstance(case.twin, Curve):
        return case.twin.points, case.twin
    return _KEPT.get(case.twin or "")


def engine(case: TwinCase, cap: int | None = None) -> Engine:
    """Return the twin as a separate run at full speed; its file name keeps its tracebacks apart from the case's."""
    return Engine(str(case.twin or ""), f"healthy_{case.file}", cap=cap, job=case.twin_job)


def keep(case: TwinCase, finished: Any) -> None:
    """Cache a finished twin; the latest eight are kept, without their live objects."""
    run = finished.run
    if run is None or run.outcome != "finished" or not isinstance(case.twin, str):
        return
    run.trace.live, run.namespace = None, {}
    _KEPT[case.twin] = (finished.points, run)
    while len(_KEPT) > 8:
        _KEPT.popitem(last=False)
