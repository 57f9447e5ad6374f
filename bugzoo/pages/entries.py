"""The values of the pages of the site: of each program, instrument, symptom and fault."""

import ast
import textwrap
from typing import Any

from bugzoo import diagnostics, programs
from bugzoo import faults as catalogue
from bugzoo.diagnostics.numbers import of_instrument
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.glossary import TERMS
from bugzoo.grading.repairs import pretences, repairs
from bugzoo.injection import diff
from bugzoo.pages.text import SYMPTOMS
from bugzoo.pages.tree import fired, grow, prices
from bugzoo.proving import ledger
from bugzoo.scenario import Scenario, fits, plainest
from bugzoo.syntax import parse as parse_source
from bugzoo.views import views_of


def program(name: str) -> dict[str, Any]:
    """Return the values of a program's page."""
    loaded = programs.load(name)
    return {
        "name": name,
        "program": loaded,
        "doc": (ast.get_docstring(parse_source(loaded.source)) or "").partition("[facts]")[0].strip(),
        "metrics": ledger.read("programs", name).get("metrics", {}),
        "faults": [fault for fault in catalogue.catalogue().values() if name in fits(fault)],
    }


def instrument(name: str) -> dict[str, Any]:
    """Return the values of an instrument's page. `faults`: fault, programs on which it fires, programs in all."""
    declared, numbers = diagnostics.declared(name), of_instrument(name)
    fires = []
    for entry in catalogue.catalogue().values():
        cells = ledger.read("faults", entry.id).get("cells", {}).values()
        fires.append((entry, sum(name in cell["fired"] for cell in cells), len(cells)))
    return {
        "name": name,
        "doc": textwrap.dedent((declared["__doc__"] or "").strip().partition("\n")[2]).strip(),
        "reruns": declared.get("RERUNS", 0),
        "cost": declared.get("COST", 0),
        "numbers": {key: number for key, number in numbers.items() if number.label},
        "problems": declared["KNOWN_PROBLEMS"],
        "healthy": ledger.healthy_scripts().get(name),
        "views": views_of([name, *(number.source for number in numbers.values())]),
        "faults": [row for row in fires if row[1]],
        "terms": [term for term in TERMS if name in term.instruments],
    }


def of_term(name: str) -> list[Fault]:
    """Return the faults of one term: first those that name it further to the front, then by id."""
    faults = [fault for fault in catalogue.catalogue().values() if name in fault.terms]
    return sorted(faults, key=lambda fault: fault.terms.index(name))


def by_symptom() -> dict[str, list[Fault]]:
    """Return symptom class -> its faults, in the order of SYMPTOMS; classes without a fault are left out."""
    faults = catalogue.catalogue().values()
    groups = {name: [fault for fault in faults if fault.symptom == name] for name in SYMPTOMS}
    return {name: members for name, members in groups.items() if members}


def symptom(name: str, faults: list[Fault]) -> dict[str, Any]:
    """Return the values of a symptom's page. `pairs`: a fault, and a look-alike of the catalogue."""
    pairs = [(fault, other) for fault in faults for other in fault.look_alikes if other.other in catalogue.catalogue()]
    return {"symptom": name, "faults": faults, "tree": grow(fired(faults), prices()), "pairs": pairs}


def fault(fault: Fault, picture: str) -> dict[str, Any]:
    """Return the values of a fault's page. `picture`: file name of the curves beside the page; empty without them."""
    cells = ledger.read("faults", fault.id).get("cells", {})
    scenario = Scenario(plainest(fault), (fault.id,))
    [(_, params)] = scenario.specs
    source = scenario.source
    return {
        "fault": fault,
        "picture": picture,
        "programs": len(fits(fault)),
        "program": scenario.program,
        "params": ", ".join(f"{name}={value:g}" for name, value in params.items()),
        "claims": [_claim(text, cells) for text in fault.evidence],
        "fix": _changes(source, scenario.base),
        "repairs": {name: _changes(source, text) for name, text in repairs(source, fault, params).items()},
        "pretences": {name: _changes(source, text) for name, text in pretences(source, fault, params).items()},
        "effect": parse(fault.effect).left if " " in fault.effect else "",
        "proofs": {name: cell for name in programs.names() if (cell := cells.get(name) or fault.not_on.get(name))},
        "terms": [term for term in TERMS if term.name in fault.terms],
    }


def _claim(text: str, cells: dict[str, Any]) -> tuple[str, str, list[Any], list[Any]]:
    """Return (claim, its instrument or "", broken values, healthy values) from all programs and seeds."""
    left = parse(text).left
    name = left.split(".")[0]
    broken, healthy = (
        [value for cell in cells.values() for value in cell.get("numbers", {}).get(left, {}).get(side, [])]
        for side in ("broken", "healthy")
    )
    if left == "outcome":
        broken, healthy = [value for cell in cells.values() for value in cell.get("outcomes", [])], ["finished"]
    return text, name if name in diagnostics.names() else "", broken, healthy


def _changes(before: str, after: str) -> str:
    """Return the changed lines only, with just enough context to place them."""
    lines = [line for line in diff(before, after).splitlines() if not line.startswith(("---", "+++"))]
    return "\n".join(line if line.strip() else "" for line in lines)
