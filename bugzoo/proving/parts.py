"""The parts of `verify`: cells, healthy programs, look-alikes. Each lists its runs, judges them, and builds its entry."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bugzoo import faults as catalogue
from bugzoo.errors import UserError
from bugzoo.faults.model import Fault
from bugzoo.proving import code, ledger, look_alikes, tried
from bugzoo.proving.cells import (
    control_about,
    control_key,
    device_of,
    judge_control,
    judge_full,
    judge_seeds,
    judge_written,
    keys_of,
    named,
    out_of_band,
)
from bugzoo.proving.look_alikes import Pair
from bugzoo.proving.matrix import Apart, Cell, Healthy
from bugzoo.proving.tried import Tried
from bugzoo.scenario import Scenario, plainest

Result = dict[str, Any]
Wanted = tuple[Any, frozenset[str]]
"""(job, the instruments to measure on it)"""


@dataclass
class CellCase:
    """One cell in progress: its scenarios by seed, the seeds to run, and the place of its results."""

    cell: Cell
    fault: Fault
    scenarios: list[Scenario]
    keys: dict[str, str] = field(default_factory=dict)
    looked: Sequence[int] = ()
    """Indices of seeds: all, or the first if only an instrument outside the evidence has changed."""
    tried: Tried | None = None
    """Its repairs and pretences, if they are graded."""
    graded_before: dict[str, Any] = field(default_factory=dict)
    """Their ledger entry, if they are not graded this time."""
    gradable: bool = False
    entry_before: ledger.Entry = field(default_factory=dict)

    def why(self) -> str:
        """Return what has to be done and why, in a line; empty if nothing has to be done."""
        what = f"{self.fault.id} on {self.cell.program}"
        if self.looked:
            return f"{what}: {_changed(self.entry_before, self.keys)}"
        return f"{what}: its repairs and pretences are to be graded" if self.tried and self.tried.missing() else ""

    def wanted(self) -> list[Wanted]:
        measurements: list[Wanted] = []
        for place in self.looked:
            broken = self.scenarios[place]
            names = named(self.fault) | (code.everything() if place == 0 else set())
            # matched: the twin runs under the same limits, and faults with the same text share it
            jobs = (broken.job(), broken.healthy().job(limits=broken.job().limits))
            measurements += [(job, frozenset(names)) for job in jobs]
        return measurements

    def judge(self, results: list[Result]) -> None:
        broken, healthy = results[::2], results[1::2]
        if self.looked and len(self.looked) == len(self.scenarios):
            judge_seeds(self.cell, self.fault, broken, healthy)
            if self.fault.settings:  # without settings, the twin is the control, which has the same check
                self.cell.problems += out_of_band(self.cell.program, healthy)
        if self.looked:
            judge_full(self.cell, broken[0], healthy[0])
        self.cell.in_ledger = not self.looked and (self.tried is None or self.tried.in_ledger)
        if self.gradable and not self.cell.in_ledger:
            self.cell.problems += tried.too_few(Scenario(self.cell.program, (self.fault.id,)))
        if self.tried:
            self.cell.problems += self.tried.judge()
            self.cell.graded = self.tried.count

    def entry(self) -> ledger.Entry:
        """Return the ledger entry."""
        cell, entry = self.cell, self.tried.entry if self.tried else self.graded_before
        graded: dict[str, Any] = {"graded": entry} if entry else {}
        if cell.not_graded:
            graded = {"not_graded": cell.not_graded}
        statistics = {"numbers": cell.numbers, "agreeing": cell.agreeing, "p": cell.p, "fired": cell.fired}
        return {**self.keys, "problems": cell.problems, "outcomes": cell.outcomes, **statistics, **graded}


@dataclass
class Control:
    """A healthy program in progress."""

    healthy: Healthy
    scenarios: list[Scenario]
    key: str = ""
    entry_before: ledger.Entry = field(default_factory=dict)

    def why(self) -> str:
        """Return the same as `CellCase.why`."""
        changed = _changed(self.entry_before, {"full": self.key})
        return "" if self.healthy.in_ledger else f"healthy {self.healthy.program}: {changed}"

    def wanted(self) -> list[Wanted]:
        return [] if self.healthy.in_ledger else [(scenario.job(), code.everything()) for scenario in self.scenarios]

    def judge(self, results: list[Result]) -> None:
        if results:
            judge_control(self.healthy, results)

    def entry(self) -> ledger.Entry:
        """Return the ledger entry."""
        healthy, first = self.healthy, (self.healthy.metrics or [{}])[0]
        numbers = {name: [metrics.get(name) for metrics in healthy.metrics] for name in first}
        verdict = {"problems": healthy.problems, "outcomes": healthy.outcomes, "metrics": numbers}
        return {"full": self.key, **verdict, "fired": sorted(healthy.fired)}


@dataclass
class Told:
    """A pair of look-alikes in progress."""

    apart: Apart
    pair: Pair
    key: str = ""
    entry_before: ledger.Entry = field(default_factory=dict)

    def why(self) -> str:
        """Return the same as `CellCase.why`."""
        changed = _changed(self.entry_before, {"key": self.key})
        return "" if self.apart.in_ledger else f"{self.apart.fault} beside {self.apart.other}: {changed}"

    def wanted(self) -> list[Wanted]:
        return [] if self.apart.in_ledger else look_alikes.wanted(self.pair)

    def judge(self, results: list[Result]) -> None:
        if results:
            self.apart.problems = look_alikes.judge(self.pair, results)

    def entry(self) -> ledger.Entry:
        """Return the ledger entry."""
        return {"key": self.key, "program": self.apart.program, "problems": self.apart.problems}


def case_of(
    cell: Cell, device: str, seeds: Sequence[int], written: bool, fresh: bool, backlog: bool = True, grade: bool = True
) -> CellCase | None:
    """Return the cell with its remaining work; None if it cannot run. Repairs are graded if the result is `written`.

    `backlog`: repeat an entry from other code. Without it, the entry counts while its texts are current, and ungraded
    repairs are graded only if the cell is measured, or with `grade`.
    """
    fault = catalogue.load(cell.fault)
    fault_device = device_of(fault)
    believe = written and not fresh and device in (fault_device, "cpu")
    try:
        keys = keys_of(fault, cell.program)
        entry = ledger.read("faults", cell.fault).get("cells", {}).get(cell.program, {}) if written else {}
        looked: Sequence[int] = range(len(seeds))
        if believe and _same(entry.get("evidence"), keys["evidence"], backlog) and not entry.get("problems"):
            _restore(cell, entry)
            looked = (0,) if not _same(entry.get("full"), keys["full"], backlog) and device == fault_device else ()
            if not backlog and not looked:
                keys = {name: entry[name] for name in keys}  # it keeps the hash of the code that measured it
        elif believe and _claims_alone(entry, keys, backlog) and judge_written(cell, fault, entry):
            cell.applied = cell.undone = True
            cell.outcomes, cell.fired, looked = entry["outcomes"], entry["fired"], ()
            keys = {"evidence": keys["evidence"], "full": entry["full"]}
        elif fault_device == "cuda" and device != "cuda":
            cell.skipped = "needs a CUDA device; run `bugzoo verify --device cuda` on a machine with one"
            return None
        scenarios = _scenarios(cell, device, seeds) if looked else []
        case = CellCase(cell, fault, scenarios, keys, looked, entry_before=entry)
        cell.not_graded = tried.impossible(fault, cell.program)
        case.gradable = written and device == "cpu" and not cell.not_graded
        if case.gradable:
            shortest = cell.program == plainest(fault)
            if fresh or (shortest and (backlog or grade or looked or entry.get("graded", {}).get("trials"))):
                case.tried = tried.look(fault, cell.program, entry.get("graded", {}), fresh, backlog)
            else:
                case.graded_before = entry.get("graded", {})
        return case
    except UserError as error:
        cell.problems.append(str(error))
        return None


def believed(fault: Fault, entry: ledger.Entry) -> list[Cell]:
    """Return a fault's cells from the ledger, if they are known to be about the current texts."""
    cells = []
    for program, cell_entry in entry.get("cells", {}).items():
        cell = Cell(fault.id, program, effect=fault.effect, problems=list(cell_entry["problems"]), in_ledger=True)
        _restore(cell, cell_entry)
        cell.graded = sum(map(len, cell_entry.get("graded", {}).get("trials", {}).values()))
        cell.not_graded = cell_entry.get("not_graded", "")
        cells.append(cell)
    return cells


def _claims_alone(entry: ledger.Entry, keys: dict[str, str], backlog: bool) -> bool:
    """Return whether only the claims have changed; the second key covers the text without claims."""
    stands = bool(entry) and not entry["problems"] and _same(entry.get("full"), keys["full"], backlog)
    return stands and not _same(entry.get("evidence"), keys["evidence"], False)


def _changed(entry: ledger.Entry, keys: dict[str, str]) -> str:
    if not entry:
        return "not in the ledger, or not trusted"
    if entry.get("problems"):
        return "was not proved"
    if any(not _same(entry.get(name), key, False) for name, key in keys.items()):
        return "its text or its claims have changed"
    return "the code that measures has changed"


def _same(old: object, new: str, backlog: bool) -> bool:
    return old == new if backlog else code.about(str(old)) == code.about(new)


def _scenarios(cell: Cell, device: str, seeds: Sequence[int]) -> list[Scenario]:
    scenarios = [Scenario(cell.program, (cell.fault,), seed=seed, device=device) for seed in seeds]
    cell.applied = all(s.source != s.base for s in scenarios)
    cell.undone = all(s.injection.undo(s.source) == s.base for s in scenarios)
    if not cell.applied:
        cell.problems.append("the edits changed nothing: broken and healthy text are the same")
    if not cell.undone:
        cell.problems.append("undoing the edits does not restore the program")
    return scenarios


def _restore(cell: Cell, entry: ledger.Entry) -> None:
    cell.applied = cell.undone = True
    cell.outcomes, cell.numbers, cell.fired = entry["outcomes"], entry["numbers"], entry["fired"]
    cell.agreeing, cell.p = entry["agreeing"], entry["p"]


def control_of(program: str, device: str, seeds: Sequence[int], believe: bool, backlog: bool = True) -> Control:
    """Return a healthy program with its remaining work."""
    scenarios = [Scenario(program, seed=seed, device=device) for seed in seeds]
    entry = ledger.read("programs", program) if believe else {}
    old = str(entry.get("full"))
    key = old if not backlog and code.about(old) == control_about(program) else control_key(program)
    control = Control(Healthy(program), scenarios, key, entry)
    if old == control.key and not entry.get("problems"):
        control.healthy.outcomes, control.healthy.in_ledger = entry["outcomes"], True
    return control


def told_of(pair: Pair, believe: bool, backlog: bool = True) -> Told:
    """Return a pair of look-alikes with its remaining work."""
    comparison = Told(Apart(pair.fault.id, pair.look_alike.other, pair.program), pair, look_alikes.key_of(pair))
    entries = ledger.read("faults", pair.fault.id).get("look_alikes", {}) if believe else {}
    entry = entries.get(pair.look_alike.other, {})
    comparison.entry_before = entry
    if not backlog and _same(entry.get("key"), comparison.key, backlog):
        comparison.key = entry["key"]
    # an entry with problems differs from one without
    comparison.apart.in_ledger = entry == ledger.plain(comparison.entry())
    return comparison
