"""What is asked of `bugzoo verify`, and what the ledger settles of it without building a text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.faults.model import Fault
from bugzoo.proving import ledger, standing
from bugzoo.proving.cells import SEEDS
from bugzoo.proving.look_alikes import Pair, pairs
from bugzoo.proving.matrix import Apart, Cell
from bugzoo.proving.parts import believed
from bugzoo.scenario import fits


@dataclass(frozen=True)
class Request:
    """The arguments of `verify` that decide what is proved. `only`: programs, all if empty. `by_name`: faults are named."""

    faults: list[Fault]
    only: list[str]
    by_name: bool
    device: str
    seeds: Sequence[int]
    fresh: bool
    backlog: bool

    @classmethod
    def of(cls, names: Iterable[str], only_programs: Iterable[str], **options: Any) -> "Request":
        """Return the request for faults (all by default) and programs by name. Raises UserError for unknown names."""
        faults = [catalogue.load(name) for name in names]
        only = [programs.load(name).name for name in only_programs]
        return cls(faults or list(catalogue.catalogue().values()), only, bool(faults), **options)

    @property
    def records(self) -> bool:
        """Return whether repairs are graded and results go to the ledger: with the usual seeds only."""
        return self.seeds == SEEDS

    @property
    def trusts(self) -> bool:
        """Return whether an entry of the ledger counts while its keys are current."""
        return self.records and not self.fresh

    @property
    def on_cpu(self) -> bool:
        """Return whether healthy programs and look-alikes are proved as well."""
        return self.device == "cpu"

    @property
    def by_row(self) -> bool:
        """Return whether a current row of `proofs/texts.json` settles a fault, and first proofs keep waiting."""
        return self.trusts and not self.backlog and self.on_cpu and not self.by_name

    @cached_property
    def settled(self) -> list[Fault]:
        """Return the faults whose entries are about the current texts."""
        return [fault for fault in self.faults if self.by_row and standing.stands(fault)]

    @property
    def unsettled(self) -> list[Fault]:
        ids = {fault.id for fault in self.settled}
        return [fault for fault in self.faults if fault.id not in ids]

    @cached_property
    def waits(self) -> set[str]:
        """Return what keeps waiting for its first proof."""
        return ledger.waiting() if self.by_row else set()

    def covers(self, program: str) -> bool:
        return not self.only or program in self.only

    def cells_of_ledger(self) -> list[Cell]:
        """Return the cells of the settled faults."""
        cells = [cell for fault in self.settled for cell in believed(fault, ledger.read("faults", fault.id))]
        return [cell for cell in cells if self.covers(cell.program)]

    def cells_to_prove(self) -> list[Cell]:
        """Return the cells of the other faults, without those that wait."""
        cells = [Cell(fault.id, name, effect=fault.effect) for fault in self.unsettled for name in fits(fault)]
        return [
            cell for cell in cells if self.covers(cell.program) and f"{cell.fault} on {cell.program}" not in self.waits
        ]

    def pairs_of_ledger(self) -> Iterator[Apart]:
        """Yield the look-alikes of the settled faults."""
        for fault in self.settled:
            for other, entry in ledger.read("faults", fault.id).get("look_alikes", {}).items():
                if self.covers(entry["program"]):
                    yield Apart(fault.id, other, entry["program"], entry["problems"], in_ledger=True)

    def pairs_to_prove(self) -> Iterator[Pair]:
        """Yield the look-alikes of the other faults, without those that wait."""
        for fault in self.unsettled if self.records and self.on_cpu else ():
            for pair in pairs(fault):
                if self.covers(pair.program) and f"{fault.id} beside {pair.look_alike.other}" not in self.waits:
                    yield pair

    def healthy_programs(self, cells: Iterable[Cell]) -> list[str]:
        """Return the programs to prove healthy: those of the cells, and without named faults those that no fault fits."""
        alone = () if self.by_name else self.only or programs.names()
        return list(dict.fromkeys([*(cell.program for cell in cells), *alone]))
