"""The index by symptom: for a reader who knows the symptom but not yet the cause."""

from bugzoo import diagnostics
from bugzoo import faults as catalogue
from bugzoo.faults.model import Fault
from bugzoo.pages.text import SYMPTOMS, fault_page, folded, instrument_page, link, number, symptom_page, table
from bugzoo.pages.tree import Fork, fired, grow, prices

INTRO = (
    "Ask one instrument after the other, the most informative first. The order follows from the proofs: which "
    "instruments fire on which fault. If several faults are left, use the tests below to tell two of them apart."
)


def by_symptom() -> dict[str, list[Fault]]:
    """Return symptom class -> its faults, in the order of SYMPTOMS; classes without a fault are left out."""
    faults = list(catalogue.catalogue().values())
    found = {name: [fault for fault in faults if fault.symptom == name] for name in SYMPTOMS}
    return {name: members for name, members in found.items() if members}


def page(symptom: str, faults: list[Fault]) -> str:
    """Return the page of one symptom: reports, the order of instruments, the tests between look-alikes."""
    here, shares = symptom_page(symptom), fired(faults)
    parts = [
        f"# {SYMPTOMS[symptom]}",
        "## How people report it",
        "\n".join(f"- {fault.report.splitlines()[0]}" for fault in faults),
    ]
    if symptom == "none":
        rows = [[link(fault.title, fault_page(fault.id), here), fault.report.splitlines()[0]] for fault in faults]
        return (
            "\n\n".join([parts[0], "No instrument fires, and none should.", table(["case", "how it looks"], rows)])
            + "\n"
        )
    parts += ["## Which instrument to ask", INTRO, "\n".join(_steps(grow(shares, prices()), here))] if shares else []
    apart = _apart(faults, here)
    parts += (
        [
            "## Tests between look-alikes",
            table(["is it this", "or that", "test", "result for this", "result for that"], apart),
        ]
        if apart
        else []
    )
    return "\n\n".join(parts) + "\n"


def _steps(fork: Fork, here: str, depth: int = 0) -> list[str]:
    """Return a fork as nested lists: the instrument, its question, and what follows if it fires or is quiet."""
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
    """Return the tests between a fault of this symptom and another fault of the catalogue."""
    known = catalogue.catalogue()
    rows = []
    for fault in faults:
        for one in fault.look_alikes:
            if one.other in known:
                other = link(known[one.other].title, fault_page(one.other), here)
                rows.append([link(fault.title, fault_page(fault.id), here), other, one.test, one.here, one.there])
    return rows


def overview(here: str = "symptoms/index.md") -> str:
    """Return the page of the first question: what do you see?"""
    rows = [
        [link(SYMPTOMS[name], symptom_page(name), here), number(len(members)), members[0].report.splitlines()[0]]
        for name, members in by_symptom().items()
    ]
    more = folded(
        "I have my own script",
        "`bugzoo checkup train.py` runs it under every instrument that applies and ranks the suspects.",
        "tip",
    )
    return (
        "\n\n".join(["# What do you see?", table(["what you see", "possible faults", "for example"], rows), more])
        + "\n"
    )
