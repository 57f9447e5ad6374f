"""The index by symptom: somebody knows what he sees and not yet what it is."""

from bugzoo import diagnostics
from bugzoo import faults as catalogue
from bugzoo.faults.model import Fault
from bugzoo.pages.text import SYMPTOMS, fault_page, folded, instrument_page, link, number, symptom_page, table
from bugzoo.pages.tree import Fork, fired, grow, prices

INTRO = (
    "Ask one instrument after the other, the one that tells most first. The order was worked out from the proofs: from "
    "which instruments fire on which fault. Where several are left, the test that tells two of them apart stands below."
)


def by_symptom() -> dict[str, list[Fault]]:
    """Symptom class -> its faults, in the order of SYMPTOMS; those of which there is one."""
    faults = list(catalogue.catalogue().values())
    found = {name: [fault for fault in faults if fault.symptom == name] for name in SYMPTOMS}
    return {name: members for name, members in found.items() if members}


def page(symptom: str, faults: list[Fault]) -> str:
    """One symptom: what people report, the way through the instruments, the tests between look-alikes."""
    here, shares = symptom_page(symptom), fired(faults)
    parts = [
        f"# {SYMPTOMS[symptom]}",
        "## As it is reported",
        "\n".join(f"- {fault.report.splitlines()[0]}" for fault in faults),
    ]
    if symptom == "none":
        rows = [[link(fault.title, fault_page(fault.id), here), fault.report.splitlines()[0]] for fault in faults]
        return (
            "\n\n".join(
                [parts[0], "No instrument fires, and none should.", table(["what it is", "how it looks"], rows)]
            )
            + "\n"
        )
    parts += ["## The way", INTRO, "\n".join(_steps(grow(shares, prices()), here))] if shares else []
    apart = _apart(faults, here)
    parts += (
        ["## Told apart", table(["is it this", "or that", "do this", "this shows", "that shows"], apart)]
        if apart
        else []
    )
    return "\n\n".join(parts) + "\n"


def _steps(fork: Fork, here: str, depth: int = 0) -> list[str]:
    """A fork as nested lists: the instrument and its question, what it is when it fires, where to go on when it does not."""
    space = "    " * depth
    if not fork.instrument:
        known = catalogue.catalogue()
        return [
            f"{space}- it can be: " + ", ".join(link(known[one].title, fault_page(one), here) for one in fork.faults)
        ]
    question = (diagnostics.declared(fork.instrument)["__doc__"] or "").strip().split("\n")[0]
    lines = [f"{space}- ask {link(f'`{fork.instrument}`', instrument_page(fork.instrument), here)}: {question}"]
    for said, side in (("it fires", fork.fires), ("it is quiet", fork.silent)):
        if side and side.faults:
            lines += [f"{space}    - **{said}**", *_steps(side, here, depth + 2)]
    return lines


def _apart(faults: list[Fault], here: str) -> list[list[str]]:
    """The tests between a fault of this symptom and another one of the catalogue."""
    known = catalogue.catalogue()
    rows = []
    for fault in faults:
        for one in fault.look_alikes:
            if one.other in known:
                other = link(known[one.other].title, fault_page(one.other), here)
                rows.append([link(fault.title, fault_page(fault.id), here), other, one.test, one.here, one.there])
    return rows


def overview(here: str = "symptoms/index.md") -> str:
    """The first fork: what do you see?"""
    rows = [
        [link(SYMPTOMS[name], symptom_page(name), here), number(len(members)), members[0].report.splitlines()[0]]
        for name, members in by_symptom().items()
    ]
    more = folded(
        "I have a script of my own",
        "`bugzoo checkup train.py` runs it under every instrument that applies and ranks the suspects.",
        "tip",
    )
    return "\n\n".join(["# What do you see?", table(["what you see", "can be", "for example"], rows), more]) + "\n"
