"""The page of one fault: symptom, evidence, look-alikes, explanation and repair."""

from typing import Any

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.diagnostics import names as instruments
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.grading.repairs import pretences, repairs
from bugzoo.injection import diff
from bugzoo.pages import terms
from bugzoo.pages.text import (
    SYMPTOMS,
    code,
    fault_page,
    folded,
    instrument_page,
    link,
    number,
    program_page,
    span,
    symptom_page,
    table,
)
from bugzoo.proving import ledger
from bugzoo.scenario import Scenario, fits, plainest


def page(fault: Fault, picture: str = "") -> str:
    """Return the page as Markdown. `picture`: file name of the drawn run beside the page; empty without one."""
    here, cells = fault_page(fault.id), ledger.read("faults", fault.id).get("cells", {})
    scenario = Scenario(plainest(fault), (fault.id,))
    symptom = link(SYMPTOMS[fault.symptom].lower(), symptom_page(fault.symptom), here)
    parts = [
        f"# {fault.title}",
        f"`{fault.id}` · level {fault.level} of 5 · {symptom} · fits {len(fits(fault))} programs",
        "## What you see",
        fault.report,
        *_drawn(fault, scenario, picture),
        "## How to confirm it",
        _sure(fault, cells, here),
        folded("Three hints, one after the other", _numbered(fault.hints), "question"),
        *_mistaken(fault, here),
        "## Why it happens and how to fix it",
        folded("Why this happens", fault.why, "info"),
        folded("The fix", f"{fault.fix}\n\n{code(_short(scenario.source, scenario.base), 'diff')}", "success"),
        *_others(fault, scenario),
        *_parameters(fault),
        "## Where it is proved",
        _proved(fault, cells, here),
        *_seen_at(fault),
        terms.of_fault(fault.id, here),
        "## Try it",
        code(_commands(fault, scenario.program), "sh"),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _drawn(fault: Fault, scenario: Scenario, picture: str) -> list[str]:
    if not picture:
        return []
    with_it = ", ".join(f"{name}={value:g}" for name, value in scenario.specs[0][1].items())
    what = f"`{scenario.program}` with this fault{f' ({with_it})' if with_it else ''}"
    said = f"{what}, over its healthy twin: same seed, same data."
    return [f"![Loss and gradient norm over the steps, broken and healthy]({picture})", said]


def _sure(fault: Fault, cells: dict[str, Any], here: str) -> str:
    if fault.trap:
        return "Nothing is wrong here: no instrument fires on any seed."
    rows = []
    for text in fault.evidence:
        claim = parse(text)
        name = claim.left.split(".")[0]
        shown = link(f"`{text}`", instrument_page(name), here) if name in instruments() else f"`{text}`"
        sides = [
            [value for cell in cells.values() for value in cell.get("numbers", {}).get(claim.left, {}).get(which, [])]
            for which in ("broken", "healthy")
        ]
        if claim.left == "outcome":
            sides = [[value for cell in cells.values() for value in cell.get("outcomes", [])], ["finished"]]
        rows.append([shown, span(sides[0]), span(sides[1])])
    return table(["measured", "broken", "healthy"], rows) + (
        "\n\nLowest to highest number over all programs and seeds on which it was proved."
    )


def _numbered(lines: tuple[str, ...]) -> str:
    return "\n".join(f"{place}. {line}" for place, line in enumerate(lines, 1))


def _mistaken(fault: Fault, here: str) -> list[str]:
    if not fault.look_alikes:
        return []
    rows = [[_named(one.other, here), one.test, one.here, one.there] for one in fault.look_alikes]
    return ["## Look-alikes", table(["looks like", "test", "result here", "result there"], rows)]


def _named(other: str, here: str) -> str:
    found = catalogue.catalogue().get(other)
    return link(found.title, fault_page(other), here) if found else f"`{other}`"


def _others(fault: Fault, scenario: Scenario) -> list[str]:
    """Return other repairs and pretences, for the program of the picture."""
    [(_, params)] = scenario.specs
    right = repairs(scenario.source, fault, params)
    wrong = pretences(scenario.source, fault, params)
    found = []
    for title, kind, texts in (
        ("Other repairs that the grader passes", "success", right),
        ("Fake repairs that the grader fails", "failure", wrong),
    ):
        shown = [f"**{name}**\n\n{code(_short(scenario.source, text), 'diff')}" for name, text in texts.items()]
        found += [folded(title, "\n\n".join(shown), kind)] if shown else []
    return found


def _short(before: str, after: str) -> str:
    """Return the changed lines only, with just enough context to place them."""
    return "\n".join(line for line in diff(before, after).splitlines() if not line.startswith(("---", "+++")))


def _parameters(fault: Fault) -> list[str]:
    rows = [[f"`{n}`", f"{p.default:g}", f"{p.low:g} to {p.high:g}", p.doc] for n, p in fault.params.items()]
    return ["## Parameters", table(["parameter", "default", "range", "what it does"], rows)] if rows else []


def _proved(fault: Fault, cells: dict[str, Any], here: str) -> str:
    rows = []
    for name in programs.names():
        if name in cells:
            cell = cells[name]
            sides = cell.get("numbers", {}).get(parse(fault.effect).left if " " in fault.effect else "", {})
            sizes = (
                f"{span(sides['broken'])} against {span(sides['healthy'])}"
                if sides
                else ", ".join(sorted(set(cell["outcomes"])))
            )
            said = "; ".join(cell["problems"]) or ("quiet" if fault.trap else sizes)
            rows.append([link(name, program_page(name), here), said, ", ".join(cell["fired"]) or "none"])
        elif name in fault.not_on:
            rows.append([link(name, program_page(name), here), f"does not show: {fault.not_on[name]}", ""])
    seen = f"`{fault.effect}`, on five seeds" if not fault.trap else "all instruments, on five seeds"
    return table(["program", seen, "instruments that fire"], rows)


def _seen_at(fault: Fault) -> list[str]:
    return ["## Seen at", "\n".join(f"- <{source}>" for source in fault.sources)] if fault.sources else []


def _commands(fault: Fault, program: str) -> str:
    return "\n".join(
        [
            f"bugzoo run {program} --fault {fault.id}       # broken beside healthy, and what the instruments say",
            f"bugzoo source {program} --fault {fault.id}    # the source code that runs",
            f"bugzoo break train.py --fault {fault.id} --diff   # the same fault in your own script",
        ]
    )


def overview(here: str = "faults/index.md") -> str:
    """Return the page of all faults, by family."""
    parts = [
        "# All faults",
        "Each fault is a small edit of a normal training program, proved by real runs on five seeds.",
    ]
    families: dict[str, list[Fault]] = {}
    for fault in catalogue.catalogue().values():
        families.setdefault(fault.family, []).append(fault)
    for family, members in families.items():
        rows = [
            [link(one.title, fault_page(one.id), here), str(one.level), SYMPTOMS[one.symptom], number(len(fits(one)))]
            for one in members
        ]
        parts += [f"## {family}", table(["fault", "level", "what you see", "programs"], rows)]
    return "\n\n".join(parts) + "\n"
