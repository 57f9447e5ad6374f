"""What the ledger lacks for one fault: its cells, their repairs and pretences, its look-alikes."""

from collections.abc import Iterable, Iterator

from bugzoo import faults as catalogue
from bugzoo.faults.model import Fault
from bugzoo.proving import code, ledger, look_alikes, standing, tried
from bugzoo.proving.cells import keys_of
from bugzoo.proving.look_alikes import pairs
from bugzoo.scenario import fits


def of_fault(fault: Fault) -> list[str]:
    """Return what the ledger lacks for one fault: its cells, their repairs and pretences, its look-alikes."""
    return [*_cells(fault), *_look_alikes(fault)]


def _cells(fault: Fault) -> Iterator[str]:
    entries = ledger.read("faults", fault.id).get("cells", {})
    for program in fits(fault) if ledger.ours(fault.id) else ():
        entry, keys = entries.get(program, {}), keys_of(fault, program)
        yield from lacks(f"{fault.id} on {program}", entry, keys, f"bugzoo verify {fault.id}")
        if entry and (sentence := tried.lacks(fault, program, entry)):
            yield f"{fault.id} on {program}: {sentence}; type `bugzoo verify {fault.id}`"
    for program in set(entries) - set(fits(fault)):
        yield f"{fault.id} no longer fits {program}; type `bugzoo verify {fault.id}`"


def _look_alikes(fault: Fault) -> Iterator[str]:
    entries = ledger.read("faults", fault.id).get("look_alikes", {})
    expected = {pair.look_alike.other: pair for pair in pairs(fault)} if ledger.ours(fault.id) else {}
    for other, pair in expected.items():
        key = {"key": look_alikes.key_of(pair)}
        yield from lacks(f"{fault.id} beside {other}", entries.get(other, {}), key, f"bugzoo verify {fault.id}")
    for other in entries.keys() - expected.keys():
        yield f"{fault.id} no longer has the look-alike {other}; type `bugzoo verify {fault.id}`"


def note_standing(faults: Iterable[Fault]) -> None:
    """Write the rows of faults for which the ledger lacks only entries that wait for their proof."""
    waits = ledger.waiting()
    rows = {
        fault.id: standing.row(fault)
        for fault in faults
        if ledger.ours(fault.id)
        and not standing.stands(fault)
        and all(any(is_about(text, name) for name in waits) for text in of_fault(fault))
    }
    standing.write(rows, set(catalogue.catalogue()))


def lacks(what: str, entry: ledger.Entry, keys: dict[str, str], command: str) -> Iterator[str]:
    if not entry:
        yield f"{what} is not in the ledger; type `{command}`"
    elif entry.get("problems"):
        yield f"{what} is not proved: {entry['problems'][0]}"
    elif any(code.about(str(entry.get(name))) != code.about(key) for name, key in keys.items()):
        yield f"{what} has changed since it was proved; type `{command}`"


def is_about(text: str, name: str) -> bool:
    return text.startswith((f"{name} ", f"{name}:"))
