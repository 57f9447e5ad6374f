"""What a GPU shows: `python -m tests.benchmarks.cuda --minutes 4 --save` proves faults on it, most telling first.

First the faults that need CUDA, then every healthy program with all instruments, then the other faults, each on its
plainest program, in an order that visits all programs early. Five matched seeds each, as `bugzoo verify` does. The
ledger is not touched. The file is written after every block, so that a machine lent for minutes is never used in vain;
`--after FILE` leaves out what FILE holds.
"""

import json
import time
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from bugzoo import faults, programs
from bugzoo.faults.model import Fault
from bugzoo.proving.cells import SEEDS, named
from bugzoo.proving.matrix import Cell
from bugzoo.proving.measured import Result, measured
from bugzoo.proving.parts import CellCase, Control, case_of, control_of
from bugzoo.scenario import fits, plainest
from tests.benchmarks import report

BLOCK = 16
"""Cells measured together: enough that 16 cores do not wait for the slowest."""


def in_turns(some: list[tuple[Fault, str]]) -> list[tuple[Fault, str]]:
    """One fault of each program, then the second of each, and so on."""
    by: dict[str, list[tuple[Fault, str]]] = {}
    for fault, program in some:
        by.setdefault(program, []).append((fault, program))
    return [pair for turn in zip_longest(*by.values()) for pair in turn if pair]


def blocks(device: str) -> list[list[tuple[Fault | None, str]]]:
    """(fault or None for the healthy program, program), in the order in which the blocks are measured."""
    every = list(faults.catalogue().values())
    cuda = (
        [(fault, program) for fault in every if fault.needs.cuda for program in fits(fault)] if device != "cpu" else []
    )
    rest = in_turns([(fault, plainest(fault)) for fault in every if not fault.needs.cuda])
    healthy = [(None, program) for program in programs.names()]
    return [cuda, healthy, *(rest[at : at + BLOCK] for at in range(0, len(rest), BLOCK))]


def part_of(fault: Fault | None, program: str, device: str) -> CellCase | Control | None:
    if fault is None:
        return control_of(program, device, SEEDS, False)
    return case_of(Cell(fault.id, program, effect=fault.effect), device, SEEDS, False, True)


def name_of(fault: Fault | None, program: str) -> str:
    return f"{fault.id} on {program}" if fault else f"healthy {program}"


def entry_of(part: CellCase | Control, results: list[Result]) -> dict[str, Any]:
    """What is kept of a part: verdict, what its instruments read on the first seed, and what they could not measure."""
    if isinstance(part, CellCase):
        entry = {"problems": part.cell.problems, "outcomes": part.cell.outcomes, "fired": part.cell.fired}
        first = {"broken": results[0], "healthy": results[1]}
        names = named(part.fault) if not part.fault.trap else frozenset()
        entry |= {"numbers": part.cell.numbers}
        entry |= {
            "read": {which: {n: result["numbers"].get(n) for n in sorted(names)} for which, result in first.items()}
        }
    else:
        entry = {"problems": part.healthy.problems, "outcomes": part.healthy.outcomes, "fired": part.healthy.fired}
    lost = {
        (name, str(why))
        for result in results
        for name, reading in result["numbers"].items()
        if (why := not_measured(reading))
    }
    errors = sorted({str(result["error"]["message"]) for result in results if result["error"]["message"]})
    entry |= {"errors": errors, "not_measured": sorted(map(list, lost))}
    return entry | {"seconds": [round(result["seconds"], 1) for result in results]}


def not_measured(found: dict[str, Any]) -> str:
    """An instrument's own error: unlike "not applicable", it should not happen on any device."""
    why = str(found.get("not_applicable", ""))
    return why if why.startswith("could not measure") else ""


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--after", type=Path, help="leave out what this file holds, and add to it")
    options = parser.parse_args()
    began = time.monotonic()
    entries: dict[str, Any] = {}
    if options.after:
        entries = json.loads(options.after.read_text(encoding="utf-8"))["results"]["found"]
    for block in blocks(options.device):
        if time.monotonic() - began > options.minutes * 60:
            break
        todo = {name_of(*case): part_of(*case, options.device) for case in block if name_of(*case) not in entries}
        chosen = {name: part for name, part in todo.items() if part}
        jobs = [part.wanted() for part in chosen.values()]
        results, _, ran = measured(list(chain.from_iterable(jobs)))
        for (name, part), some in zip(chosen.items(), jobs, strict=True):
            part_results, results = results[: len(some)], results[len(some) :]
            part.judge(part_results)
            entries[name] = entry_of(part, part_results)
            for text in [*entries[name]["problems"], *map(" ".join, entries[name]["not_measured"])]:
                print(f"{name}: {text}", flush=True)
        print(f"{len(entries)} measured, {ran} runs, {time.monotonic() - began:.0f} s", flush=True)
        if options.save and chosen:
            report.save("verify", {"minutes": (time.monotonic() - began) / 60, "found": entries}, options.device)
    good = sum(not case["problems"] for case in entries.values())
    print(f"{good} of {len(entries)} hold on {options.device}")


if __name__ == "__main__":
    main()
