"""`bugzoo verify`: every fault on every program that it fits, broken against healthy, over matched seeds."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.faults.model import Fault
from bugzoo.proving import code, ledger
from bugzoo.proving.cells import (
    SEEDS,
    control_key,
    device_of,
    judge_control,
    judge_full,
    judge_seeds,
    keys_of,
    named,
    out_of_band,
)
from bugzoo.proving.matrix import Cell, Healthy, Report
from bugzoo.scenario import Scenario, fits

Result = dict[str, Any]
Wanted = tuple[Any, frozenset[str]]
"""(job, the instruments to measure on it)"""


@dataclass
class _Case:
    """One cell at work: its scenarios by seed, the seeds that must be looked at, and where the results will be."""

    cell: Cell
    fault: Fault
    scenarios: list[Scenario]
    keys: dict[str, str] = field(default_factory=dict)
    looked: Sequence[int] = ()
    """Places of seeds: all, or the first where only an instrument that is none of the evidence has changed."""

    def wanted(self) -> list[Wanted]:
        found: list[Wanted] = []
        for place in self.looked:
            broken = self.scenarios[place]
            names = named(self.fault) | (code.everything() if place == 0 else set())
            # matched: the twin runs under the same limits, and is shared among faults with the same text
            jobs = (broken.job(), broken.healthy().job(limits=broken.job().limits))
            found += [(job, frozenset(names)) for job in jobs]
        return found

    def judge(self, results: list[Result]) -> None:
        broken, healthy = results[::2], results[1::2]
        if self.looked and len(self.looked) == len(self.scenarios):
            judge_seeds(self.cell, self.fault, broken, healthy)
            if self.fault.settings:  # without, the twin is the control, of which this is asked as well
                self.cell.problems += out_of_band(self.cell.program, healthy)
        if self.looked:
            judge_full(self.cell, broken[0], healthy[0])
        self.cell.in_ledger = not self.looked


@dataclass
class _Control:
    """A healthy program at work."""

    healthy: Healthy
    scenarios: list[Scenario]
    key: str = ""

    def wanted(self) -> list[Wanted]:
        return [] if self.healthy.in_ledger else [(one.job(), code.everything()) for one in self.scenarios]

    def judge(self, results: list[Result]) -> None:
        if results:
            judge_control(self.healthy, results)


def verify(
    names: Iterable[str] = (),
    only_programs: Iterable[str] = (),
    device: str = "cpu",
    seeds: Sequence[int] = SEEDS,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    fresh: bool = False,
) -> Report:
    """Prove faults (all by default). Raises UserError for unknown names; what fails to be proved is in the report.

    What the ledger holds is believed; the rest is run, or looked up in the cache of numbers, and written into the
    ledger. `fresh` believes nothing. `executor` takes the runs to other machines.
    """
    started = time.perf_counter()
    names = list(names)
    chosen = [catalogue.load(name) for name in names] or list(catalogue.catalogue().values())
    only = [programs.load(name).name for name in only_programs]
    written = seeds == SEEDS
    cells = [Cell(fault.id, p, effect=fault.effect) for fault in chosen for p in fits(fault) if not only or p in only]
    cases = [case for cell in cells if (case := _case(cell, device, seeds, written and not fresh))]
    alone = () if names else only or programs.names()  # a program that no fault fits is to be healthy as well
    healthy = dict.fromkeys([*(case.cell.program for case in cases), *alone])
    controls = [_control(program, device, seeds, written and device == "cpu" and not fresh) for program in healthy]
    parts: list[_Case | _Control] = [*cases, *controls]
    asked = [part.wanted() for part in parts]
    results, runs, ran = _run([one for some in asked for one in some], executor, progress, fresh)
    for part, some in zip(parts, asked, strict=True):
        part.judge(results[: len(some)])
        results = results[len(some) :]
    if written:
        _write_down([case for case in cases if device_of(case.fault) == device], controls if device == "cpu" else [])
    return Report(
        cells,
        [control.healthy for control in controls],
        _environment(device),
        time.perf_counter() - started,
        runs,
        runs - ran,
    )


def _run(wanted: list[Wanted], executor: Any, progress: Any, fresh: bool) -> tuple[list[Result], int, int]:
    if not wanted:  # nor is there a reason to import torch
        return [], 0, 0
    from bugzoo.proving.measured import measured

    return measured(wanted, executor, progress, fresh)


def _case(cell: Cell, device: str, seeds: Sequence[int], believe: bool) -> _Case | None:
    """The cell with what must be looked at; None where it cannot be."""
    fault = catalogue.load(cell.fault)
    own = device_of(fault)
    try:
        keys = keys_of(fault, cell.program)
        entry = ledger.read("faults", cell.fault).get("cells", {}).get(cell.program, {}) if believe else {}
        looked: Sequence[int] = range(len(seeds))
        if entry.get("evidence") == keys["evidence"] and not entry.get("problems") and device in (own, "cpu"):
            _restore(cell, entry)
            looked = (0,) if entry.get("full") != keys["full"] and device == own else ()
        elif own == "cuda" and device != "cuda":
            cell.skipped = "needs a CUDA device; run `bugzoo verify --device cuda` on a machine that has one"
            return None
        return _Case(cell, fault, _scenarios(cell, device, seeds) if looked else [], keys, looked)
    except UserError as error:
        cell.problems.append(str(error))
        return None


def _scenarios(cell: Cell, device: str, seeds: Sequence[int]) -> list[Scenario]:
    scenarios = [Scenario(cell.program, (cell.fault,), seed=seed, device=device) for seed in seeds]
    cell.applied = all(s.source != s.base for s in scenarios)
    cell.undone = all(s.injection.undo(s.source) == s.base for s in scenarios)
    if not cell.applied:
        cell.problems.append("the edits changed nothing: broken and healthy text are the same")
    if not cell.undone:
        cell.problems.append("taking the edits back does not restore the program")
    return scenarios


def _control(program: str, device: str, seeds: Sequence[int], believe: bool) -> _Control:
    scenarios = [Scenario(program, seed=seed, device=device) for seed in seeds]
    control = _Control(Healthy(program), scenarios, control_key(program))
    entry = ledger.read("programs", program) if believe else {}
    if entry.get("full") == control.key and not entry.get("problems"):
        control.healthy.outcomes, control.healthy.in_ledger = entry["outcomes"], True
    return control


def _restore(cell: Cell, entry: ledger.Entry) -> None:
    cell.applied = cell.undone = True
    cell.outcomes, cell.numbers, cell.fired = entry["outcomes"], entry["numbers"], entry["fired"]
    cell.agreeing, cell.p = entry["agreeing"], entry["p"]


def _write_down(cases: list[_Case], controls: list[_Control]) -> None:
    """Bring the ledger up to date with what was found."""
    by = ledger.environment()
    for fault in {case.fault.id: case.fault for case in cases if ledger.ours(case.fault.id)}.values():
        old = ledger.read("faults", fault.id).get("cells", {})
        new = {case.cell.program: _entry(case) | {"with": by} for case in cases if case.fault.id == fault.id}
        kept = {program: old[program] for program in fits(fault) if program in old}
        merged = kept | {name: ledger.newer(old.get(name, {}), entry) for name, entry in new.items()}
        ledger.write("faults", fault.id, {"cells": dict(sorted(merged.items()))})
    for control in controls:
        if not control.healthy.in_ledger:
            entry = _healthy_entry(control) | {"with": by}
            ledger.write(
                "programs",
                control.healthy.program,
                ledger.newer(ledger.read("programs", control.healthy.program), entry),
            )
    ledger.write_matrix()


def _entry(case: _Case) -> ledger.Entry:
    cell = case.cell
    named = {"numbers": cell.numbers, "agreeing": cell.agreeing, "p": cell.p, "fired": cell.fired}
    return {**case.keys, "problems": cell.problems, "outcomes": cell.outcomes, **named}


def _healthy_entry(control: _Control) -> ledger.Entry:
    healthy = control.healthy
    numbers = (
        {name: [one.get(name) for one in healthy.metrics] for name in healthy.metrics[0]} if healthy.metrics else {}
    )
    said = {"problems": healthy.problems, "outcomes": healthy.outcomes, "metrics": numbers}
    return {"full": control.key, **said, "fired": sorted(healthy.fired)}


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
