"""What a class may be asked: every proved case with its difficulty, in a table that travels with the package.

`proofs/pool/cases.json` is made from the ledger: single faults by `bugzoo verify`, several by `bugzoo pairs --prove`, which both
write it anew. An installed bugzoo has no ledger and reads the table.
"""

import json
from collections.abc import Iterator
from statistics import fmean

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.files import write_atomic
from bugzoo.instructor import combinations
from bugzoo.instructor.model import ungradable
from bugzoo.proving import difficulty, ledger
from bugzoo.proving.pool import FILE, Case, published
from bugzoo.scenario import fits, parse_spec

__all__ = ["FILE", "Case", "proved", "publish", "published", "to_text"]


def publish() -> None:
    """Write the table, where there is a ledger."""
    if home := ledger.home():
        write_atomic(home / "pool" / "cases.json", to_text(proved()), parents=True)


def to_text(cases: list[Case]) -> str:
    """A line each, so that a diff shows what came and went."""
    rows = (json.dumps([one.program, one.faults, one.difficulty]) for one in cases)
    return "[\n" + ",\n".join(rows) + "\n]\n"


def proved() -> list[Case]:
    """Every case that the ledger has and a class can be graded on, the easiest first."""
    hard = {one.fault: one.score for one in difficulty.difficulties()}
    usable = {name for name, fault in catalogue.catalogue().items() if name in hard and not ungradable(fault)}
    found = [*_single(usable), *_several(usable)]
    cases = [
        Case(program, specs, round(fmean(hard[parse_spec(spec)[0]] for spec in specs), 3))
        for program, specs in found
        if _alike(program)
    ]
    return sorted(cases, key=lambda one: (one.difficulty, one.program, one.faults))


def _single(usable: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for fault_id in sorted(usable):
        cells = ledger.read("faults", fault_id).get("cells", {})
        for name in fits(catalogue.load(fault_id)):
            if name in cells and not cells[name]["problems"]:
                yield name, (fault_id,)


def _several(usable: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for one in combinations.listed():
        if one.known and not one.problems and set(one.ids) <= usable:
            yield one.program, one.faults


def _alike(program: str) -> bool:
    """Whether it runs in one process, as a class's notebooks have the same cells, and the grader has data of its own."""
    facts = programs.load(program).facts
    return facts.get("ranks", 1) == 1 and {"held_out", "training", "validation"} <= set(facts)
