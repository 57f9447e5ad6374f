"""`bugzoo verify`: proves every fault on every program that it fits, broken against healthy, over matched seeds."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import chain
from typing import Any

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.proving import ledger, standing
from bugzoo.proving.cells import SEEDS, device_of
from bugzoo.proving.completeness import note_standing
from bugzoo.proving.look_alikes import pairs
from bugzoo.proving.matrix import Apart, Cell, VerifyReport
from bugzoo.proving.parts import CellCase, Control, Result, Told, Wanted, believed, case_of, control_of, told_of
from bugzoo.proving.tried import grade_all
from bugzoo.scenario import fits


def verify(
    names: Iterable[str] = (),
    only_programs: Iterable[str] = (),
    device: str = "cpu",
    seeds: Sequence[int] = SEEDS,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    fresh: bool = False,
    backlog: bool = True,
    ask: Callable[["Plan"], None] | None = None,
    compared: Callable[[int, int], None] | None = None,
) -> VerifyReport:
    """Prove faults (all by default). Raises UserError for unknown names; the report lists what is not proved.

    Ledger entries are trusted; the rest is run and graded, or read from the cache, and written to the ledger. `fresh`
    ignores both. Without `backlog` an entry counts while its texts and claims are current, whichever code measured it.
    First proofs and grades then keep waiting unless their fault is named. Before anything runs, `ask` gets the plan and
    raises to stop it, and `compared(done, of)` counts the cells whose texts are built. An `executor` runs the work on
    other machines. With seeds other than SEEDS only the evidence is checked: nothing is graded or written.
    """
    started = time.perf_counter()
    names = list(names)
    chosen = [catalogue.load(name) for name in names] or list(catalogue.catalogue().values())
    only = [programs.load(name).name for name in only_programs]
    written = seeds == SEEDS
    believe = written and not fresh
    plain = believe and not backlog and device == "cpu" and not names
    settled = [fault for fault in chosen if plain and standing.stands(fault)]
    of_ledger = {fault.id: believed(fault, ledger.read("faults", fault.id)) for fault in settled}
    waits = ledger.waiting() if plain else set()
    new = [
        Cell(fault.id, p, effect=fault.effect)
        for fault in chosen
        if fault.id not in of_ledger
        for p in fits(fault)
        if f"{fault.id} on {p}" not in waits
    ]
    cells = [cell for cell in [*chain.from_iterable(of_ledger.values()), *new] if not only or cell.program in only]
    cases = []
    for place, cell in enumerate(one for one in new if not only or one.program in only):
        if compared:
            compared(place, len(new))
        if case := case_of(cell, device, seeds, written, fresh, backlog, bool(names)):
            cases.append(case)
    alike_of_ledger = [
        Apart(fault.id, other, said["program"], said["problems"], True)
        for fault in settled
        for other, said in ledger.read("faults", fault.id).get("look_alikes", {}).items()
        if not only or said["program"] in only
    ]
    alone = () if names else only or programs.names()  # a program that no fault fits must be healthy as well
    healthy = dict.fromkeys([*(case.cell.program for case in cases), *alone])
    controls = [control_of(program, device, seeds, believe and device == "cpu", backlog) for program in healthy]
    alike = [
        told_of(pair, believe, backlog)
        for fault in (chosen if written and device == "cpu" else ())
        if fault.id not in of_ledger
        for pair in pairs(fault)
        if (not only or pair.program in only) and f"{fault.id} beside {pair.look_alike.other}" not in waits
    ]
    parts: list[CellCase | Control | Told] = [*cases, *controls, *alike]
    asked = [part.wanted() for part in parts]
    cells_tried = [case.tried for case in cases if case.tried]
    to_grade = sum(len(one.missing()) for one in cells_tried)
    jobs = 0
    if ask and (plan := _plan(parts, asked, to_grade, fresh)).anything:
        ask(plan)

    def measuring(done: int, of: int) -> None:
        nonlocal jobs
        jobs = of
        if progress:
            progress(done, of + to_grade)

    def grading(done: int, _: int) -> None:
        if progress:
            progress(jobs + done, jobs + to_grade)

    results, runs, ran = _run([one for some in asked for one in some], executor, measuring, fresh)
    graded, stopped = 0, None
    try:
        graded = grade_all(cells_tried, executor, grading)
    except KeyboardInterrupt as error:  # the numbers are complete: they are written, with the grades so far
        stopped = error
    for part, some in zip(parts, asked, strict=True):
        part.judge(results[: len(some)])
        results = results[len(some) :]
    if written:
        mine = [case for case in cases if device_of(case.fault) == device]
        _write_down(mine, controls if device == "cpu" else [], alike)
        if device == "cpu" and not only and not stopped:
            note_standing(fault for fault in chosen if fault not in settled)
    if stopped:
        raise stopped
    return VerifyReport(
        cells,
        [control.healthy for control in controls],
        _environment(device),
        time.perf_counter() - started,
        runs,
        runs - ran,
        [*alike_of_ledger, *(one.apart for one in alike)],
        graded,
    )


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
        found: dict[str, list[str]] = {}
        for what, _, why in (part.partition(": ") for part in self.parts):
            found.setdefault(why, []).append(what)
        return found

    @property
    def minutes(self) -> float:
        """Return the estimated time on this machine, in minutes."""
        from bugzoo.machine import cores

        return (self.runs * RUN_SECONDS + self.gradings * GRADING_SECONDS) / cores() / 60


RUN_SECONDS, GRADING_SECONDS = 5.0, 8.0
"""Estimated time of a run with its instruments, and of a grading, on one core (measurements are in CHANGELOG)."""


def _plan(parts: Sequence[Any], asked: Sequence[list[Wanted]], to_grade: int, fresh: bool) -> Plan:
    wanted = [one for some in asked for one in some]
    runs = 0
    if wanted:
        from bugzoo.proving.measured import missing

        runs = missing(wanted, fresh)
    why = tuple(part.why() for part in parts if part.why())
    return Plan(runs, to_grade, why)


def _run(wanted: list[Wanted], executor: Any, progress: Any, fresh: bool) -> tuple[list[Result], int, int]:
    if not wanted:  # then do not import torch
        return [], 0, 0
    from bugzoo.proving.measured import measured

    return measured(wanted, executor, progress, fresh)


def _write_down(cases: list[CellCase], controls: list[Control], alike: list[Told]) -> None:
    """Update the ledger with the results."""
    by = ledger.environment()
    for fault in {case.fault.id: case.fault for case in cases if ledger.ours(case.fault.id)}.values():
        before = ledger.read("faults", fault.id)
        old, said = before.get("cells", {}), before.get("look_alikes", {})
        new = {case.cell.program: case.entry() | {"with": by} for case in cases if case.fault.id == fault.id}
        kept = {program: old[program] for program in fits(fault) if program in old}
        merged = kept | {name: ledger.newer(old.get(name, {}), entry) for name, entry in new.items()}
        told = {
            pair.look_alike.other: said[pair.look_alike.other] for pair in pairs(fault) if pair.look_alike.other in said
        }
        told |= {one.apart.other: one.entry() for one in alike if one.pair.fault.id == fault.id}
        ledger.write(
            "faults", fault.id, {"cells": dict(sorted(merged.items())), "look_alikes": dict(sorted(told.items()))}
        )
    for control in controls:
        if not control.healthy.in_ledger:
            name = control.healthy.program
            ledger.write("programs", name, ledger.newer(ledger.read("programs", name), control.entry() | {"with": by}))
    ledger.write_matrix()


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
