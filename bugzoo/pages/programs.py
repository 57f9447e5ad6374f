"""The page of one program: what it does, its source, and which faults fit it."""

import ast

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.pages.text import code, fault_page, folded, link, number, program_page, span, table
from bugzoo.proving import ledger
from bugzoo.scenario import fits
from bugzoo.syntax import parse


def page(name: str) -> str:
    """Markdown."""
    here, program, entry = program_page(name), programs.load(name), ledger.read("programs", name)
    doc = (ast.get_docstring(parse(program.source)) or "").partition("[facts]")[0].strip()
    facts = [[key, str(value)] for key, value in program.facts.items()]
    measured = [[key, span(values)] for key, values in entry.get("metrics", {}).items()]
    rows = [
        [link(fault.title, fault_page(fault.id), here), str(fault.level), fault.symptom]
        for fault in catalogue.catalogue().values()
        if name in fits(fault)
    ]
    parts = [
        f"# {name}",
        doc,
        "## Facts",
        table(["fact", "value"], facts),
        *(
            ["Its metrics over five seeds, in the tiny setting:", table(["metric", "measured"], measured)]
            if measured
            else []
        ),
        folded("The whole program", code(program.source), "example"),
        "## Faults that fit it",
        table(["fault", "level", "symptom"], rows),
        "## Run it",
        code(f"bugzoo run {name}\nbugzoo source {name} > {name}.py && python {name}.py", "sh"),
    ]
    return "\n\n".join(parts) + "\n"


def overview(here: str = "programs/index.md") -> str:
    """Return the page of all programs."""
    rows = []
    for name in programs.names():
        program = programs.load(name)
        count = sum(name in fits(fault) for fault in catalogue.catalogue().values())
        rows.append([link(name, program_page(name), here), program.title, str(program.facts["task"]), number(count)])
    return "\n\n".join(["# All programs", table(["program", "what it does", "task", "faults that fit"], rows)]) + "\n"
