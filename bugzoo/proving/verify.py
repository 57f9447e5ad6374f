"""`bugzoo verify`: proves every fault on every program that it fits, broken against healthy, over matched seeds."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from bugzoo.faults.model import Fault
from bugzoo.proving import ledger
from bugzoo.proving.cells import SEEDS, device_of
from bugzoo.proving.completeness import note_standing
from bugzoo.proving.look_alikes import pairs
from bugzoo.proving.matrix import Cell, VerifyReport
from bugzoo.proving.parts import CellCase, Control, Result, Told, Wanted, case_of, control_of, told_of
from bugzoo.proving.request import Request
from bugzoo.proving.tried import Tried, grade_all
from bugzoo.scenario import fits

Progress = Callable[[int, int], None]
"""Called with (done, of)."""


def verify(
    names: Iterable[str] = (),
    only_programs: Iterable[str] = (),
    device: str = "cpu",
    seeds: Sequence[int] = SEEDS,
    executor: Executor | None = None,
    progress: Progress | None = None,
    fresh: bool = False,
    backlog: bool = True,
    ask: Callable[["Plan"], None] | None = None,
    compared: Progress | None = None,
) -> VerifyReport:
    """Prove faults (all by default). Raises UserError for unknown names; the report lists what is not proved.

    Ledger entries are trusted; the rest is run and graded, or read from the cache, and written to the ledger. `fresh`
    ignores both. Without `backlog` an entry counts while its texts and claims are current, whichever code measured it.
    First proofs and grades then keep waiting unless their fault is named. Before anything runs, `ask` gets the plan and
    raises to stop it, and `compared(done, of)` counts the cells whose texts are built. An `executor` runs the work on
    other machines. With seeds other than SEEDS only the evidence is checked: nothing is graded or written.
    """
    started = time.perf_counter()
    request = Request.of(names, only_programs, device=device, seeds=seeds, fresh=fresh, backlog=backlog)
    work = _work(request, compared)
    if ask and (plan := work.plan()).anything:
        ask(plan)
    work.do(executor, progress)
    return work.report(time.perf_counter() - started)


@dataclass(frozen=True)
class Plan:
    """What would be run, and why."""

    runs: int
    gradings: int
    parts: tuple[str, ...]
    """One line per cell, healthy program or pair of look-alikes: its name, ": " and the reason."""

    @property
    def anything(self) -> bool:
        return bool(self.runs or self.gradings)

    def by_reason(self) -> dict[str, list[str]]:
        """Return reason -> the names it applies to."""
        names: dict[str, list[str]] = {}
        for what, _, why in (part.partition(": ") for part in self.parts):
            names.setdefault(why, []).append(what)
        return names

    @property
    def minutes(self) -> float:
        """Return the estimated time on this machine, in minutes."""
        from bugzoo.machine import cores

        return (self.runs * RUN_SECONDS + self.gradings * GRADING_SECONDS) / cores() / 60


RUN_SECONDS, GRADING_SECONDS = 5.0, 8.0
"""Estimated time of a run with its instruments, and of a grading, on one core (measurements are in CHANGELOG)."""


@dataclass
class Work:
    """What one call of `verify` does, and what came of it."""

    request: Request
    cells: list[Cell]
    """All cells of the report; `cases` are those that can run."""
    cases: list[CellCase]
    controls: list[Control]
    pairs: list[Told]
    jobs: list[list[Wanted]] = field(init=False)
    """The runs of each part."""
    gradings: int = field(init=False)
    runs: int = 0
    cached: int = 0
    graded: int = 0

    def __post_init__(self) -> None:
        self.jobs = [part.wanted() for part in self.parts]
        self.gradings = sum(len(trials.missing()) for trials in self.trials)

    @property
    def parts(self) -> list[CellCase | Control | Told]:
        return [*self.cases, *self.controls, *self.pairs]

    @property
    def trials(self) -> list[Tried]:
        return [case.tried for case in self.cases if case.tried]

    @property
    def all_jobs(self) -> list[Wanted]:
        return list(chain.from_iterable(self.jobs))

    def plan(self) -> Plan:
        """Return what would be run, and why."""
        runs = 0
        if self.all_jobs:
            from bugzoo.proving.measured import missing

            runs = missing(self.all_jobs, self.request.fresh)
        return Plan(runs, self.gradings, tuple(part.why() for part in self.parts if part.why()))

    def do(self, executor: Executor | None, progress: Progress | None) -> None:
        """Run, grade, judge and write. After Ctrl-C among the grades, what is known is written, then it is raised."""
        tell = progress or (lambda done, of: None)
        results = self._run(executor, lambda done, of: tell(done, of + self.gradings))
        try:
            self.graded = grade_all(
                self.trials, executor, lambda done, _: tell(self.runs + done, self.runs + self.gradings)
            )
        except KeyboardInterrupt:  # the numbers are complete: they are written, with the grades so far
            self._finish(results, complete=False)
            raise
        self._finish(results, complete=True)

    def _run(self, executor: Executor | None, progress: Progress) -> list[Result]:
        if not self.all_jobs:  # then do not import torch
            return []
        from bugzoo.proving.measured import measured

        results, self.runs, ran = measured(self.all_jobs, executor, progress, self.request.fresh)
        self.cached = self.runs - ran
        return results

    def _finish(self, results: list[Result], complete: bool) -> None:
        """Judge the parts by their results, and write them to the ledger."""
        rest = iter(results)
        for part, jobs in zip(self.parts, self.jobs, strict=True):
            part.judge(list(islice(rest, len(jobs))))
        request = self.request
        if not request.records:
            return
        cases = [case for case in self.cases if device_of(case.fault) == request.device]
        _write_down(cases, self.controls if request.on_cpu else [], self.pairs)
        if request.on_cpu and not request.only and complete:
            note_standing(request.unsettled)

    def report(self, seconds: float) -> VerifyReport:
        """Return the results. `seconds`: how long they took."""
        return VerifyReport(
            self.cells,
            [control.healthy for control in self.controls],
            _environment(self.request.device),
            seconds,
            self.runs,
            self.cached,
            [*self.request.pairs_of_ledger(), *(pair.apart for pair in self.pairs)],
            self.graded,
        )


def _work(request: Request, compared: Progress | None) -> Work:
    """Return the remaining work: what the ledger does not hold."""
    new = request.cells_to_prove()
    cases = _cases(request, new, compared)
    trusts = request.trusts and request.on_cpu
    controls = [
        control_of(program, request.device, request.seeds, trusts, request.backlog)
        for program in request.healthy_programs(case.cell for case in cases)
    ]
    pairs = [told_of(pair, request.trusts, request.backlog) for pair in request.pairs_to_prove()]
    return Work(request, [*request.cells_of_ledger(), *new], cases, controls, pairs)


def _cases(request: Request, cells: Sequence[Cell], compared: Progress | None) -> list[CellCase]:
    cases = []
    for place, cell in enumerate(cells):
        if compared:
            compared(place, len(cells))
        case = case_of(
            cell, request.device, request.seeds, request.records, request.fresh, request.backlog, request.by_name
        )
        cases += [case] if case else []
    return cases


def _write_down(cases: list[CellCase], controls: list[Control], alike: list[Told]) -> None:
    """Update the ledger with the results."""
    by = ledger.environment()
    for fault in {case.fault.id: case.fault for case in cases if ledger.ours(case.fault.id)}.values():
        before = ledger.read("faults", fault.id)
        cells = {case.cell.program: case.entry() | {"with": by} for case in cases if case.fault.id == fault.id}
        tests = {test.apart.other: test.entry() for test in alike if test.pair.fault.id == fault.id}
        merged = {
            "cells": _merged_cells(fault, before.get("cells", {}), cells),
            "look_alikes": _merged_pairs(fault, before.get("look_alikes", {}), tests),
        }
        ledger.write("faults", fault.id, {name: dict(sorted(entries.items())) for name, entries in merged.items()})
    for control in controls:
        if not control.healthy.in_ledger:
            name = control.healthy.program
            ledger.write("programs", name, ledger.newer(ledger.read("programs", name), control.entry() | {"with": by}))
    ledger.write_matrix()


def _merged_cells(fault: Fault, old: ledger.Entry, new: ledger.Entry) -> ledger.Entry:
    """Return the old entries of the programs that the fault still fits, and the new ones."""
    stay = {program: old[program] for program in fits(fault) if program in old}
    return stay | {program: ledger.newer(old.get(program, {}), entry) for program, entry in new.items()}


def _merged_pairs(fault: Fault, old: ledger.Entry, new: ledger.Entry) -> ledger.Entry:
    """Return the old entries of the look-alikes that the fault still has, and the new ones."""
    others = [pair.look_alike.other for pair in pairs(fault)]
    return {other: old[other] for other in others if other in old} | new


def _environment(device: str) -> dict[str, Any]:
    import platform
    from importlib.metadata import version

    facts: dict[str, Any] = {"python": platform.python_version(), "device": device, "machine": platform.machine()}
    facts |= {name: version(name) for name in ("torch", "torchvision", "numpy")}
    if device == "cuda":
        import torch

        facts["cuda"] = torch.version.cuda
        facts["gpu"] = torch.cuda.get_device_name()
    return facts
